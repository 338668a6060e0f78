"""The receipt: the last file of a run, which ties its verdict, plan and evidence together.

It is an in-toto Statement v1 (https://in-toto.io/Statement/v1) about every other file of the run folder, in an envelope
that is signed where the user gives a key. It holds nothing that a verifier cannot rebuild: no times, hosts or paths.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.audit.fit import sha256_of
from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.arrays import FOLDER
from pytest_speval.evidence.canonical import digest, value_of
from pytest_speval.evidence.envelope import Envelope, open_envelope, public_key_of, seal, statement
from pytest_speval.evidence.folder import RunFolder, write_whole
from pytest_speval.evidence.journal import Head
from pytest_speval.evidence.plan import Plan

CODES = {
    "receipt-damaged": "A receipt is not what was written.",
    "receipt-unfit": "Stored evidence is not what the receipt beside it was written for.",
    "receipt-unwritable": "A run's receipt cannot be written or signed.",
}
NAME = "receipt.json"
RESULTS = ("clips.jsonl", "out.json", "report.md")
EVIDENCE = frozenset({"plan.json", "audits.json"})
"""What a result is derived from, beside the journals."""
TYPE = "urn:pytest-speval:receipt:1"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The file of a private key, and its public half in hex."""

    file: Path
    public_key: str

    @classmethod
    def of(cls, file: Path) -> SigningKey:
        """Look at a key; raises `UsageFault` for one that cannot sign, `MissingExtra` without cryptography."""
        return cls(file, public_key_of(file))

    @property
    def keyid(self) -> str:
        """The name by which reports and signatures call the key."""
        return keyid_of(self.public_key)


