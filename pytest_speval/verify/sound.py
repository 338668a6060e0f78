"""The sound of a run, held against the digests in its plan."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pytest_speval.corpus.audio import decode, read_bytes
from pytest_speval.corpus.entry import resolve_entry
from pytest_speval.errors import AudioFault, MissingExtra, UsageFault
from pytest_speval.evidence.plan import Question
from pytest_speval.verify.finding import Finding

CODES = {
    "sound-root": "`--audio` names no folder.",
    "sound-unusable": "A sound file of a run is missing, cannot be read or decoded, or lies outside the folder.",
    "sound-differs": "A sound file is not the one that the run was about.",
    "sound-compared": "How many sound files of a run are those that it was about.",
}
LOSSY = ("MPEG", "VORBIS", "OPUS")
"""Beginnings of subtypes whose samples depend on the decoder's version."""


def compare_sound(question: Question, root: Path) -> list[Finding]:
    """Hash and decode the files below a folder; one that the run itself could not read has no digest to hold.

    Raises `UsageFault` where the folder is none.
    """
    if not root.is_dir():
        raise UsageFault("sound-root", f"--audio {root} is no folder")
    findings: list[Finding] = []
    heard = [place for place, digest in enumerate(question.bytes_sha256) if digest is not None]
    undecoded = 0
    for place in heard:
        try:
            found = _compared(question, place, root)
        except AudioFault as fault:
            found = _finding(question, place, "sound-unusable", fault.message)
        except MissingExtra:
            found, undecoded = None, undecoded + 1
        findings += [] if found is None else [found]
    if not question.entries:
        return [Finding("notice", "sound-compared", "this run heard no sound")]
    told = f"{len(heard) - len(findings):,} of {len(question.entries):,} sound files are those of the plan"
    told += f", {undecoded:,} of them by their bytes alone: soundfile is not installed" if undecoded else ""
    return [*findings, Finding("notice", "sound-compared", told)]


def _compared(question: Question, place: int, root: Path) -> Finding | None:
    """Bytes first, then samples; raises `AudioFault`, and `MissingExtra` where the bytes are right."""
    entry = question.entries[place]
    data = read_bytes(resolve_entry(root, entry))
    if hashlib.sha256(data).hexdigest() != question.bytes_sha256[place]:
        return _finding(question, place, "sound-differs", "has other bytes than the file that was asked about")
    sound = decode(data, entry)
    if sound.samples_sha256 == question.samples_sha256[place]:
        return None
    lossy = " (another decoder?)" if sound.subtype.startswith(LOSSY) else ""
    return _finding(question, place, "sound-differs", f"has the right bytes and decodes to other samples{lossy}")


def _finding(question: Question, place: int, code: str, message: str) -> Finding:
    return Finding("error", code, message, question.entries[place], f"clip {question.name(place)}")
