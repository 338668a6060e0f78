"""No value of a secret is left in what was redacted, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import pprint
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from pytest_speval.errors import FaultyFile
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.override import parse_override
from pytest_speval.suite.secrets import SHORTEST, Secrets, references
from pytest_speval.suite.vocabulary import AdapterWord, Vocabulary

from .words import HERE, VOCABULARY

CANARY = 'sesame/öpen+"it\'s"\\now'
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0B\nab\n-----END KEY-----\n"
ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "plain": str,
    "json": json.dumps,
    "json-utf8": lambda text: json.dumps(text, ensure_ascii=False),
    "repr": repr,
    "ascii": ascii,
    "bytes": lambda text: repr(text.encode()),
    "repr of a dict": lambda text: repr({"it's": [text]}),
    "repr of json": lambda text: repr(json.dumps({"key": text})),
    "json of repr": lambda text: json.dumps(repr(text)),
    "repr of repr": lambda text: repr(repr(text)),
    "json of json": lambda text: json.dumps(json.dumps(text)),
    "url": lambda text: quote(text, safe=""),
    "url-path": quote,
    "url-form": quote_plus,
    "url-small": lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text)),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64-url": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64-bare": lambda text: base64.b64encode(text.encode()).decode().rstrip("="),
}

texts = st.text(st.characters(codec="utf-8"))
values = st.text(st.characters(codec="utf-8"), min_size=SHORTEST).filter(lambda text: len(text.strip()) >= SHORTEST)
names = st.from_regex(r"\A[A-Z][A-Z0-9_]{0,8}\Z")


@pytest.mark.parametrize("encode", ENCODINGS.values(), ids=ENCODINGS.keys())
@pytest.mark.parametrize("value", [CANARY, "sk-0123456789abcdef", "two words", PEM, "a" * 300])
def test_every_encoding_gives_way_to_the_reference(encode: Callable[[str], str], value: str) -> None:
    said = f"before {encode(value)} after"
    redacted = Secrets.hiding({"KEY": value}).redact(said)
    assert "${KEY}" in redacted
    assert encode(value).strip("'\"") not in redacted
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")


@given(names, values, st.sampled_from([*ENCODINGS]), texts, texts)
def test_no_text_around_it_saves_a_secret(name: str, value: str, encoding: str, before: str, after: str) -> None:
    encoded = ENCODINGS[encoding](value)
    secrets = Secrets.hiding({name: value})
    redacted = secrets.redact(before + encoded + after)
    assert value not in redacted
    assert encoded not in redacted
    assert secrets.redact(redacted) == redacted


@given(st.dictionaries(names, values, max_size=4), st.lists(st.integers(0, 3)), texts)
def test_no_secret_of_several_is_left_however_they_meet(given: dict[str, str], order: list[int], between: str) -> None:
    secrets = Secrets.hiding(given)
    pool = [*given.values(), *(f"${{{name}}}" for name in given), between]
    redacted = secrets.redact("".join(pool[place % len(pool)] for place in order))
    assert not [value for value in given.values() if value in redacted]
    assert secrets.redact(redacted) == redacted


@pytest.mark.parametrize(
    "values",
    [
        {"ONE": "abcdef$", "TWO": "zzzzzz"},
        {"ONE": "x${TWO}y", "TWO": "zzzzzz"},
        {"ONE": "${ONE}"},
        {"ONE": "${TWO}", "TWO": "${ONE}"},
        {"ONE": "}{ONE}${"},
        {"ONE": "••••••", "TWO": "x${ONE}"},
    ],
)
def test_a_value_made_of_references_is_masked(values: dict[str, str]) -> None:
    secrets = Secrets.hiding(values)
    for said in ("abcdefzzzzzz", "xzzzzzzy", "${ONE}${TWO}", "}{ONE}${ONE}${", "••••••x••••••", "x••••••"):
        redacted = secrets.redact(said)
        assert not [value for value in values.values() if value in redacted]
        assert secrets.redact(redacted) == redacted


@given(values.filter(lambda text: "$" not in text), texts)
def test_what_holds_no_secret_stays_the_very_same(value: str, said: str) -> None:
    secrets = Secrets.hiding({"KEY": value})
    if not any(form in said for form in secrets.forms):
        assert secrets.redact(said) is said


@given(values, st.binary(max_size=6), st.binary(max_size=6))
def test_base64_of_a_longer_text_is_seen_wherever_the_value_begins(value: str, before: bytes, after: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        redacted = Secrets.hiding({"KEY": value}).redact(encode(before + value.encode() + after).decode())
        assert "${KEY}" in redacted or "•" in redacted
        left = redacted.replace("${KEY}", "").replace("•", "")
        assert len(left) <= len(encode(before)) + len(encode(after)) + 3


def test_the_longest_secret_goes_first() -> None:
    secrets = Secrets.hiding({"SHORT": "sesame", "LONG": "sesame-open"})
    assert secrets.redact("sesame-open sesame") == "${LONG} ${SHORT}"


def test_a_short_value_is_no_secret() -> None:
    assert not Secrets.hiding({"KEY": "a" * (SHORTEST - 1), "NONE": "", "BLANK": " a "})
    assert Secrets.hiding({"KEY": "a" * SHORTEST})


def test_lines_of_a_value_are_secrets_but_for_short_ones() -> None:
    secrets = Secrets.hiding({"PEM": PEM})
    shown = "\n".join(f"E   {line}" for line in PEM.splitlines())
    assert secrets.redact(shown).split("\n") == [
        f"E   {line}" for line in ("${PEM}", "${PEM}", "${PEM}", "ab", "${PEM}")
    ]
    assert secrets.redact(pprint.pformat({"key": PEM}, width=40)).count("${PEM}") == 4


def test_a_value_that_is_stripped_before_use_is_seen() -> None:
    assert Secrets.hiding({"KEY": "sesame\n"}).redact("'sesame'") == "'${KEY}'"


def test_a_value_that_is_not_unicode_is_seen() -> None:
    value = b"sesame-\xff\xfe".decode("utf-8", "surrogateescape")
    secrets = Secrets.hiding({"KEY": value})
    assert secrets.redact(f"{value} {quote(value, errors='surrogateescape')}") == "${KEY} ${KEY}"


data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from([CANARY, f"<{CANARY}>", "a"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([CANARY, repr(CANARY), "a", "b"]), inner),
)


@given(data)
def test_data_is_redacted_throughout_and_loses_nothing(value: object) -> None:
    secrets = Secrets.hiding({"KEY": CANARY})
    redacted = secrets.redact_data(value)
    assert CANARY not in str(leaves(redacted))
    assert len(leaves(redacted)) == len(leaves(value))
    assert secrets.redact_data(redacted) is redacted
    if not any(CANARY in str(leaf) or repr(CANARY) in str(leaf) for leaf in leaves(value)):
        assert redacted is value


def leaves(value: object) -> list[object]:
    """All keys and values that hold no others."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in (key, *leaves(inner))]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


