"""Results made elsewhere in whole sessions: transcripts of recognisers as their own tools write them."""

from __future__ import annotations

import csv
import json
import re
import sys
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


def leaving(project: Project, word: str, what: str) -> None:
    """A normaliser that leaves at a word, which only the references or only the answers have."""
    (project.path / "ref.csv").write_text("id,transcript\nu1,na\nu2,a dog\n")
    (project.path / "hyp.csv").write_text("id,text\nu1,na\nu2,a cat\n")
    gates = {"words": {"metric": "wer", "max": 0.9, "why": "As before."}}
    suite(
        project, {"root": "..", "manifest": "ref.csv"}, {"file": "../hyp.csv"}, text={"normalizer": "plain"},
        gates=gates,
    )  # fmt: skip
    offer(project, leaves_at(word, what))


def leaves_at(word: str, what: str) -> str:
    return f"import sys\nimport pytest\n\ndef plain(text):\n    if {word!r} in text:\n        {what}\n    return text\n"


LEAVING = ["sys.exit(0)", "pytest.skip('x')", "pytest.exit('x', 0)", "raise GeneratorExit"]


@pytest.mark.parametrize("what", LEAVING)
def test_a_normalizer_that_leaves_at_an_answer_gives_no_verdict(project: Project, what: str) -> None:
    leaving(project, "cat", what)
    run = apart(project)
    assert run.ret == 6, run.stdout
    assert "the normalizer `plain` raised" in str(run.stdout)
    assert project.documents("words") == []


def test_a_normalizer_that_leaves_gives_no_verdict_to_many_workers(project: Project) -> None:
    leaving(project, "cat", "sys.exit(0)")
    assert apart(project, "-n", "2").ret == 6


@pytest.mark.parametrize("what", LEAVING)
@pytest.mark.parametrize("arguments", [(), ("--speval-release",), ("-n", "2")])
def test_a_normalizer_that_leaves_at_a_reference_is_an_error_of_collection(
    project: Project, what: str, arguments: tuple[str, ...]
) -> None:
    leaving(project, "dog", what)
    run = apart(project, *arguments)
    assert run.ret == 2, f"{run.stdout}{run.stderr}"
    assert "ref.csv:3: the normalizer `plain` raised" in str(run.stdout)


def test_half_a_character_from_a_normalizer_gives_no_verdict(project: Project) -> None:
    leaving(project, "cat", r"return '\ud800'")
    run = apart(project)
    assert run.ret == 6
    assert r"the normalizer `plain` returned '\ud800'" in str(run.stdout)


@pytest.mark.parametrize("what", LEAVING)
@pytest.mark.parametrize("hook", ["normalizers", "adapters"])
def test_a_hook_that_leaves_is_a_usage_error(project: Project, hook: str, what: str) -> None:
    spoken(project)
    offer(project, conftest=f"import pytest, sys\n\ndef pytest_speval_{hook}():\n    {what}\n")
    run = apart(project)
    assert run.ret == 4, f"{run.stdout}{run.stderr}"
    assert f"pytest_speval_{hook} raised" in f"{run.stdout}{run.stderr}"


# --- the command, in a folder with a conftest.py


def speval(project: Project, *arguments: str) -> tuple[int, str]:
    """Exit status and words of the command in a process of its own, which does not find modules of its folder."""
    call = "from pytest_speval.command import main; raise SystemExit(main())"
    run = project.pytester.run(sys.executable, "-P", "-c", call, *arguments)
    return int(run.ret), f"{run.stdout}{run.stderr}"


def test_the_command_runs_the_example_of_the_docs(project: Project) -> None:
    spoken(project)
    offer(project)
    assert apart(project).ret == 0
    folder = str(project.folder("words"))
    assert speval(project, "check", "suites/words.yaml") == (0, "1 of 1 files are good")
    status, told = speval(project, "verify", folder)
    assert status == 0, told
    assert speval(project, "prove", folder)[0] in (0, 1)
    offer(project, leaves_at("no", "sys.exit(0)") + "\nplain.version = '1'\n")
    assert speval(project, "verify", folder)[0] == 1, "another normaliser"


@pytest.mark.parametrize(("act", "ends"), [("verify", 1), ("prove", 2)])
def test_the_command_says_that_a_normalizer_left(project: Project, act: str, ends: int) -> None:
    leaving(project, "cat", "if len(open('left').read()):\n            sys.exit(0)")
    (project.path / "left").write_text("")
    assert apart(project).ret == 0
    (project.path / "left").write_text("now")
    status, told = speval(project, act, str(project.folder("words")))
    assert status == ends
    assert "the normalizer `plain` raised SystemExit for `a cat`: 0 [normalizer-failed]" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("act", [("check", "suites/words.yaml"), ("verify", ".")])