def keyid_of(public_key: str) -> str:
    """The SHA-256 of a raw public key, which is given in hex."""
    return hashlib.sha256(bytes.fromhex(public_key)).hexdigest()


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is said of a run.

    `files` maps the name of every other file below the run folder to its SHA-256, `journals` the names of the journals
    among them to where they end. `public_key` is raw, in hex, and None where nobody signs.
    """

    suite: str
    title: str | None
    verdict: str
    reason: str | None
    question_sha256: str
    plan_sha256: str
    journals: Mapping[str, Head]
    files: Mapping[str, str]
    public_key: str | None

    @classmethod
    def of(cls, folder: RunFolder, plan: Plan, verdict: str, reason: str | None, public_key: str | None) -> Receipt:
        """The receipt of a folder as it is now."""
        files = dict(plain_files(folder.path))
        journals = {name: Head.of(path.read_bytes()) for name, path in files.items() if is_journal(name)}
        return cls(
            plan.suite,
            plan.title,
            verdict,
            reason,
            plan.question.digest,
            plan.digest,
            journals,
            {name: sha256_of(path) for name, path in files.items()},
            public_key,
        )

    @classmethod
    def read(cls, data: bytes) -> tuple[Receipt, Envelope]:
        """Read a receipt back, with the envelope that may hold a signature; its signature is not checked.

        Raises `EvidenceFault` `envelope-damaged` or `receipt-damaged` for anything that is not, byte for byte, what
        was written.
        """
        envelope = open_envelope(data)
        try:
            receipt = cls._of_statement(value_of(envelope.payload))
            if receipt.statement() != envelope.payload:
                raise ValueError("another layout")
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceFault("receipt-damaged", "what the receipt says is not what was written") from error
        return receipt, envelope

    @classmethod
    def _of_statement(cls, said: Mapping[str, Any]) -> Receipt:
        told = said["predicate"]
        if told["schemaVersion"] != SCHEMA:
            message = f"the receipt has schema {told['schemaVersion']}, and this version reads {SCHEMA}"
            raise EvidenceFault("receipt-damaged", message)
        return cls(
            told["suite"],
            told["title"],
            told["verdict"],
            told["reason"],
            told["questionSha256"],
            told["planSha256"],
            {name: Head(int(head["lines"]), _hex(head["sha256"])) for name, head in told["journals"].items()},
            {str(subject["name"]): _hex(subject["digest"]["sha256"]) for subject in said["subject"]},
            None if told["publicKey"] is None else _hex(told["publicKey"]),
        )

    @property
    def keyid(self) -> str | None:
        """The key that it names as its own, as reports call it."""
        return None if self.public_key is None else keyid_of(self.public_key)

    def predicate(self) -> dict[str, Any]:
        """What is said beside the digests of files."""
        return {
            "schemaVersion": SCHEMA,
            "suite": self.suite,
            "title": self.title,
            "verdict": self.verdict,
            "reason": self.reason,
            "questionSha256": self.question_sha256,
            "planSha256": self.plan_sha256,
            "journals": {name: {"lines": head.lines, "sha256": head.sha256} for name, head in self.journals.items()},
            "publicKey": self.public_key,
        }

    def statement(self) -> bytes:
        """The in-toto statement; `receiptSha256` is the digest of all else that it says, so that damage shows."""
        told = self.predicate()
        told["receiptSha256"] = digest([told, self.files])
        return statement(self.files, TYPE, told)


def write_receipt(folder: RunFolder, plan: Plan, verdict: str, reason: str | None, key: SigningKey | None) -> None:
    """Seal a finished run folder; nothing in it may change after this.

    Raises `EvidenceFault` where the receipt cannot be written, or the key is not the one it was.
    """
    try:
        receipt = Receipt.of(folder, plan, verdict, reason, None if key is None else key.public_key)
        if key is not None and public_key_of(key.file) != key.public_key:
            raise EvidenceFault("receipt-unwritable", f"the key {key.file} is not the one it was when the run began")
        write_whole(folder.path / NAME, seal(receipt.statement(), None if key is None else key.file))
    except (OSError, ValueError, UsageFault) as error:
        raise EvidenceFault("receipt-unwritable", f"cannot write the receipt of {folder.path}: {error}") from error


def withdraw_receipt(folder: RunFolder) -> None:
    """Take away the receipt of a run that goes on, and then its results: they will not fit any more."""
    try:
        for name in (NAME, *RESULTS):
            (folder.path / name).unlink(missing_ok=True)
    except OSError as error:
        message = f"cannot take away the receipt of {folder.path}: {error.strerror}"
        raise EvidenceFault("receipt-unwritable", message) from error


def check_evidence(folder: RunFolder) -> None:
    """Hold plan, audits, journals and arrays against the receipt, if any; raises `EvidenceFault` `receipt-unfit`.

    Nothing else vouches for the last line of a journal. A run that was killed has no receipt.
    """
    path = folder.path / NAME
    if not path.exists():
        return
    receipt, _ = Receipt.read(path.read_bytes())
    here = dict(plain_files(folder.path))
    told = {name for name in receipt.files if _is_told(name) or name in EVIDENCE}
    for name in sorted(told | {name for name in here if _is_told(name)}):
        if name not in here or name not in receipt.files or sha256_of(here[name]) != receipt.files[name]:
            raise EvidenceFault("receipt-unfit", f"{folder.name}/{name} is not what the run's receipt was written for")


def _is_told(name: str) -> bool:
    """Say whether a file holds what a model answered."""
    return is_journal(name) or name.startswith(f"{FOLDER}/")


def _hex(text: Any) -> str:
    """32 bytes in hex; raises `ValueError` for anything else."""
    if not isinstance(text, str) or not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError(f"{text!r} is no 64 hex digits")
    return text


def is_journal(name: str) -> bool:
    """Say whether a file of a run folder is a journal, by its name there."""
    return name.startswith("journal/") and name.endswith(".jsonl")


def plain_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file below a run folder but the receipt, with its name there, by name; links and the like are left out."""
    found = [Path(where) / name for where, _, names in os.walk(folder) for name in names]
    named = {path.relative_to(folder).as_posix(): path for path in found if path.is_file() and not path.is_symlink()}
    yield from sorted((name, path) for name, path in named.items() if name != NAME)
