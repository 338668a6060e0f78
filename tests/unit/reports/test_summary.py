"""The summary lists every run of a session, failed ones too."""

from __future__ import annotations

import json

from pytest_speval.evidence.canonical import canonical
from pytest_speval.reports.document import out_document
from pytest_speval.reports.summary import Entry, summary_document, summary_markdown
from tests.runs import FAILED, TIMES, Clip, gate, judged, said

GOOD = out_document(judged([Clip("c", "sad", said("sad"))], ("happy", "sad"), gate(min=0.5)), TIMES)
LOST = out_document(judged([Clip("c", "sad", FAILED)], ("happy", "sad"), gate(min=0.5)), TIMES)
ENTRIES = [
    Entry("voice", "voice/1", "pass", None, GOOD),
    Entry("lost", "lost/1", "invalid", "accuracy is undefined: no clip came back", LOST),
    Entry("meld", None, "skipped", "set SPEVAL_MELD", None),
    Entry("broken", "broken/1", "invalid", "integrity: main.jsonl, line 3 | <b>", None),
]
EARLIER = {"voice": ["voice/0"], "lost": [], "alpha": ["alpha/0", "alpha/1"]}


def test_every_entry_stands_in_the_order_it_ran() -> None:
    document = summary_document(ENTRIES, EARLIER)
    assert document["schemaVersion"] == 1
    assert [(run["suite"], run["verdict"], run["reason"]) for run in document["runs"]] == [
        (entry.suite, entry.verdict, entry.reason) for entry in ENTRIES
    ]
    voice, lost, meld, _ = document["runs"]
    assert (voice["model"], voice["headline"], voice["value"]) == ("small-net", "macro_f1", 1.0)
    assert voice["counts"]["planned"] == 1
    assert voice["gates"] == [
        {"id": "accuracy-gate", "metric": "accuracy", "value": 1.0, "verdict": "pass", "reason": None}
    ]
    assert (lost["value"], lost["gates"][0]["verdict"]) == (None, "invalid")
    assert (meld["model"], meld["value"], meld["counts"], meld["gates"], meld["folder"]) == (
        None,
        None,
        None,
        [],
        None,
    )
    assert json.loads(canonical(document)) == document


def test_earlier_runs_are_listed_by_suite() -> None:
    assert list(summary_document(ENTRIES, EARLIER)["earlier"].items()) == [
        ("alpha", ["alpha/0", "alpha/1"]),
        ("voice", ["voice/0"]),
    ]


def test_the_page_shows_every_run() -> None:
    page = summary_markdown(summary_document(ENTRIES, EARLIER))
    assert page == (
        "# Session\n\n"
        "| suite | verdict | headline | value | planned | reason | folder |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| voice | pass | macro\\_f1 | 1.0000 | 1 |  | voice/1 |\n"
        "| lost | invalid | macro\\_f1 | — | 1 | accuracy is undefined: no clip came back | lost/1 |\n"
        "| meld | skipped | — | — | — | set SPEVAL\\_MELD | — |\n"
        "| broken | invalid | — | — | — | integrity: main.jsonl, line 3 \\| &lt;b&gt; | broken/1 |\n"
        "\n"
        "## Earlier runs of alpha\n\n- alpha/0\n- alpha/1\n\n"
        "## Earlier runs of voice\n\n- voice/0\n"
    )


def test_a_session_without_runs_is_a_page_too() -> None:
    assert summary_markdown(summary_document([], {})).startswith("# Session\n\n| suite |")
