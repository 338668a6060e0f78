"""What lies in a run folder, and what its receipt says should lie there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_speval.audit.fit import sha256_of
from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.envelope import Envelope, Signer, check_signature
from pytest_speval.evidence.receipt import NAME, RESULTS, Receipt, is_journal, plain_files
from pytest_speval.verify.finding import Finding

CODES = {
    "receipt-missing": "A run folder has no receipt: its run was not finished, or the receipt was taken away.",
    "file-missing": "A file of a run folder is not there.",
    "file-unexpected": "A file lies in a run folder that its receipt does not know.",
    "file-changed": "A file is not the one that the receipt was written for.",
    "not-plain": "Something in a run folder is neither a plain file nor a folder.",
    "unsigned": "A receipt is not signed: anyone could have written it.",
    "signed": "A receipt is signed; says with which key, and whether the reader gave that key.",
}

PLAN, AUDITS = "plan.json", "audits.json"


@dataclass(frozen=True)
class Contents:
    """The files of a run folder by name, without the receipt, and the receipt where it can be read."""

    folder: Path
    files: Mapping[str, Path]
    receipt: Receipt | None

    @classmethod
    def look(cls, folder: Path, key: Path | None) -> tuple[Contents, list[Finding]]:
        """Look into a folder; the findings are about the receipt, whose signature is checked."""
        files = dict(plain_files(folder))
        try:
            data = (folder / NAME).read_bytes()
        except FileNotFoundError:
            message = "there is none: the run was not finished, or its receipt was taken away"
            return cls(folder, files, None), [Finding("error", "receipt-missing", message, NAME)]
        except OSError as error:
            unread = Finding("error", "receipt-damaged", f"cannot be read: {error.strerror}", NAME)
            return cls(folder, files, None), [unread]
        try:
            receipt, envelope = Receipt.read(data)
        except EvidenceFault as fault:
            return cls(folder, files, None), [Finding("error", "receipt-damaged", fault.message, NAME)]
        return cls(folder, files, receipt), [_signature(receipt, envelope, key)]

    @cached_property
    def sha256(self) -> Mapping[str, str]:
        """Name -> SHA-256 of every file."""
        return {name: sha256_of(path) for name, path in self.files.items()}

    @cached_property
    def changed(self) -> frozenset[str]:
        """The files that are not those the receipt was written for."""
        told = {} if self.receipt is None else self.receipt.files
        return frozenset(name for name, digest in self.sha256.items() if name in told and told[name] != digest)

    @property
    def journals(self) -> dict[str, Path]:
        """The journals by name; one that the receipt does not know is none."""
        told = self.files if self.receipt is None else self.receipt.files
        return {name: path for name, path in self.files.items() if is_journal(name) and name in told}

    def good(self, name: str) -> bool:
        """Say whether a file is there and nothing speaks against it yet."""
        return name in self.files and name not in self.changed

    def text(self, name: str) -> bytes:
        """A file's bytes, empty where it is missing."""
        return self.files[name].read_bytes() if name in self.files else b""

    @property
    def missing(self) -> list[str]:
        """The files that should be there and are not, by name; without a receipt results need not be there yet."""
        told = {PLAN, AUDITS} if self.receipt is None else {PLAN, AUDITS, *RESULTS, *self.receipt.files}
        return sorted(told - self.files.keys())

    def altered(self, but: Collection[str]) -> list[Finding]:
        """A finding for each changed file about which no other says more; those of evidence have their own."""
        names = (name for name in sorted(self.changed) if name not in but and not is_source(name))
        return [Finding("error", "file-changed", "not what was written", name) for name in names]

    def strays(self, but: Collection[str] = ()) -> Iterator[Finding]:
        """What is there and should not be, or should be there and is not, but for files that are told of already."""
        for name in (name for name in self.missing if name not in but):
            yield Finding("error", "file-missing", "is not there", name)
        for name in sorted(self.files.keys() - self.receipt.files.keys()) if self.receipt is not None else ():
            yield Finding("error", "file-unexpected", "is not in the receipt", name)
        for where, folders, names in os.walk(self.folder):
            for path in sorted(Path(where) / name for name in (*folders, *names)):
                if path.is_symlink() or not (path.is_file() or path.is_dir()):
                    name = path.relative_to(self.folder).as_posix()
                    yield Finding("error", "not-plain", "is neither a plain file nor a folder", name)


def is_source(name: str) -> bool:
    """Say whether a result rests on a file of a run folder."""
    return name in (PLAN, AUDITS) or is_journal(name)


def _signature(receipt: Receipt, envelope: Envelope, key: Path | None) -> Finding:
    try:
        signer = check_signature(envelope, key, receipt.public_key)
    except EvidenceFault as fault:
        return Finding("error", fault.code, fault.message, NAME)
    except MissingExtra as fault:
        if key is not None:
            raise
        return Finding("notice", "signed", f"the signature was not checked: {fault.message}", NAME)
    return _told(signer)


def _told(signer: Signer) -> Finding:
    if signer.keyid is None:
        return Finding("notice", "unsigned", "unsigned: anyone could have written it", NAME)
    how = "the key you gave" if signer.known else "the key that the receipt itself names: compare it, or give --key"
    return Finding("notice", "signed", f"signed by {signer.keyid}, {how}", NAME)
