"""How a worker enters a run that the controller began."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_speval.adapters.base import warm_up
from pytest_speval.adapters.manifest_outcomes import ManifestOutcomes
from pytest_speval.corpus.staging import Staged, contract
from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.journal import is_written
from pytest_speval.evidence.plan import Question
from pytest_speval.evidence.store import known_endings
from pytest_speval.plugin.asking import Asking
from pytest_speval.plugin.hearing import Hearing
from pytest_speval.plugin.paying import purse_from
from pytest_speval.plugin.run import Orders
from pytest_speval.plugin.subject import Subject


class Others:
    """The other writers of a run: what a worker that died has entered is nobody's to ask again."""

    def __init__(self, question: Question, folder: RunFolder) -> None:
        self._question = question
        self._folder = folder
        self._seen = {path for path in folder.journal_files() if not is_written(path)}

    def ended(self) -> dict[int, Ending] | None:
        """How clips ended elsewhere, once a writer has gone since the last look; None where all are as they were."""
        files = set(self._folder.journal_files())
        gone = {path for path in files - self._seen if not is_written(path)}
        self._seen |= gone
        return known_endings(self._question, self._folder) if gone else None


def join(subject: Subject, staged: Staged, orders: Orders, worker: str, environ: Mapping[str, str]) -> Asking:
    """Enter a run that the controller began: the same clips, an adapter and a journal of this process."""
    clips = staged.clips
    if clips.manifest_sha256 != orders.manifest:
        raise EvidenceFault("manifest-changed", "the manifest is not the one that the controller read")
    question = Question(
        task=subject.task.word.name,
        corpus={},
        adapter={"recorded": orders.recorded},
        splits=clips.splits,
        ids=clips.ids,
        split_given=clips.split_given,
        cells={},
        excluded=[orders.excluded.get(place) for place in range(len(clips))],
        condemned=orders.condemned,
        abstains=frozenset(orders.abstains),
        batch=subject.suite.keys.run.batch,
    )
    folder = RunFolder(Path(orders.folder))
    others = Others(question, folder)
    known = known_endings(question, folder)
    adapter = subject.build(environ)
    if isinstance(adapter, ManifestOutcomes):
        adapter.take(clips)
    bound = contract(subject.suite.keys.corpus.audio, getattr(adapter, "sample_rate", None)) if orders.heard else None
    hearing = Hearing(staged.root, clips.audio, bound, orders.bytes_sha256)
    facts = warm_up(adapter)
    asking = Asking(
        question,
        subject.task,
        adapter,
        hearing,
        folder.new_journal(worker),
        facts,
        asked=None if orders.asked is None else frozenset(orders.asked),
        timeout=subject.suite.keys.run.timeout,
        secrets=subject.secrets,
        purse=purse_from(orders.purse, subject.suite.keys.run.budget),
        room=orders.room,
        ended=others.ended,
    )
    asking.remember(known, orders.again)
    return asking
