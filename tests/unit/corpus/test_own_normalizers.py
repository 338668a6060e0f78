"""A user's normaliser has a name, a version and a digest, and errors of its own."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_speval.corpus.own_normalizers import own_normalizer, register
from pytest_speval.corpus.text import recorded_rules, text_record, text_rules
from pytest_speval.errors import UsageFault
from pytest_speval.suite.text_keys import Text


def shout(said: str) -> str:
    return said.upper().replace("’", "'")


class Fillers:
    """Leaves out what it was told to leave out."""

    version = "2"

    def __init__(self, *fillers: str) -> None:
        self.fillers = fillers

    def __call__(self, said: str) -> str:
        return " ".join(word for word in said.split() if word not in self.fillers)


@pytest.fixture(autouse=True)
def afterwards() -> Iterator[None]:
    yield
    register(())


def words(name: str, said: str) -> list[str]:
    return text_rules(Text(normalizer=name)).words(said)


def test_what_is_offered_can_be_named() -> None:
    register([{"shout": shout}, {"fillers": Fillers("uh", "um")}])
    assert words("shout", "don’t stop") == ["DON'T", "STOP"]
    assert words("fillers", "uh don’t um stop") == ["don’t", "stop"]
    assert words("none", "uh") == ["uh"]


def test_a_session_has_only_what_was_offered_to_it() -> None:
    register([{"shout": shout}])
    register([{"fillers": Fillers()}])
    known = "expected `none`, `basic`, `english`, `fillers`, got the text `shout`"
    with pytest.raises(ValidationError, match=known):
        Text(normalizer="shout")
    with pytest.raises(ValidationError, match=r"got the text `filler`, did you mean `fillers`\?"):
        Text(normalizer="filler")


def test_version_and_digest_of_the_source_stand_in_the_plan() -> None:
    register([{"shout": shout, "fillers": Fillers("uh")}])
    source = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    told, numbered = (text_record(Text(normalizer=name)) for name in ("shout", "fillers"))
    assert told["version"] == source[:8]
    assert numbered["version"] == "2"
    assert len({told["sha256"], numbered["sha256"], source}) == 3
    assert recorded_rules(told) == text_rules(Text(normalizer="shout"))


def test_another_version_or_another_source_is_another_normalizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for name, source in (("one", "def rewrite(said): return said"), ("two", "def rewrite(said): return said + ''")):
        (tmp_path / f"rules_{name}.py").write_text(source)
        module = __import__(f"rules_{name}")
        digests.append(own_normalizer("mine", module.rewrite).sha256)
        module.rewrite.version = "1"
        digests.append(own_normalizer("mine", module.rewrite).sha256)
    assert len(set(digests)) == 4


def test_a_plan_names_the_normalizer_that_is_gone_or_another() -> None:
    register([{"shout": shout}])
    record = text_record(Text(normalizer="shout"))
    with pytest.raises(ValueError, match=r"the plan counts words by shout 1, and here is .* with other rules"):
        recorded_rules(record | {"version": "1", "sha256": "0" * 64})
    register(())
    with pytest.raises(ValueError, match=r"by the normalizer shout \w{8}, which nothing here offers: offer it through"):
        recorded_rules(record)


class Numbered(Fillers):
    version = 2  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("offered", "code", "said"),
    [
        ([{"mine": shout}, {"mine": Fillers()}], "normalizer-repeated", "`mine` is offered twice"),
        ([{"basic": shout}], "normalizer-repeated", "`basic` is offered twice"),
        ([["mine"]], "normalizer-unusable", "returned list; it must return {name: callable}"),
        ([{"mine": "upper"}], "normalizer-unusable", "is 'upper', which cannot be called"),
        ([{"": shout}], "normalizer-unusable", "the name of a normalizer is ''"),
        ([{3: shout}], "normalizer-unusable", "the name of a normalizer is 3"),
        ([{"mine": str.upper}], "normalizer-unusable", "`mine` has no source file"),
        ([{"mine": str}], "normalizer-unusable", "`mine` has no source file"),
        ([{"mine": functools.partial(shout)}], "normalizer-unusable", "`mine` has no source file"),
        ([{"mine": Numbered()}], "normalizer-unusable", "the version of the normalizer `mine` is 2, not a text"),
    ],
)
def test_what_cannot_be_used_is_refused(offered: list[Any], code: str, said: str) -> None:
    with pytest.raises(UsageFault) as caught:
        register(offered)
    assert caught.value.code == code
    assert said in caught.value.message


def test_what_goes_wrong_within_is_named() -> None:
    def nothing(said: str) -> None:
        """Forgets to return."""

    def wrong(said: str) -> str:
        raise KeyError(said)

    register([{"nothing": nothing, "wrong": wrong}])
    with pytest.raises(UsageFault, match="`nothing` returned NoneType for `a b`; a text is wanted"):
        words("nothing", "a b")
    with pytest.raises(UsageFault, match="`wrong` raised KeyError for `a b`"):
        words("wrong", "a b")


@pytest.mark.parametrize("leaving", [SystemExit(0), pytest.skip.Exception("x"), GeneratorExit()])
def test_what_would_end_the_session_ends_the_text(leaving: BaseException) -> None:
    def leaves(_: str) -> str:
        raise leaving

    register([{"leaves": leaves}])
    with pytest.raises(UsageFault, match=f"`leaves` raised {type(leaving).__name__} for `a b`") as caught:
        words("leaves", "a b")
    assert caught.value.code == "normalizer-failed"


def test_an_interrupt_is_no_fault_of_a_normalizer() -> None:
    def interrupted(said: str) -> str:
        raise KeyboardInterrupt(said)

    register([{"interrupted": interrupted}])
    with pytest.raises(KeyboardInterrupt):
        words("interrupted", "a b")


def test_half_a_character_is_no_text() -> None:
    def halved(said: str) -> str:
        return f"{said} \ud800"

    register([{"halved": halved}])
    with pytest.raises(UsageFault, match=r"`halved` returned '\\ud800', half a character .* for `a b`") as caught:
        words("halved", "a b")
    assert caught.value.code == "normalizer-failed"