def test_data_without_secrets_is_the_very_same_object() -> None:
    value = {"a": [1, "b", (None, 2.5)], "c": {"d": "e"}}
    assert Secrets.hiding({"KEY": CANARY}).redact_data(value) is value
    assert Secrets().redact_data(value) is value
    assert Secrets().redact(CANARY) is CANARY


def test_the_other_items_of_changed_data_are_the_same_objects() -> None:
    value = {"a": [1, "b"], "c": CANARY, "d": (CANARY, "x")}
    redacted = Secrets.hiding({"KEY": CANARY}).redact_data(value)
    assert redacted == {"a": [1, "b"], "c": "${KEY}", "d": ("${KEY}", "x")}
    assert redacted["a"] is value["a"]


def test_keys_that_become_alike_stay_apart() -> None:
    value = {CANARY: 0.1, quote(CANARY, safe=""): 0.9, "${KEY} (2)": 0.5}
    redacted = Secrets.hiding({"KEY": CANARY}).redact_data(value)
    assert sorted(redacted.values()) == [0.1, 0.5, 0.9]
    assert redacted["${KEY}"] == 0.1


def test_secrets_show_names_alone() -> None:
    secrets = Secrets.hiding({"TWO": "sesame-2", "ONE": "sesame-1"})
    assert repr(secrets) == "Secrets(ONE, TWO)"
    assert not Secrets()
    assert repr(Secrets()) == "Secrets()"


class Inner(BaseModel):
    model_config = ConfigDict(frozen=True)
    text: str
    place: Path


def test_references_are_found_at_any_depth_but_not_in_paths() -> None:
    own = {
        "model": Path("${FOLDER}/m.onnx"),
        "url": "https://${HOST}/${ROUTE}",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "argv": ["run", ("--key", "${KEY}")],
        "inner": Inner(text="${TEXT}", place=Path("${PLACE}")),
        "number": 5,
        "files": (Path("${FILES}"),),
    }
    assert sorted(references(own)) == ["HOST", "KEY", "ROUTE", "TEXT", "TOKEN"]


