"""A time stamp over a lock: an independent authority's word that these very bytes existed at a time (RFC 3161).

Beside `x.lock.json` lie `x.lock.tsr`, the authority's response, and `x.lock.tsa.pem`, the certificates it is trusted
by. Who may be trusted is the reader's choice: a stamp is worth as much as the roots in that file.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

from pytest_speval.errors import EvidenceFault, MissingExtra

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

CODES = {
    "timestamp-damaged": "A time-stamp response cannot be read, or its signature does not hold.",
    "timestamp-refused": "A time-stamp authority answered with a refusal instead of a token.",
    "timestamp-other-bytes": "A time stamp was made over other bytes than those of the lock.",
    "timestamp-weak": "A time stamp was made over a digest that proves nothing today.",
    "timestamp-untrusted": "A time stamp does not lead to a trusted root certificate.",
    "timestamp-roots-missing": "A time stamp has no root certificate beside it that it could be trusted by.",
    "timestamp-roots-damaged": "The file of root certificates holds none that can be read.",
}
HASHES = {
    "2.16.840.1.101.3.4.2.1": "sha256",
    "2.16.840.1.101.3.4.2.2": "sha384",
    "2.16.840.1.101.3.4.2.3": "sha512",
}
OLDEST = (1, 0, 9)
"""Earlier releases of rfc3161-client trusted any root certificate that a token brought along."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A verified time stamp.

    `time` is in UTC and whole seconds, `authority` the subject of the signing certificate (RFC 4514), `serial` the
    token's number at that authority in hexadecimal digits, up to 160 bits.
    """

    time: datetime
    authority: str
    serial: str


def verify_timestamp(data: bytes, token: bytes, roots: bytes | None) -> Stamp:
    """Check a time-stamp response (DER) over data, up to root certificates (PEM, with intermediates where needed).

    Certificates count as they were at the time of the stamp, not as they are today. Raises `EvidenceFault` with a
    code of this module, and `MissingExtra` without rfc3161-client.
    """
    _require_extra()
    trusted = _certificates(roots)
    try:
        response = _response(token)
        _require_imprint(response, data)
        _require_chain(response, data, trusted)
        info = response.tst_info
        return Stamp(info.gen_time, _signer(response), f"{info.serial_number:x}")
    except EvidenceFault:
        raise
    except Exception as error:  # what stands in a damaged certificate makes the libraries raise one thing or another
        raise EvidenceFault("timestamp-damaged", f"the time stamp cannot be read: {error}") from error


def _certificates(roots: bytes | None) -> list[Certificate]:
    """The certificates of a PEM file, of which one at least must be a root."""
    from cryptography.x509 import load_pem_x509_certificates

    if roots is None:
        message = "the time stamp has no root certificate beside it: put the authority's into the .tsa.pem file"
        raise EvidenceFault("timestamp-roots-missing", message)
    try:
        found = load_pem_x509_certificates(roots)
    except ValueError as error:
        raise EvidenceFault("timestamp-roots-damaged", "the .tsa.pem file holds no PEM certificates") from error
    if not any(certificate.issuer == certificate.subject for certificate in found):
        message = "the .tsa.pem file holds no root certificate, only intermediate ones: add the authority's root"
        raise EvidenceFault("timestamp-roots-missing", message)
    return found


def _require_extra() -> None:
    try:
        import rfc3161_client  # noqa: F401
    except ImportError as error:
        raise MissingExtra("timestamp", "verifying a time stamp") from error
    if tuple(map(int, re.findall(r"\d+", version("rfc3161-client"))[:3])) < OLDEST:
        raise MissingExtra("timestamp", "verifying a time stamp safely")


def _response(token: bytes) -> TimeStampResponse:
    """Read a response that grants a token."""
    from rfc3161_client import decode_timestamp_response

    try:
        response = decode_timestamp_response(_sorted(token))
    except ValueError as error:
        message = "the .tsr file is no whole RFC 3161 time-stamp response: ask the authority again"
        raise EvidenceFault("timestamp-damaged", message) from error
    if response.status != 0:
        said = "; ".join(response.status_string) or "without a reason"
        message = f"the authority granted no plain time stamp (status {response.status}, {said}): ask it again"
        raise EvidenceFault("timestamp-refused", message)
    return response


def _require_imprint(response: TimeStampResponse, data: bytes) -> None:
    """The token must be about the data, under a digest that is safe."""
    imprint = response.tst_info.message_imprint
    name = HASHES.get(imprint.hash_algorithm.dotted_string)
    if name is None:
        message = "the time stamp is not over a SHA-256, SHA-384 or SHA-512 digest: ask for one that is"
        raise EvidenceFault("timestamp-weak", message)
    if hashlib.new(name, data).digest() != imprint.message:
        message = "the time stamp is about other bytes than these: what it was made for has changed since"
        raise EvidenceFault("timestamp-other-bytes", message)


def _require_chain(response: TimeStampResponse, data: bytes, trusted: list[Certificate]) -> None:
    """The token's signature must hold, and its certificate lead to a trusted root."""
    from rfc3161_client import VerificationError, VerifierBuilder

    roots = [each for each in trusted if each.issuer == each.subject]
    others = [each for each in trusted if each.issuer != each.subject]
    if not response.signed_data.certificates:
        message = (
            "the time stamp does not bring the certificate of its signer: ask again with `openssl ts -query -cert`"
        )
        raise EvidenceFault("timestamp-untrusted", message)
    try:
        VerifierBuilder(roots=roots, intermediates=others).build().verify_message(response, data)
    except VerificationError as error:
        why = re.search(r"Verify error: ?([^\"]+)", str(error))
        if why is None and "pkcs7" in str(error):
            raise EvidenceFault("timestamp-damaged", "the signature of the time stamp does not hold") from error
        message = f"the time stamp is not trusted by the root certificates beside it: {why[1] if why else error}"
        raise EvidenceFault("timestamp-untrusted", message) from error


def _signer(response: TimeStampResponse) -> str:
    """The subject of the certificate that signed."""
    from cryptography.x509 import load_der_x509_certificate

    signer = next(iter(response.signed_data.signer_infos))
    certificates = map(load_der_x509_certificate, response.signed_data.certificates)
    subjects = {(each.issuer, each.serial_number): each.subject for each in certificates}
    return subjects[signer.issuer, signer.serial_number].rfc4514_string()


def _sorted(token: bytes) -> bytes:
    """A response with the certificates it carries in the order of DER.

    Authorities built on OpenSSL write them as they come, which strict readers refuse; no signature covers them.
    """
    at = 0
    try:
        # response, its status, content info, its type, explicit tag, signed data: version, digests, content
        for step in ("in", "over", "in", "over", "in", "in", "over", "over", "over"):
            start, end = _content(token, at)
            at = start if step == "in" else end
        if token[at] != 0xA0:
            return token
        start, end = _content(token, at)
        certificates, at = list[bytes](), start
        while at < end:
            following = _content(token, at)[1]
            certificates.append(token[at:following])
            at = following
    except IndexError:
        return token
    return token[:start] + b"".join(sorted(certificates)) + token[end:]


def _content(data: bytes, at: int) -> tuple[int, int]:
    """Where the content of the DER element at a place starts and ends."""
    start, length = at + 2, data[at + 1]
    if length >= 0x80:
        start += length - 0x80
        length = int.from_bytes(data[at + 2 : start])
    return start, start + length
