"""Whatever an adapter does, each clip gets one ending and the journal agrees; nothing is asked twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_speval.adapters.base import ClipRequest, EmotionRead, Vad
from pytest_speval.ask import MESSAGE_LIMIT, Asked, Inquiry, Loan, legible
from pytest_speval.errors import AnswerFault, AudioFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import UNATTEMPTED, UNKNOWN, Ending, endings_of
from pytest_speval.evidence.journal import Journal, read_journal
from pytest_speval.evidence.plan import Question
from pytest_speval.tasks.emotion import Emotion
from tests.runs import MODEL, Clip, question_of

RATE = 16000


@dataclass
class Model:
    """Answers by what `behave` does; every call is remembered."""

    behave: Callable[[], Any]
    calls: list[int] = field(default_factory=list)

    def classify(self, pcm: Any, rate: int) -> Any:
        assert rate == RATE
        self.calls.append(int(pcm))
        return self.behave()


@dataclass
class Batching(Model):
    """Answers batches with what `behave` gives for each clip, passed through `shape`."""

    shape: Callable[[list[Any]], Any] = list
    sizes: list[int] = field(default_factory=list)

    def classify_batch(self, pcms: Sequence[Any], rate: int) -> Any:
        self.sizes.append(len(pcms))
        return self.shape([self.classify(pcm, rate) for pcm in pcms])


class Recall:
    """Recorded answers: hears nothing."""

    def recall(self, split: str, id: str) -> EmotionRead:  # noqa: A002
        if id == "c1":
            raise AnswerFault("no-answer", f"no row for {split}/{id}")
        return EmotionRead(label=id)

    def compare(self, roll: object) -> list[tuple[str, str]]:
        raise NotImplementedError


def asked(count: int, rates: Sequence[int] = (RATE,) * 99) -> list[Asked]:
    return [Asked("test", f"c{place}", lambda place=place: (place, rates[place])) for place in range(count)]  # type: ignore[misc]


def question(count: int, *, recorded: bool = False) -> Question:
    clips = [Clip(f"c{place}", "happy", UNATTEMPTED) for place in range(count)]
    return question_of(clips, adapter={**MODEL, "recorded": recorded})


def ask(
    tmp_path: Path, adapter: Any, clips: Sequence[Asked], batch: int = 1, timeout: float | None = 1000.0
) -> list[Ending]:
    """Ask, and hold what was returned against what the journal remembers."""
    journal = Journal(tmp_path / "j.jsonl")
    endings = list(Inquiry(adapter, Emotion(), journal, batch, timeout).ask(clips))
    same = question(len(clips), recorded=isinstance(adapter, Recall))
    assert endings_of(same, read_journal(tmp_path / "j.jsonl")) == endings
    journal.close()
    return endings


def one(tmp_path: Path, behave: Callable[[], Any]) -> Ending:
    (ending,) = ask(tmp_path, Model(behave), asked(1))
    canonical([ending.answer, ending.message])
    return ending


def test_a_good_answer_returns_as_plain_data_with_our_clock(tmp_path: Path) -> None:
    read = EmotionRead(
        "happy", {"happy": np.float32(0.75), "sad": np.float64(0.25), "calm": np.int64(0)},  # type: ignore[dict-item]
        Vad(np.float32(0.5), np.float16(1.0), 0), latency_ms=np.float32(3.5),  # type: ignore[arg-type]
    )  # fmt: skip
    ending = one(tmp_path, lambda: read)
    assert ending.state == "returned"
    assert ending.answer == {
        "label": "happy",
        "scores": {"happy": 0.75, "sad": 0.25, "calm": 0.0},
        "vad": {"valence": 0.5, "arousal": 1.0, "dominance": 0.0},
    }
    assert ending.reported_ms == 3.5
    assert ending.microseconds is not None
    assert ending.microseconds >= 0


def test_the_clock_stands_around_the_method_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    monkeypatch.setattr("time.perf_counter_ns", lambda: now[0])

    def hear() -> tuple[Any, int]:
        now[0] += 5_000_000
        return 0, RATE

    def behave() -> EmotionRead:
        now[0] += 7_000
        return EmotionRead("sad")

    (ending,) = ask(tmp_path, Model(behave), [Asked("test", "c0", hear)])
    assert ending.microseconds == 7


def test_a_batch_shares_its_time_among_its_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]
    monkeypatch.setattr("time.perf_counter_ns", lambda: now[0])

    def behave() -> EmotionRead:
        now[0] += 30_000
        return EmotionRead("sad")

    endings = ask(tmp_path, Batching(behave), asked(3), batch=3)
    assert [ending.microseconds for ending in endings] == [30, 30, 30]


class Silent(Exception):
    """An exception that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text either")