SUITE = """
task: emotion
corpus: {root: "${ROOT}", manifest: clips.csv, columns: {label: Emotion}}
labels: {set: [happy, sadness], answers: {neutral: happy}}
adapter: {use: mine, key: "${KEY}", more: {deep: "${DEEP}"}, default: "${DEFAULT}", absent: "${ABSENT}"}
"""


def test_the_secrets_of_a_suite_are_what_its_adapters_refer_to(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE, "utf-8")
    environ = {"KEY": "sesame-key", "DEEP": "sesame-deep", "ROOT": "sesame-root", "OTHER": "sesame-other"}
    secrets = Secrets.of([load_suite(tmp_path / "s.yaml", VOCABULARY)], environ)
    assert (
        secrets.redact("sesame-key sesame-deep sesame-root sesame-other") == "${KEY} ${DEEP} sesame-root sesame-other"
    )


@pytest.mark.parametrize("word", ["happy-no", "sadness", "sadnes", "neutral"])
def test_a_value_that_an_answer_may_say_is_no_secret(tmp_path: Path, word: str) -> None:
    (tmp_path / "s.yaml").write_text(SUITE, "utf-8")
    secrets = Secrets.of([load_suite(tmp_path / "s.yaml", VOCABULARY)], {"DEFAULT": word})
    assert bool(secrets) == (word == "happy-no")


def test_a_variable_in_a_path_alone_is_no_secret(tmp_path: Path) -> None:
    text = SUITE.replace("adapter: {use: mine", 'adapter: {use: predictions, file: "${FOLDER}/a.csv"} #')
    (tmp_path / "s.yaml").write_text(text, "utf-8")
    assert not Secrets.of([load_suite(tmp_path / "s.yaml", VOCABULARY)], {"FOLDER": "/sesame/folder"})


def test_before_key_models_are_known_every_variable_of_an_adapter_is_suspected(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SUITE + "unknown: key\n", "utf-8")
    (tmp_path / "broken.yaml").write_text("adapter: [\n", "utf-8")
    files = [tmp_path / "s.yaml", tmp_path / "broken.yaml", tmp_path / "absent.yaml"]
    secrets = Secrets.suspected(files, {"DEEP": "sesame-deep", "ROOT": "sesame-root"})
    assert secrets.redact("sesame-deep sesame-root") == "${DEEP} sesame-root"


def test_a_key_that_takes_a_path_may_name_the_file_of_a_secret(tmp_path: Path) -> None:
    class Keys(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True)
        private_key: Path
        password: Path | None = None
        token: str | None = None

    words = Vocabulary(VOCABULARY.tasks, {"mine": AdapterWord("mine", Keys)})
    own = "private_key: ../key.pem, password: ../word.txt, token: ../token.txt"
    (tmp_path / "s.yaml").write_text(SUITE.partition("adapter:")[0] + f"adapter: {{use: mine, {own}}}\n", "utf-8")
    with pytest.raises(FaultyFile) as caught:
        load_suite(tmp_path / "s.yaml", words)
    assert [fault.keys for fault in caught.value.faults] == [("adapter", "token")]


@pytest.mark.parametrize("text", ["s.adapter.token=sesame", "s.adapter={use: mine, headers: {X-Api-Key: sesame}}"])
def test_the_fault_of_an_override_does_not_show_the_value(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(SUITE, "utf-8")
    with pytest.raises(FaultyFile, match=r"^--speval-set s\.adapter\S*: adapter.*\[literal-secret\]$") as caught:
        load_suite(tmp_path / "s.yaml", VOCABULARY, [parse_override(text, HERE)[1]])
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("a sesame-0123...", "a ${KEY}..."),
        ("`sesame-0`… and …456789 b", "`${KEY}`… and …${KEY} b"),
        ("sesame-0123456789… …", "${KEY}… …"),
        ("sesame....", "${KEY}...."),
        ("last words: …3456789\nsesame-", "last words: …${KEY}\nsesame-"),
        ("sesam... 56789", "sesam... 56789"),
        ("sesame-0 ... 456789", "sesame-0 ... 456789"),
    ],
)
def test_what_a_cut_leaves_of_a_secret_is_redacted_from_six_characters_on(said: str, told: str) -> None:
    assert Secrets.hiding({"KEY": "sesame-0123456789"}).redact_cut(said) == told
    assert Secrets().redact_cut(said) is said
