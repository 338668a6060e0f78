"""Time stamps over a lock, made by an authority of our own with OpenSSL: the independent maker of every token here."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.timestamp import Stamp, verify_timestamp
from tests.authority import LOCK, Authority


def refusal(token: bytes, roots: bytes | None, data: bytes = LOCK) -> tuple[str, str]:
    with pytest.raises(EvidenceFault) as caught:
        verify_timestamp(data, token, roots)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize("digest", ["sha256", "sha384", "sha512"])
def test_a_stamp_says_when_and_by_whom(authority: Authority, digest: str) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    stamp = verify_timestamp(LOCK, authority.stamp(digest=digest), authority.roots)
    assert before <= stamp.time <= datetime.now(UTC)
    assert stamp.authority == "CN=tsa"
    assert int(stamp.serial, 16) == int((authority.folder / "serial").read_text(), 16)


def test_openssl_accepts_what_is_accepted_here(authority: Authority) -> None:
    verify_timestamp(LOCK, authority.stamp("-chain", "middle.pem"), authority.root.pem)
    authority.openssl("ts", "-verify", "-data", "data", "-in", "reply", "-CAfile", "root.pem")


@pytest.mark.parametrize("chain", [("middle",), ("middle", "root"), ("root", "middle")])
def test_certificates_may_stand_in_a_token_in_any_order(authority: Authority, chain: tuple[str, ...]) -> None:
    certificates = b"".join((authority.folder / f"{name}.pem").read_bytes() for name in chain)
    (authority.folder / "chain").write_bytes(certificates)
    token = authority.stamp("-chain", "chain")
    assert verify_timestamp(LOCK, token, authority.root.pem).authority == "CN=tsa"


def test_a_stamp_for_other_bytes_is_refused(authority: Authority) -> None:
    token = authority.stamp()
    assert refusal(token, authority.roots, LOCK + b"\n")[0] == "timestamp-other-bytes"
    assert refusal(token, authority.roots, b"")[0] == "timestamp-other-bytes"


def test_a_stamp_that_leads_to_another_root_is_refused(authority: Authority) -> None:
    token = authority.stamp()
    for roots in (authority.stranger.pem, authority.stranger.pem + authority.middle.pem, authority.root.pem):
        code, message = refusal(token, roots)
        assert code == "timestamp-untrusted"
        assert "certificate" in message


def test_a_root_that_a_token_brings_along_is_not_trusted(authority: Authority) -> None:
    token = authority.stamp("-chain", "foreign.pem", signer="intruder")
    assert verify_timestamp(LOCK, token, (authority.folder / "foreign.pem").read_bytes()).authority == "CN=intruder"
    assert refusal(token, authority.roots)[0] == "timestamp-untrusted"


@pytest.mark.parametrize("signer", ["mail", "lax"])
def test_a_certificate_that_is_not_for_time_stamping_alone_is_refused(authority: Authority, signer: str) -> None:
    assert refusal(authority.stamp_at(datetime.now(UTC), signer), authority.roots)[0] == "timestamp-untrusted"


def test_a_certificate_counts_as_it_was_at_the_time_of_the_stamp(authority: Authority) -> None:
    then = datetime(2022, 5, 1, 12, tzinfo=UTC)
    assert verify_timestamp(LOCK, authority.stamp_at(then, "expired"), authority.roots).time == then
    for time in (datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=1), datetime(2019, 5, 1, tzinfo=UTC)):
        assert refusal(authority.stamp_at(time, "expired"), authority.roots)[0] == "timestamp-untrusted"
    assert "expired" in refusal(authority.stamp(signer="expired"), authority.roots)[1]


def test_without_roots_a_stamp_is_not_trusted(authority: Authority) -> None:
    token = authority.stamp()
    code, message = refusal(token, None)
    assert (code, ".tsa.pem" in message) == ("timestamp-roots-missing", True)
    code, message = refusal(token, authority.middle.pem)
    assert (code, "intermediate" in message) == ("timestamp-roots-missing", True)


@pytest.mark.parametrize(
    "roots", [b"", b"no certificate", b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"]
)
def test_roots_that_are_no_certificates_are_refused(authority: Authority, roots: bytes) -> None:
    assert refusal(authority.stamp(), roots)[0] == "timestamp-roots-damaged"
    key = (authority.folder / "root.key").read_bytes()
    assert refusal(authority.stamp(), key)[0] == "timestamp-roots-damaged"


def test_a_root_named_twice_is_one(authority: Authority) -> None:
    assert verify_timestamp(LOCK, authority.stamp(), authority.roots * 2).authority == "CN=tsa"


def test_a_cut_or_foreign_token_is_refused(authority: Authority) -> None:
    token = authority.stamp("-chain", "middle.pem")
    for length in range(len(token)):
        assert refusal(token[:length], authority.roots)[0] == "timestamp-damaged"
    bare = authority.stamp("-token_out")
    for other in (token + b"\0", bare, b"x" * 500, LOCK):
        assert refusal(other, authority.roots)[0] == "timestamp-damaged"


def test_a_broken_signature_is_found(authority: Authority) -> None:
    token = bytearray(authority.stamp())
    token[-4] ^= 1
    code, message = refusal(bytes(token), authority.roots)
    assert (code, "signature" in message) == ("timestamp-damaged", True)


def test_a_changed_time_is_found(authority: Authority) -> None:
    token = authority.stamp()
    earlier = re.sub(rb"(\x18\x0f)\d{4}", rb"\g<1>2021", token, count=1)
    assert len(earlier) == len(token)
    assert refusal(earlier, authority.roots)[0] == "timestamp-damaged"


@given(st.data())
def test_a_damaged_token_gives_the_same_stamp_or_a_named_fault(authority: Authority, data: st.DataObject) -> None:
    whole = kept(authority)
    changed = bytearray(whole)
    changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    assert outcome(bytes(changed), authority.roots) in (outcome(whole, authority.roots), "refused")


def outcome(token: bytes, roots: bytes) -> Stamp | str:
    try:
        return verify_timestamp(LOCK, token, roots)
    except EvidenceFault:
        return "refused"


def kept(authority: Authority) -> bytes:
    """One token for many examples."""
    path = authority.folder / "kept.tsr"
    if not path.exists():
        path.write_bytes(authority.stamp("-chain", "middle.pem"))
    return path.read_bytes()


def test_a_digest_that_proves_nothing_is_refused(authority: Authority) -> None:
    assert refusal(authority.stamp(digest="sha1"), authority.roots)[0] == "timestamp-weak"


def test_a_refusal_of_the_authority_says_why(authority: Authority) -> None:
    code, message = refusal(authority.stamp("-section", "strict"), authority.roots)
    assert code == "timestamp-refused"
    assert "digest algorithm is not supported" in message


def test_a_token_without_the_certificate_of_its_signer_says_how_to_ask(authority: Authority) -> None:
    code, message = refusal(authority.stamp(ask=False), authority.roots)
    assert (code, "-cert" in message) == ("timestamp-untrusted", True)


def test_without_its_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    with pytest.raises(MissingExtra, match=r"pytest-speval\[timestamp\]"):
        verify_timestamp(LOCK, b"", None)


@pytest.mark.parametrize(
    ("installed", "refused"), [("1.0.8", True), ("0.9.12", True), ("1.0.9", False), ("1.1", False)]
)
def test_releases_that_trust_whatever_a_token_brings_are_refused(
    monkeypatch: pytest.MonkeyPatch, installed: str, refused: bool
) -> None:
    def version(name: str) -> str:
        assert name == "rfc3161-client"
        return installed

    monkeypatch.setattr("pytest_speval.evidence.timestamp.version", version)
    expected: Any = MissingExtra if refused else EvidenceFault
    with pytest.raises(expected):
        verify_timestamp(LOCK, b"", b"")
