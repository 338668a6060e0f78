"""The envelope of a receipt: a statement, and the word of whoever holds a key that it is unaltered.

An in-toto Statement v1 in a DSSE envelope (https://github.com/secure-systems-lab/dsse), signed with Ed25519 where the
user gives a key. Reading is stricter than DSSE asks: an envelope must be byte for byte what `seal` writes, so that no
change goes unseen.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_speval.errors import EvidenceFault
from pytest_speval.evidence.canonical import canonical, value_of
from pytest_speval.evidence.key import private_key, public_key, require_cryptography

CODES = {
    "envelope-damaged": "A receipt's envelope is not what was written.",
    "envelope-unsigned": "A receipt that should be signed is not.",
    "signature-wrong": "A receipt's signature does not fit what it stands under.",
    "signature-by-another": "A receipt was signed with another key than the one it is checked against.",
    "signature-unchecked": "A signed receipt carries no public key, and none was given.",
}
PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"


@dataclass(frozen=True, slots=True)
class Signature:
    """`keyid` is the SHA-256 of the raw public key, `sig` 64 bytes."""

    keyid: str
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload and at most one signature."""

    payload: bytes
    signatures: tuple[Signature, ...]

    def as_bytes(self) -> bytes:
        """Canonical JSON and a line end."""
        content = {
            "payload": b64encode(self.payload).decode(),
            "payloadType": PAYLOAD_TYPE,
            "signatures": [{"keyid": each.keyid, "sig": b64encode(each.sig).decode()} for each in self.signatures],
        }
        return canonical(content) + b"\n"


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed: `keyid` is None where nobody did; `known` says that it was checked against a key the reader gave."""

    keyid: str | None
    known: bool

    def __str__(self) -> str:
        if self.keyid is None:
            return "not signed"
        return f"signed by {self.keyid}" + ("" if self.known else ", not checked against a key you gave")


def statement(subjects: Mapping[str, str], predicate_type: str, predicate: Mapping[str, Any]) -> bytes:
    """An in-toto Statement v1 about files, name -> SHA-256, as canonical JSON."""
    return canonical(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(subjects.items())],
            "predicateType": predicate_type,
            "predicate": predicate,
        }
    )


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding."""
    name = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def seal(payload: bytes, key: Path | None) -> bytes:
    """The envelope of a payload, signed if there is a key: PKCS8 in PEM, not encrypted.

    Raises `UsageFault` for a key that cannot sign, and `MissingExtra` without cryptography.
    """
    if key is None:
        return Envelope(payload, ()).as_bytes()
    private = private_key(key)
    keyid = _keyid(private.public_key().public_bytes_raw())
    return Envelope(payload, (Signature(keyid, private.sign(pae(PAYLOAD_TYPE, payload))),)).as_bytes()


def open_envelope(data: bytes) -> Envelope:
    """Read an envelope; raises `EvidenceFault` `envelope-damaged` for anything that `seal` does not write."""
    try:
        value = value_of(data)
        signatures = tuple(Signature(str(each["keyid"]), _decoded(each["sig"])) for each in value["signatures"])
        envelope = Envelope(_decoded(value["payload"]), signatures)
        if len(signatures) > 1 or envelope.as_bytes() != data:
            raise ValueError("another layout")
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceFault("envelope-damaged", "the receipt's envelope is not what was written") from error
    return envelope


def check_signature(envelope: Envelope, key: Path | None, carried: str | None = None) -> Signer:
    """Say who signed, after checking it.

    `key` is the file of a public key that the reader trusts, `carried` the raw public key in hex that the payload
    names as its own: with the latter alone a change is found, but anyone could have signed. Raises `EvidenceFault`
    where a signature is missing, wrong or by another key than either, `UsageFault` for a key file that is none.
    """
    given = None if key is None else public_key(key).public_bytes_raw()
    if not envelope.signatures:
        if given is None and carried is None:
            return Signer(None, known=False)
        raise EvidenceFault("envelope-unsigned", "the receipt is not signed, although it should be")
    (signature,) = envelope.signatures
    raw = _raw(carried) if given is None else given
    if _keyid(raw) != signature.keyid or carried not in (None, raw.hex()):
        message = f"the receipt is signed by {signature.keyid}, and the key to check it by is {_keyid(raw)}"
        raise EvidenceFault("signature-by-another", message)
    _verify(raw, signature.sig, envelope.payload)
    return Signer(signature.keyid, known=given is not None)


def public_key_of(key: Path) -> str:
    """The raw public key of a private one, as 64 hex digits; faults as in `seal`."""
    return private_key(key).public_key().public_bytes_raw().hex()


def _decoded(text: str) -> bytes:
    return b64decode(text, validate=True)


def _keyid(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _raw(carried: str | None) -> bytes:
    """The bytes of a carried public key."""
    if carried is None:
        message = "the receipt is signed and names no public key: give the one that it is to be checked by"
        raise EvidenceFault("signature-unchecked", message)
    try:
        return bytes.fromhex(carried)
    except (TypeError, ValueError) as error:
        raise EvidenceFault("signature-wrong", "the public key that the receipt names is none") from error


def _verify(raw: bytes, sig: bytes, payload: bytes) -> None:
    require_cryptography("checking the signature of a receipt")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(sig, pae(PAYLOAD_TYPE, payload))
    except (InvalidSignature, ValueError) as error:
        raise EvidenceFault("signature-wrong", "the signature of the receipt does not fit its content") from error