@pytest.mark.parametrize(
    ("conftest", "told"),
    [
        ("import sys\nsys.exit(0)\n# pytest_speval_normalizers", "conftest.py:2: it raised SystemExit: 0"),
        ("import no_such\n# pytest_speval_normalizers", "conftest.py:1: it raised ModuleNotFoundError: No module"),
        ("# pytest_speval_normalizers\ndef", "conftest.py: it raised SyntaxError: invalid syntax"),
        ("def pytest_speval_normalizers():\n    raise SystemExit", "pytest_speval_normalizers raised SystemExit"),
    ],
)
def test_the_command_says_what_a_conftest_raises(
    project: Project, act: tuple[str, ...], conftest: str, told: str
) -> None:
    spoken(project)
    (project.path / "conftest.py").write_text(conftest)
    status, said = speval(project, *act)
    assert status == 2
    assert said.startswith(f"speval: {told}"), said
    assert "Traceback" not in said


def test_the_command_leaves_the_search_path_as_it_was(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken(project)
    offer(project, conftest="")
    monkeypatch.chdir(project.path)
    before = [*sys.path]
    assert main(["check", "suites/words.yaml"]) == 1
    assert sys.path == before


# --- references are no answers


def test_the_manifest_cannot_answer_itself(project: Project) -> None:
    (project.path / "ref.csv").write_text("id,words,heard\na,red bus,red bus\nb,stop,stop\n")
    corpus = {"root": "..", "manifest": "ref.csv", "columns": {"transcript": "words"}}
    suite(project, corpus, {"file": "../ref.csv", "columns": {"text": "words"}})
    run = project.run()
    assert run.ret == 6
    assert "`words` of ref.csv holds the references: every answer would be right" in str(run.stdout)
    assert "[predictions-references]" in str(run.stdout)
    suite(project, corpus, {"file": "../ref.csv", "columns": {"text": "heard"}})
    assert project.run().ret == 0


def test_the_text_of_nemo_is_no_answer_to_itself(project: Project) -> None:
    (project.path / "out.jsonl").write_text('{"audio_filepath": "a", "text": "red", "pred_text": "red"}\n')
    corpus = {"root": "..", "manifest": "out.jsonl", "columns": {"id": "audio_filepath", "transcript": "text"}}
    suite(project, corpus, {"file": "../out.jsonl", "columns": {"id": "audio_filepath", "text": "text"}})
    run = project.run()
    assert run.ret == 6
    assert "`text` of out.jsonl holds the references" in str(run.stdout)


@pytest.mark.parametrize(
    ("keys", "columns", "role"),
    [
        ({"task": "emotion", "labels": {"set": ["yes", "no"]}}, {}, "label"),
        ({"task": "mos"}, {"value": "rating"}, "rating"),
        ({"task": "affect"}, {"valence": "v", "arousal": "a", "dominance": "d"}, "v"),
    ],
)
def test_no_manifest_of_any_task_answers_itself(
    project: Project, keys: dict[str, Any], columns: dict[str, str], role: str
) -> None:
    (project.path / "clips.csv").write_text(
        "id,label,rating,v,a,d\na,yes,3,0.1,0.2,0.3\nb,no,4,0.4,0.3,0.1\nc,no,1,0.9,0.5,0.2\n"
    )
    axes = {axis: {"column": axis[0], "range": [0, 1]} for axis in ("valence", "arousal", "dominance")}
    corpus = {"root": "..", "manifest": "clips.csv", "columns": axes}
    suite(project, corpus, {"file": "../clips.csv", "columns": columns}, **keys)
    run = project.run()
    assert run.ret == 6, run.stdout
    assert f"`{role}` of clips.csv holds the references" in str(run.stdout)


def test_a_copy_of_the_references_is_noted(project: Project) -> None:
    for name in ("ref.trn", "hyp.trn"):
        (project.path / name).write_text("red bus (a)\n")
    suite(project, {"root": "..", "manifest": "ref.trn"}, {"file": "../hyp.trn"})
    assert project.run().ret == 0, "a good recogniser may write this"
    audits = json.loads((project.folder("words") / "audits.json").read_text())
    found = [finding["code"] for audit in audits for finding in audit["findings"]]
    assert "predictions-copy" in found


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
