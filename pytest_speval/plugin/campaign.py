"""The suites of one session: loaded once, run once, summed up at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from pytest_speval.adapters.base import tamed
from pytest_speval.corpus.clips import Clips
from pytest_speval.corpus.collector import collector_paused
from pytest_speval.corpus.staging import Staged, Unstaged, stage
from pytest_speval.errors import EvidenceFault, Fault, FaultyFile
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.ending import Ending
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.plan import Question
from pytest_speval.evidence.store import by_subject, find_runs
from pytest_speval.plugin.answering import Answering, Blocked, Recalling
from pytest_speval.plugin.baselines import Baselines
from pytest_speval.plugin.comparison import with_inventories
from pytest_speval.plugin.joining import join
from pytest_speval.plugin.live import LiveRun
from pytest_speval.plugin.options import Settings
from pytest_speval.plugin.partners import Partners
from pytest_speval.plugin.replay import ABOUT_CLIPS, Recording, ReplayRun, recalled
from pytest_speval.plugin.run import Orders, Run
from pytest_speval.plugin.scrutiny import Scrutiny
from pytest_speval.plugin.subject import Subject
from pytest_speval.plugin.vetting import require_readable, vetting_names
from pytest_speval.plugin.words import Words
from pytest_speval.reports.summary import Entry, summary_document, summary_markdown
from pytest_speval.suite.gate import GateRule, merge_gates
from pytest_speval.suite.load import load_gates, load_suite, suite_name
from pytest_speval.suite.override import Override, parse_override
from pytest_speval.suite.secrets import Secrets
from pytest_speval.suite.suite import Suite
from pytest_speval.tasks.registry import TASKS

INVALID, FAILED = 6, 1


class Campaign:
    """All that a session knows of its suites."""

    def __init__(self, settings: Settings, words: Words) -> None:
        self.settings = settings
        self._words = words
        self._suites: dict[Path, Suite | FaultyFile] = {}
        self._staged: dict[Path, Staged | Unstaged] = {}
        self._runs: dict[str, Run] = {}
        self._recordings: dict[str, Recording] = {}
        self._askings: dict[str, Answering | Blocked] = {}
        self._baselines = Baselines(settings.environ)
        self.entries: list[Entry] = []
        self.problem: str | None = None

    def check(self) -> None:
        """Load every suite and gate file, before anything is collected.

        Raises `UsageFault` or `FaultyFile` for what makes the session as a whole unusable. Faults of a single suite
        are kept for its collection.
        """
        scrutiny = Scrutiny(self.settings, self.shown)
        scrutiny.check_files()
        scrutiny.check_names([suite for suite, _ in self._overrides])
        scrutiny.check_waivers(self.gates)
        suites = [suite for path in self.settings.suites if isinstance(suite := self._loaded(path), Suite)]
        scrutiny.check_together(suites, lambda name: bool(self._partners.faulty(name)))
        _ = self._replayed
        scrutiny.check_resumed(self._resumed)

    @cached_property
    def _overrides(self) -> list[tuple[str, Override]]:
        return [parse_override(text, self.settings.here) for text in self.settings.overrides]

    @cached_property
    def gates(self) -> tuple[GateRule, ...]:
        """The gates of all suites and gate files."""
        suites = [suite for path in self.settings.suites if isinstance(suite := self._loaded(path), Suite)]
        by_name = {suite.name: suite for suite in suites}
        faulty = {suite_name(path) for path in self.settings.suites} - by_name.keys()
        files, faults = [], []
        for path in self.settings.gates:
            try:
                files.append(load_gates(path, by_name, self._words.vocabulary, self.shown(path)))
            except FaultyFile as fault:
                faults += [one for one in fault.faults if not _about(one, faulty)]
        if faults:
            raise FaultyFile(faults)
        return merge_gates([rule for suite in suites for rule in suite.gates], files)

    def shown(self, path: Path) -> str:
        """A path as messages name it: relative to the rootdir where it lies below."""
        root = self.settings.rootdir
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def _loaded(self, path: Path) -> Suite | FaultyFile:
        if path not in self._suites:
            name = suite_name(path)
            overrides = [override for suite, override in self._overrides if suite == name]
            try:
                self._suites[path] = load_suite(path, self._words.vocabulary, overrides, self.shown(path))
            except FaultyFile as fault:
                self._suites[path] = fault
        return self._suites[path]

    @cached_property
    def secrets(self) -> Secrets:
        """What no artifact of this session may hold, whichever suite's adapter gives it away."""
        loaded = [self._loaded(path) for path in self.settings.suites]
        return Secrets.of([suite for suite in loaded if isinstance(suite, Suite)], self.settings.environ)

    def subjects(self, path: Path) -> list[Subject]:
        """The subjects of one suite file; raises `FaultyFile`."""
        suite = self._loaded(path)
        if isinstance(suite, FaultyFile):
            raise suite
        own = () if self.settings.worker else tuple(rule for rule in self.gates if rule.suite == suite.name)
        gates, baselines = self._baselines.found(suite, own)
        task = TASKS[suite.task]
        return [
            Subject(suite, title, keys, gates, task, self._words.factories[keys.use], self.secrets, baselines)
            for title, keys in suite.adapters
        ]

    def gate_ids(self, subject: Subject) -> tuple[str, ...]:
        """The ids of a subject's gates, in workers as the controller told them."""
        if self.settings.worker:
            return self.settings.gate_ids.get(subject.suite.name, ())
        return tuple(rule.id for rule in subject.gates)

    @cached_property
    def _replayed(self) -> Mapping[str, Sequence[Path]]:
        """Stored runs by subject; raises `UsageFault` for a place without any."""
        return by_subject(find_runs(self.settings.replay))

    @cached_property
    def _resumed(self) -> Mapping[str, Sequence[Path]]:
        """Runs to go on with, by subject."""
        return by_subject(find_runs(self.settings.resume))

    def listed(self, subject: Subject) -> Clips | Question | None:
        """The clips that a subject's items are made of; raises `FaultyFile` for a manifest that cannot serve."""
        if self.settings.replay:
            recording = self._recording(subject)
            recording.check_labels(subject)
            return recording.question
        staged = self.staged(subject)
        return staged.clips if isinstance(staged, Staged) else None

    def _recording(self, subject: Subject) -> Recording:
        """What is stored of a subject, read once."""
        if subject.name not in self._recordings:
            with collector_paused():
                self._recordings[subject.name] = Recording(self._replayed.get(subject.name, ()), subject.name)
        return self._recordings[subject.name]

    def staged(self, subject: Subject) -> Staged | Unstaged:
        """The corpus of a subject; raises `FaultyFile` for a manifest that cannot serve."""
        path = subject.suite.file
        if path not in self._staged:
            environ, suite = self.settings.environ, subject.suite
            with collector_paused():
                staged = stage(suite, subject.task.word, environ)
                if isinstance(staged, Staged) and not self.settings.worker:
                    staged = with_inventories(suite, staged, environ)
                    require_readable(suite, self.shown)
                self._staged[path] = staged
        return self._staged[path]

    def audit_names(self, subject: Subject) -> tuple[str, ...]:
        """The audits of a subject, in the order of their items."""
        if self.settings.replay:
            stored = [audit.name for run in self._recording(subject).runs[:1] for audit in run.audits]
            return subject.audit_names([name for name in stored if name in ABOUT_CLIPS])
        staged = self.staged(subject)
        return subject.audit_names(vetting_names(subject.suite, staged if isinstance(staged, Staged) else None))

    def run(self, subject: Subject) -> Run:
        """The run of a subject in the process that judges it."""
        if subject.name not in self._runs:
            self._runs[subject.name] = self._new_run(subject)
            self._runs[subject.name].sign = self.settings.sign
            self._runs[subject.name].partners = lambda: self._partners.of(subject)
        return self._runs[subject.name]

    def _new_run(self, subject: Subject) -> Run:
        settings = self.settings
        if settings.replay:
            return ReplayRun(subject, self._recording(subject), settings.out, settings.environ)
        (resumed,) = self._resumed.get(subject.name) or (None,)
        return LiveRun(
            subject,
            self.staged(subject),
            settings.out,
            settings.environ,
            settings.shard,
            resumed,
            ledger=settings.ledger,
            authorised=subject.suite.name in settings.spend,
            release=settings.release,
        )

    @property
    def _partners(self) -> Partners:
        loaded = {path: self._loaded(path) for path in self.settings.suites}
        return Partners(loaded, self.subjects, self._runs)

    def orders_path(self, subject: Subject, folder: Path) -> Path:
        """Where the controller leaves a subject's orders."""
        return folder / f"{subject.name}.json"

    def ask(self, subject: Subject, places: Sequence[int]) -> dict[int, Ending]:
        """Ask clips of a subject in this process; raises `Blocked`."""
        if self.settings.worker is None:
            run = self.run(subject)
            reason = run.skipped or run.blocked
            if reason is not None:
                raise Blocked(reason)
            return run.ask(places)
        if subject.name not in self._askings:
            self._askings[subject.name] = self._joined(subject)
        asking = self._askings[subject.name]
        if isinstance(asking, Blocked):
            raise asking
        return asking.ask(places)

    def _joined(self, subject: Subject) -> Answering | Blocked:
        """Join a run once; what prevents it is remembered, so that no adapter is started again for every item."""
        try:
            return self._join(subject)
        except Blocked as blocked:
            return blocked
        except BaseException as error:
            found = f"{self.settings.worker} could not start the adapter: {tamed(error)}"
            return Blocked(self.secrets.redact_cut(found))

    def _join(self, subject: Subject) -> Answering:
        folder, worker = self.settings.orders, self.settings.worker
        if folder is None or worker is None:
            raise Blocked("the controller left no orders")
        orders = Orders.read(self.orders_path(subject, folder))
        if orders.blocked:
            raise Blocked(orders.blocked)
        if self.settings.replay:
            return Recalling(recalled(self._recording(subject), RunFolder(Path(orders.folder))))
        staged = self.staged(subject)
        if not isinstance(staged, Staged):
            raise Blocked("the controller left no orders")
        return join(subject, staged, orders, worker, self.settings.environ)

    def close(self) -> None:
        """End every adapter of a worker."""
        for asking in self._askings.values():
            if not isinstance(asking, Blocked):
                with suppress(EvidenceFault):  # what was not written is unknown to the controller, and so invalid
                    asking.close()

    def finish(self, subjects: Iterable[Subject]) -> None:
        """Judge what has not been judged, and write the summary."""
        with collector_paused():
            self.entries = [self.run(subject).finish(partial=self.settings.partial) for subject in subjects]
        left = sorted(self._resumed.keys() - self._runs.keys())
        if left:
            self.problem = f"--speval-resume names a run of {', '.join(left)}, which is not in this session"
        elif self.settings.release and not self.entries:
            self.problem = "--speval-release asks for a verdict, and no suite is in this session"
        if not any(entry.folder for entry in self.entries):
            return
        out = self.settings.out
        out.mkdir(parents=True, exist_ok=True)
        names = {entry.suite.partition("[")[0] for entry in self.entries}
        now = {entry.folder for entry in self.entries}
        document = summary_document(self.entries, {name: self._earlier(name, now) for name in names})
        write_whole(out / "summary.json", canonical(document) + b"\n")
        write_whole(out / "summary.md", summary_markdown(document).encode())

    def _earlier(self, suite: str, now: Collection[str | None]) -> list[str]:
        """The folders of a suite's earlier runs, oldest first."""
        out = self.settings.out
        folders = (path.parent.relative_to(out).as_posix() for path in sorted((out / suite).glob("*/plan.json")))
        return [folder for folder in folders if folder not in now]

    def exit_status(self, status: int) -> int:
        """What pytest's 0 or 1 becomes: 6 when anything is invalid, 1 when a blocking gate fails."""
        if status not in (0, 1) or self.settings.partial:
            return status
        if self.problem or any(entry.verdict == "invalid" for entry in self.entries):
            return INVALID
        return FAILED if any(entry.verdict == "fail" for entry in self.entries) else status

    def notices(self) -> list[str]:
        """Stored runs that were named and belong to no suite of this session."""
        spare = [path for name, paths in self._replayed.items() if name not in self._runs for path in paths]
        return [f"not used: {self.shown(path)}" for path in spare]

    def results(self) -> list[Run]:
        """The runs of this session that were judged."""
        return [run for run in self._runs.values() if run.result is not None]


def _about(fault: Fault, faulty: Iterable[str]) -> bool:
    """Say whether a gate's fault is only that its suite file is faulty itself, which its collection will tell."""
    return fault.code == "unknown-suite" and any(f"`{name}`" in fault.message for name in faulty)