class Unshown(EmotionRead):
    """A wrong answer that cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Raising(dict[str, float]):
    """Scores that raise when they are read."""

    def items(self) -> Any:
        raise KeyError("lost")


def raiser(error: BaseException) -> Callable[[], Any]:
    def behave() -> Any:
        raise error

    return behave


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("no luck"), "RuntimeError: no luck (behave, line "),
        (RuntimeError(), "RuntimeError:  (behave"),
        (ValueError("lone \ud800 surrogate"), "ValueError: lone ? surrogate (behave"),
        (KeyError("\udcff"), "KeyError: '\\udcff' (behave"),
        (MemoryError("out of it"), "MemoryError: out of it"),
        (RecursionError("deep"), "RecursionError: deep"),
        (StopIteration(3), "StopIteration: 3"),
        (AssertionError({"a": 1}), "AssertionError: {'a': 1}"),
        (OSError(2, "No such file", "x\udc80"), "FileNotFoundError: [Errno 2] No such file: 'x\\udc80'"),
        (ExceptionGroup("many", [ValueError("one")]), "ExceptionGroup: many (1 sub-exception)"),
        (Silent(), "Silent: <a Silent whose text cannot be had: RuntimeError>"),
    ],
)
def test_whatever_an_adapter_raises_fails_that_clip_alone(tmp_path: Path, error: Exception, told: str) -> None:
    reads: Iterator[Callable[[], Any]] = iter([lambda: EmotionRead("sad"), raiser(error), lambda: EmotionRead("happy")])
    model = Model(lambda: next(reads)())
    endings = ask(tmp_path, model, asked(3))
    assert [ending.state for ending in endings] == ["returned", "failed", "returned"]
    assert endings[1].code == "raised"
    assert endings[1].answer is None
    assert (endings[1].message or "").startswith(told)
    assert model.calls == [0, 1, 2]


def test_a_huge_message_is_cut_and_still_says_where(tmp_path: Path) -> None:
    message = one(tmp_path, raiser(RuntimeError("x" * 10**6))).message or ""
    assert message.startswith(f"RuntimeError: {'x' * MESSAGE_LIMIT}… (1000000 characters) (behave, line ")
    assert len(message) < MESSAGE_LIMIT + 100


def test_legible_text_keeps_its_first_characters_and_says_how_many_there_were() -> None:
    assert legible("ab\ud800") == "ab?"
    assert legible("é" * MESSAGE_LIMIT) == "é" * MESSAGE_LIMIT
    assert legible("é" * (MESSAGE_LIMIT + 1)) == "é" * MESSAGE_LIMIT + f"… ({MESSAGE_LIMIT + 1} characters)"


def test_an_answer_that_breaks_the_contract_is_kept_raw(tmp_path: Path) -> None:
    read = EmotionRead("sad", {"happy": 0.75, "sad": 0.25})
    ending = one(tmp_path, lambda: read)
    assert (ending.state, ending.code) == ("failed", "invalid-answer")
    assert ending.message == "the label `sad` is not the winner of its scores, `happy`"
    assert ending.answer == {"raw": repr(read)}
    assert ending.microseconds is not None


def test_a_huge_wrong_answer_is_cut_in_the_journal(tmp_path: Path) -> None:
    ending = one(tmp_path, lambda: EmotionRead("y" * 10**6, {"x" * 10**6: 1.0}))
    assert ending.code == "invalid-answer"
    assert len(ending.message or "") < MESSAGE_LIMIT + 100
    assert len((ending.answer or {})["raw"]) < MESSAGE_LIMIT + 100


def test_a_wrong_answer_that_cannot_be_shown_fails_its_clip(tmp_path: Path) -> None:
    ending = one(tmp_path, lambda: Unshown(label=3))  # type: ignore[arg-type]
    assert ending.code == "invalid-answer"
    assert ending.answer == {"raw": "<a Unshown whose text cannot be had: RuntimeError>"}


def test_an_answer_that_raises_when_it_is_read_fails_its_clip(tmp_path: Path) -> None:
    ending = one(tmp_path, lambda: EmotionRead(scores=Raising(a=1.0)))
    assert (ending.state, ending.code) == ("failed", "raised")
    assert (ending.message or "").startswith("KeyError: 'lost'")


def test_a_clip_that_cannot_be_heard_fails_with_the_finding(tmp_path: Path) -> None:
    def hear() -> tuple[Any, int]:
        raise AudioFault("truncated", "c1.wav ends early")

    model = Model(lambda: EmotionRead("sad"))
    clips = [asked(1)[0], Asked("test", "c1", hear)]
    endings = ask(tmp_path, model, clips)
    assert (endings[1].state, endings[1].code, endings[1].message) == (
        "failed",
        "truncated",
        "c1.wav ends early",
    )
    assert model.calls == [0]


def test_an_adapter_without_the_method_fails_every_clip(tmp_path: Path) -> None:
    endings = ask(tmp_path, object(), asked(2))
    assert [ending.code for ending in endings] == ["raised", "raised"]
    assert "has no attribute 'classify'" in (endings[0].message or "")


@pytest.mark.parametrize("batch", [1, 4])
def test_recorded_answers_are_asked_by_identity_and_heard_by_none(tmp_path: Path, batch: int) -> None:
    def deaf() -> tuple[Any, int]:
        raise AssertionError("a recorded answer was heard")

    endings = ask(tmp_path, Recall(), [Asked("test", f"c{place}", deaf) for place in range(3)], batch)
    assert [ending.answer for ending in endings] == [{"label": "c0"}, None, {"label": "c2"}]
    assert (endings[1].code, endings[1].message) == ("no-answer", "no row for test/c1")
    assert [line["event"] for line in read_journal(tmp_path / "j.jsonl")] == ["returned", "failed", "returned"]


@pytest.mark.parametrize("batch", [1, 2])
def test_an_interrupt_passes_through_and_leaves_its_clips_unknown(tmp_path: Path, batch: int) -> None:
    reads = iter([EmotionRead("sad"), EmotionRead("sad")])

    def behave() -> EmotionRead:
        for read in reads:
            return read
        raise KeyboardInterrupt

    journal = Journal(tmp_path / "j.jsonl")
    with pytest.raises(KeyboardInterrupt):
        list(Inquiry(Batching(behave), Emotion(), journal, batch).ask(asked(6)))
    journal.close()
    endings = endings_of(question(6), read_journal(tmp_path / "j.jsonl"))
    states = [ending.state for ending in endings]
    assert states == ["returned"] * 2 + ["unknown"] * batch + ["unattempted"] * (4 - batch)
    assert endings[2] == UNKNOWN


def test_batches_are_cut_in_order_and_the_last_may_be_short(tmp_path: Path) -> None:
    model = Batching(lambda: EmotionRead("sad"))
    endings = ask(tmp_path, model, asked(7), batch=3)
    assert model.sizes == [3, 3, 1]
    assert model.calls == list(range(7))
    assert {ending.state for ending in endings} == {"returned"}


@pytest.mark.parametrize(
    ("shape", "code", "told"),
    [
        (lambda reads: reads[:-1], "batch-size", "2 answers for a batch of 3 clips"),
        (lambda reads: [*reads, reads[0]], "batch-size", "4 answers for a batch of 3 clips"),
        (lambda _: [], "batch-size", "0 answers for a batch of 3 clips"),
        (lambda _: None, "raised", "TypeError: 'NoneType' object is not iterable"),
        (lambda _: 3, "raised", "TypeError: 'int' object is not iterable"),
    ],
)
def test_a_batch_of_another_size_fails_all_its_clips(
    tmp_path: Path, shape: Callable[[list[Any]], Any], code: str, told: str
) -> None:
    model = Batching(lambda: EmotionRead("sad"), shape=shape)
    endings = ask(tmp_path, model, asked(3), batch=3)
    assert [ending.code for ending in endings] == [code] * 3
    assert (endings[0].message or "").startswith(told)
    assert model.calls == [0, 1, 2]


@pytest.mark.parametrize("shape", [list, tuple, iter, lambda reads: (read for read in reads)])
def test_a_batch_may_come_back_as_anything_that_can_be_gone_through(
    tmp_path: Path, shape: Callable[[list[Any]], Any]
) -> None:
    endings = ask(tmp_path, Batching(lambda: EmotionRead("sad"), shape=shape), asked(3), batch=3)
    assert [ending.answer for ending in endings] == [{"label": "sad"}] * 3


def test_a_batch_that_breaks_off_half_way_fails_all_its_clips(tmp_path: Path) -> None:
    def breaking(reads: list[Any]) -> Any:
        yield reads[0]
        raise RuntimeError("lost the rest")

    endings = ask(tmp_path, Batching(lambda: EmotionRead("sad"), shape=breaking), asked(3), batch=3)
    assert [ending.code for ending in endings] == ["raised"] * 3


def test_a_batch_that_raises_fails_all_its_clips_and_no_other(tmp_path: Path) -> None:
    good: Callable[[], Any] = lambda: EmotionRead("sad")  # noqa: E731
    reads = iter([good, raiser(RuntimeError("no luck")), good, good])
    model = Batching(lambda: next(reads)())
    endings = ask(tmp_path, model, asked(4), batch=2)
    assert [ending.state for ending in endings] == ["failed", "failed", "returned", "returned"]
    assert model.sizes == [2, 2]


def test_one_wrong_answer_of_a_batch_fails_its_clip_alone(tmp_path: Path) -> None:
    def spoilt(reads: list[Any]) -> list[Any]:
        return [reads[0], "sad", reads[2]]

    endings = ask(tmp_path, Batching(lambda: EmotionRead("sad"), shape=spoilt), asked(3), batch=3)
    assert [ending.state for ending in endings] == ["returned", "failed", "returned"]
    assert endings[1].code == "invalid-answer"


def test_a_batch_is_never_heard_at_a_rate_that_is_not_its_own(tmp_path: Path) -> None:
    model = Batching(lambda: EmotionRead("sad"))
    endings = ask(tmp_path, model, asked(2, rates=(16000, 8000)), batch=2)
    assert [ending.code for ending in endings] == ["batch-rates"] * 2
    assert "8000, 16000 Hz" in (endings[0].message or "")
    assert model.calls == []


def test_no_clips_are_no_calls(tmp_path: Path) -> None:
    assert ask(tmp_path, Batching(lambda: EmotionRead("sad")), [], batch=3) == []


# --- deadlines


def for_ever() -> EmotionRead:
    for _ in itertools.count():
        pass
    raise AssertionError


def test_a_call_that_never_returns_fails_its_clip_alone(tmp_path: Path) -> None:
    reads: Iterator[Callable[[], Any]] = iter([lambda: EmotionRead("sad"), for_ever, lambda: EmotionRead("happy")])
    endings = ask(tmp_path, Model(lambda: next(reads)()), asked(3), timeout=0.1)
    assert [ending.state for ending in endings] == ["returned", "failed", "returned"]
    assert (endings[1].code, endings[1].message) == ("timeout", "no answer within 0.1 s (run.timeout)")
    assert endings[1].answer is None


def test_an_answer_in_spite_of_the_deadline_is_no_answer(tmp_path: Path) -> None:
    def stubborn() -> EmotionRead:
        try:
            return for_ever()
        except BaseException:
            return EmotionRead("sad")

    (ending,) = ask(tmp_path, Model(stubborn), asked(1), timeout=0.05)
    assert (ending.state, ending.code) == ("failed", "timeout")


def test_the_deadline_is_that_of_the_method_not_of_hearing(tmp_path: Path) -> None:
    def hear() -> tuple[Any, int]:
        sum(range(2_000_000))  # many times the deadline
        return 0, RATE

    (ending,) = ask(tmp_path, Model(lambda: EmotionRead("sad")), [Asked("test", "c0", hear)], timeout=0.005)
    assert ending.state == "returned"


def test_a_batch_is_one_call_with_one_deadline(tmp_path: Path) -> None:
    reads: Iterator[Callable[[], Any]] = iter([*[lambda: EmotionRead("sad")] * 3, for_ever])
    model = Batching(lambda: next(reads)())
    endings = ask(tmp_path, model, asked(4), batch=2, timeout=0.1)
    assert [ending.code for ending in endings] == [None, None, "timeout", "timeout"]
    assert model.calls == [0, 1, 2, 3]


def test_a_batch_that_is_gone_through_late_is_late(tmp_path: Path) -> None:
    def lazily(reads: list[Any]) -> Iterator[Any]:
        yield reads[0]
        yield for_ever()

    endings = ask(tmp_path, Batching(lambda: EmotionRead("sad"), shape=lazily), asked(2), batch=2, timeout=0.1)
    assert [ending.code for ending in endings] == ["timeout"] * 2


# --- adapters that are asked by clip


@dataclass
class ByClip:
    """Answers requests by what `behave` does; it has the method of the task too, which nobody may call."""

    behave: Callable[[ClipRequest], Any]
    requests: list[ClipRequest] = field(default_factory=list)

    def answers(self, method: str) -> bool:
        raise NotImplementedError

    def answer_clip(self, request: ClipRequest) -> Any:
        self.requests.append(request)
        return self.behave(request)

    def classify(self, *_: Any) -> Any:
        raise AssertionError("asked by samples")


def lent(name: str, opened: list[str]) -> Asked:
    """A clip whose sound may be opened for as long as it is in `opened`, and never heard."""

    @contextmanager
    def lend() -> Iterator[tuple[Path, int]]:
        opened.append(name)
        yield Path(f"/data/{name}.wav"), RATE
        opened.remove(name)

    def deaf() -> tuple[Any, int]:
        raise AssertionError("heard")

    return Asked("test", name, deaf, lend=lend)


def test_an_adapter_asked_by_clip_gets_a_file_for_as_long_as_it_is_asked(tmp_path: Path) -> None:
    opened: list[str] = []

    def behave(request: ClipRequest) -> EmotionRead:
        assert opened == [request.id]
        return EmotionRead("sad")

    adapter = ByClip(behave)
    endings = ask(tmp_path, adapter, [lent("c0", opened), lent("c1", opened)], timeout=7.5)
    assert [ending.answer for ending in endings] == [{"label": "sad"}] * 2
    sounds = {name: Path(f"/data/{name}.wav") for name in ("c0", "c1")}
    assert adapter.requests == [
        ClipRequest("test", name, "classify", sound, RATE, None, 7.5) for name, sound in sounds.items()
    ]
    assert opened == []


def test_what_an_adapter_asked_by_clip_raises_fails_that_clip_alone(tmp_path: Path) -> None:
    def behave(request: ClipRequest) -> EmotionRead:
        if request.id == "c1":
            raise AnswerFault("process-died", "it died")
        return EmotionRead("sad")

    opened: list[str] = []
    endings = ask(tmp_path, ByClip(behave), [lent(name, opened) for name in ("c0", "c1", "c2")])
    assert [ending.code for ending in endings] == [None, "process-died", None]


def test_an_adapter_asked_by_clip_keeps_its_own_deadline(tmp_path: Path) -> None:
    """Its process must be ended too, which no alarm in the middle of its work would do."""

    def behave(request: ClipRequest) -> EmotionRead:
        sum(range(2_000_000))  # many times the deadline
        raise AnswerFault("timeout", f"{request.timeout:g} s are over")

    (ending,) = ask(tmp_path, ByClip(behave), [lent("c0", [])], timeout=0.005)
    assert (ending.code, ending.message) == ("timeout", "0.005 s are over")


def test_a_clip_without_sound_is_asked_without_a_file(tmp_path: Path) -> None:
    adapter = ByClip(lambda _: EmotionRead("sad"))
    ask(tmp_path, adapter, [Asked("test", "c0", lambda: (0, RATE))], timeout=None)
    assert adapter.requests == [ClipRequest("test", "c0", "classify")]


def test_a_sound_that_cannot_be_lent_fails_with_the_finding(tmp_path: Path) -> None:
    def lend() -> Loan:
        raise AudioFault("changed-since-audit", "c0.wav is another file")

    adapter = ByClip(lambda _: EmotionRead("sad"))
    (ending,) = ask(tmp_path, adapter, [Asked("test", "c0", lambda: (0, RATE), lend=lend)])
    assert ending.code == "changed-since-audit"
    assert adapter.requests == []
