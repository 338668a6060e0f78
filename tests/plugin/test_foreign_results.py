"""Results made elsewhere in whole sessions: transcripts of recognisers as their own tools write them."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_speval.command import main
from tests.plugin.conftest import Project

ARTIE = {
    "amazon_en-GB_dec-9-2019": 3538, "amazon_en-US_dec-9-2019": 3577, "google_en-US_dec-4-2019": 3677,
    "google_en-GB_dec-5-2019": 4748, "amazon_en-IN_dec-9-2019": 4955, "deepspeech_v0-7-3": 5963,
    "deepspeech_v0-6-0": 6164, "deepspeech_v0-5-1": 7133, "google_en-IN_dec-5-2019": 8600,
}  # fmt: skip
PLAIN = '''
import re

def plain(text):
    """Lower case, one apostrophe, hyphens and all else that is no word give way to a blank."""
    return re.sub(r"[^\\w' ]", " ", re.sub("[’ʼ‘`]", "'", text.lower()).replace("-", " "))

plain.version = "1"
'''
OFFER = "from plain_words import plain\n\ndef pytest_speval_normalizers():\n    return {'plain': plain}\n"


def suite(project: Project, corpus: dict[str, Any], adapter: dict[str, Any], **more: Any) -> None:
    """Write the suite `words`; JSON is YAML."""
    keys = {"task": "asr", "corpus": corpus, "adapter": {"use": "predictions", **adapter}, **more}
    keys.setdefault("run", {"per_item": "all"})
    keys.setdefault("score", {"interval": {"unit": "clip", "replicates": 50}})
    (project.path / "suites").mkdir(exist_ok=True)
    (project.path / "suites/words.yaml").write_text(json.dumps(keys, ensure_ascii=False))


def errors(project: Project) -> tuple[int, int]:
    wer = project.document("words")["metrics"]["wer"]
    return wer["numerator"], wer["denominator"]


def counts(project: Project) -> dict[str, int]:
    found: dict[str, int] = project.document("words")["counts"]
    return found


# --- small files of every style


def test_one_jsonl_of_nemo_holds_references_and_answers(project: Project, distributed: tuple[str, ...]) -> None:
    said = [("sample_0", "red bus", "red bus"), ("sample_1", "stop", ""), ("sample_2", "go", "go away")]
    lines = [
        json.dumps({"audio_filepath": name, "duration": 1.5, "time": 0.1, "text": text, "pred_text": heard})
        for name, text, heard in said
    ]
    (project.path / "out.json").write_text("\n".join(lines))
    corpus = {"root": "..", "manifest": "out.json", "format": {"style": "jsonl"},
              "columns": {"id": "audio_filepath", "transcript": "text", "seconds": "duration"}}  # fmt: skip
    adapter = {"file": "../out.json", "format": {"style": "jsonl"}, "columns": {"id": "audio_filepath"}}
    suite(project, corpus, adapter)
    run = project.run(*distributed)
    assert run.ret == 6
    assert "`text` and `pred_text`, a reference and an answer: say `columns: {text: pred_text}`" in str(run.stdout)
    suite(project, corpus, {**adapter, "columns": {"id": "audio_filepath", "text": "pred_text"}})
    run = project.run(*distributed)
    assert run.ret == 0, run.stdout
    assert errors(project) == (2, 4)


def test_an_stm_gives_speakers_cohorts_and_exclusions(project: Project) -> None:
    (project.path / "ref.stm").write_text(
        "talk 1 Ann 0 1 <o,f> red bus\ntalk 1 Bob 1 2 <o,m> stop now\ntalk 1 Ann 2 3 <o,f> go\n"
        "talk 1 gap 3 4 <NA> ignore_time_segment_in_scoring\ntalk 1 Bob 4 5 <o,m> no\n"
    )
    (project.path / "hyp.ctm").write_text(
        "talk 1 0.1 0.2 red\ntalk 1 0.9 0.4 stop\ntalk 1 1.5 0.2 now\ntalk 1 3.2 0.1 noise\ntalk 1 5.5 0.1 no\n"
    )
    corpus: dict[str, Any] = {"root": "..", "manifest": "ref.stm"}
    score = {
        "cohorts": ["group"], "small_groups": {"min_clips": 1}, "interval": {"unit": "clip", "replicates": 50}
    }  # fmt: skip
    corpus["columns"] = {"cohorts": {"group": {"column": "labels", "separator": ","}}, "session": "recording"}
    suite(project, corpus, {"file": "../hyp.ctm", "segments": "../ref.stm"}, score=score)
    run = project.run()
    assert run.ret == 2
    assert "ref.stm:4: the segment is marked `ignore_time_segment_in_scoring`" in str(run.stdout)
    mark = {"column": "transcript", "is": ["ignore_time_segment_in_scoring"], "reason": "not to be scored"}
    suite(
        project, {**corpus, "exclude_where": [mark]}, {"file": "../hyp.ctm", "segments": "../ref.stm"}, score=score
    )  # fmt: skip
    run = project.run()
    assert run.ret == 0, run.stdout
    document = project.document("words")
    assert (counts(project)["listed"], counts(project)["excluded"], counts(project)["answered"]) == (5, 1, 4)
    assert errors(project) == (2, 6), "bus and go were not heard"
    cohort = document["cohorts"]["group"]
    groups = {each["group"]["value"]: each["metrics"]["wer"] for each in cohort if each["metrics"]}
    assert {name: (wer["numerator"], wer["denominator"]) for name, wer in groups.items()} == {
        "f": (2, 3), "m": (0, 3), "o": (2, 6)
    }  # fmt: skip
    assert document["metrics"]["wer_speaker_mean"]["value"] == (3 / 4 + 0) / 2, "a mean of means over clips"
    assert main(["verify", str(project.folder("words"))]) == 0


def test_a_faulty_reference_file_stops_at_collection_with_its_line(project: Project) -> None:
    (project.path / "text").write_bytes(b"a red bus\nb caf\xe9\n")
    suite(project, {"root": "..", "manifest": "text", "format": {"style": "kaldi"}}, {"file": "../hyp.trn"})
    run = project.run()
    assert run.ret == 2
    assert "text:2: byte 15 (0xe9) is not utf-8" in str(run.stdout)
    suite(project, {"root": "..", "manifest": "text"}, {"file": "../hyp.trn"})
    run = project.run()
    assert run.ret == 2
    assert "expected a file that ends in .csv, .tsv, .jsonl, .parquet, .trn, .stm or .ctm" in str(run.stdout)
    table = {"style": "kaldi", "header": False}
    suite(project, {"root": "..", "manifest": "text", "format": table}, {"file": "../hyp.trn"})
    assert "header is for tables, and a file of the style kaldi is none" in str(project.run().stdout)


def test_two_references_of_one_id_are_named_with_both_lines(project: Project) -> None:
    (project.path / "ref.trn").write_text("red bus (a)\nred bus (b)\nblue bus (a)\n")
    (project.path / "hyp.trn").write_text("red bus (a)\nred bus (b)\n")
    suite(project, {"root": "..", "manifest": "ref.trn"}, {"file": "../hyp.trn"})
    run = project.run()
    assert run.ret == 2
    assert "ref.trn:3: `test/a` also stands on line 1, with other cells [conflicting-identity]" in str(run.stdout)


# --- normalisers of a user's own


def spoken(project: Project) -> None:
    (project.path / "ref.trn").write_text("Well-known, isn’t it? (a)\nYes! (b)\n")
    (project.path / "hyp.trn").write_text("well known isn't it (a)\nno (b)\n")
    suite(
        project, {"root": "..", "manifest": "ref.trn"}, {"file": "../hyp.trn"}, text={"normalizer": "plain"},
        gates={"words": {"metric": "wer", "max": 0.5, "why": "As before."}},
    )  # fmt: skip


def offer(project: Project, source: str = PLAIN, conftest: str = OFFER) -> None:
    (project.path / "plain_words.py").write_text(source)
    (project.path / "conftest.py").write_text(conftest)


def test_a_normalizer_of_ones_own_counts_and_is_proven(
    project: Project, distributed: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(project.path)
    spoken(project)
    offer(project)
    run = apart(project, *distributed)
    assert run.ret == 0, run.stdout
    assert errors(project) == (1, 5)
    plan = json.loads((project.folder("words") / "plan.json").read_text())
    told = plan["rules"]["text"]
    assert (told["normalizer"], told["version"], len(told["sha256"])) == ("plain", "1", 64)
    assert project.document("words")["transcription"]["normalizer"]["name"] == "plain"


def apart(project: Project, *arguments: str) -> pytest.RunResult:
    """Each session in a process of its own: a module is loaded once in a process."""
    return project.run(*arguments, environment={"PYTHONPATH": str(project.path)})


def test_a_replay_names_the_normalizer_that_is_gone_or_another(project: Project) -> None:
    spoken(project)
    offer(project)
    assert apart(project).ret == 0
    stored = project.folder("words")
    offer(project, conftest="")
    run = apart(project, f"--speval-replay={stored}")
    assert run.ret == 2
    assert "text.normalizer: expected `none`, `basic`, `english`, got the text `plain`" in str(run.stdout)
    offer(project, PLAIN.replace("’", ""))
    run = apart(project, f"--speval-replay={stored}")
    assert run.ret == 0, run.stdout
    assert any("text.sha256" in what for what in project.document("words")["plan"]["postHoc"])
    assert errors(project) == (3, 6), "isn t"


def test_verify_says_which_normalizer_it_needs(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoken(project)
    offer(project)
    assert apart(project).ret == 0
    monkeypatch.chdir(project.path)
    monkeypatch.syspath_prepend(project.path)
    assert main(["verify", str(project.folder("words"))]) == 0
    (project.path / "conftest.py").unlink()
    assert main(["verify", str(project.folder("words"))]) != 0
    assert "the normalizer plain 1, which nothing here offers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("conftest", "said"),
    [
        (OFFER.replace("plain}", "3}"), "the normalizer `plain` is 3, which cannot be called"),
        (OFFER.replace("'plain'", "'basic'"), "the normalizer `basic` is offered twice; rename one"),
        (OFFER.replace("return", "raise KeyError  #"), "pytest_speval_normalizers raised KeyError"),
    ],
)
def test_what_a_hook_may_not_offer_is_a_usage_error(project: Project, conftest: str, said: str) -> None:
    spoken(project)
    offer(project, conftest=conftest)
    run = apart(project)
    assert run.ret == 4
    assert said in f"{run.stdout}{run.stderr}"


def test_a_normalizer_that_raises_gives_no_verdict(project: Project) -> None:
    spoken(project)
    offer(project, "def plain(text):\n    return text.lower() if 'no' not in text else None\n")
    run = apart(project)
    assert run.ret not in (0, 1)
    assert "the normalizer `plain` returned NoneType for `" in f"{run.stdout}{run.stderr}"


# --- files that other people's tools wrote


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("reference", "heard", "style", "counted"),
    [
        ("pocketsphinx/librivox/transcription", "pocketsphinx/librivox/test-lm.match", "sphinx", (20, 71)),
        ("pocketsphinx/cards/cards.transcription", "pocketsphinx/cards/cards.hyp", "sphinx", (0, 21)),
        ("pocketsphinx/tidigits/tidigits.lsn", "pocketsphinx/tidigits/test-tidigits-fsg.match", "sphinx", (1, 107)),
        ("pocketsphinx/tidigits/tidigits.lsn", "pocketsphinx/tidigits/test-tidigits-simple.match", "sphinx", (0, 107)),
        ("meeteval/text_ref", "meeteval/text_hyp", "kaldi", (9, 92)),
    ],
)
def test_small_pairs(
    project: Project, shared: Path, reference: str, heard: str, style: str, counted: tuple[int, int]
) -> None:
    folder, how = shared / "data/asr-small-pairs", {"style": style}
    corpus = {"root": str(folder), "manifest": reference, "format": how}
    suite(project, corpus, {"file": str(folder / heard), "format": how})
    run = project.run()
    assert run.ret == 0, run.stdout
    assert errors(project) == counted
    assert counts(project)["answered"] == counts(project)["listed"]


@pytest.mark.realdata
def test_csrnab_without_its_alternatives(project: Project, shared: Path) -> None:
    folder, how = shared / "data/sclite-cases/input", {"style": "trn"}
    corpus = {"root": str(folder), "manifest": "csrnab.ref", "format": how}
    adapter = {"file": str(folder / "csrnab.hyp"), "format": how}
    suite(project, corpus, adapter, text={"case": "upper"})
    run = project.run()
    assert run.ret == 2
    refused = re.findall(r"csrnab\.ref:(\d+): the transcript offers alternatives", str(run.stdout))
    assert len(refused) == 6
    lines = (folder / "csrnab.ref").read_text().splitlines()
    names = [lines[int(number) - 1].rpartition("(")[2].removesuffix(")") for number in refused]
    exclude = {f"test/{name}": "alternatives" for name in names}
    suite(project, {**corpus, "exclude": exclude}, adapter, text={"case": "upper"})
    run = project.run()
    assert run.ret == 0, run.stdout
    assert errors(project) == (133, 1176)
    assert (counts(project)["listed"], counts(project)["planned"]) == (51, 45)


@pytest.mark.realdata
def test_an_answer_with_alternatives_fails_the_audit_with_its_line(project: Project, shared: Path) -> None:
    folder = shared / "data/sclite-cases/input"
    (project.path / "ref.stm").write_text("2347 A a 0 200 red bus\n")
    suite(
        project,
        {"root": "..", "manifest": "ref.stm"},
        {"file": str(folder / "lvc_hyp.ctm"), "segments": "../ref.stm"},
    )
    run = project.run()
    assert run.ret == 6
    assert "lvc_hyp.ctm:466: alternatives cannot be counted" in str(run.stdout)


@pytest.mark.realdata
def test_words_with_times_against_segments_of_nist(project: Project, shared: Path) -> None:
    """Of the 61 segments 41 are labelled as having alternatives; sclite finds 286 errors in those without."""
    folder = shared / "data/sclite-cases/input"
    first = r"[^\n]*<ALT_BEGIN>\n(.*?)[^\n]*<ALT>\n.*?<ALT_END>[^\n]*\n"
    single = re.sub(first, r"\1", (folder / "lvc_hyp.ctm").read_text(), flags=re.DOTALL)
    (project.path / "hyp.ctm").write_text(single)
    corpus = {
        "root": str(folder), "manifest": "lvc_ref.stm",
        "exclude_where": [{"column": "labels", "is": ["O,WA"], "reason": "alternatives"}],
    }  # fmt: skip
    adapter = {"file": "../hyp.ctm", "segments": str(folder / "lvc_ref.stm")}
    suite(project, corpus, adapter, text={"case": "lower", "empty": "reference"})
    run = project.run()
    assert run.ret == 0, run.stdout
    assert errors(project) == (286, 470)
    assert counts(project)["failed"] == 0


@pytest.mark.realdata
@pytest.mark.parametrize("system", ARTIE)
def test_artie(project: Project, shared: Path, system: str) -> None:
    folder = shared / "data/artie-bias/normalised"
    suite(project, {"root": str(folder), "manifest": "ref.trn"}, {"file": str(folder / f"{system}.trn")})
    run = project.run()
    assert run.ret == 0, run.stdout
    assert errors(project) == (ARTIE[system], 14501)


@pytest.mark.realdata
def test_whole_calls_under_the_normalizer_of_their_counts(project: Project, shared: Path) -> None:
    """The calls of up to 7,000 words: longer ones take long here, and are counted in the tests of the task."""
    folder = shared / "data/earnings21-eval10"
    told = json.loads((folder / "EXPECTED.json").read_text())["systems"]["microsoft"]
    calls: dict[str, list[int]] = told["per_call_errors_refwords_hypwords"]
    exclude = {f"test/{call}": "long" for call, (_, words, _) in calls.items() if words > 7000}
    offer(project)
    with (project.path / "ref.trn").open("w", encoding="utf-8") as file:
        for call in calls:
            with (folder / f"reference/{call}.nlp").open(encoding="utf-8", newline="") as table:
                rows = csv.DictReader(table, delimiter="|", quoting=csv.QUOTE_NONE)
                file.write(f"{' '.join(row['token'] for row in rows)} ({call})\n")
    adapter = {"file": str(folder / "hypothesis/microsoft.tsv"), "format": {"quoting": "none"}}
    adapter |= {"columns": {"id": "file_id"}}
    corpus = {"root": "..", "manifest": "ref.trn", "exclude": exclude}
    suite(project, corpus, adapter, text={"normalizer": "plain"})
    run = apart(project)
    assert run.ret == 0, run.stdout
    kept = [found for call, found in calls.items() if f"test/{call}" not in exclude]
    assert len(kept) > 2
    assert errors(project) == (sum(found[0] for found in kept), sum(found[1] for found in kept))
