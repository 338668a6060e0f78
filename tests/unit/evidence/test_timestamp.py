"""Time stamps over a lock, made by an authority of our own with OpenSSL: the independent maker of every token here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import EvidenceFault, MissingExtra
from pytest_speval.evidence.timestamp import Stamp, verify_timestamp

LOCK = b'{"schemaVersion":1}\n'
CONFIG = """
[tsa]
default_tsa = here
[here]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha1, sha256, sha384, sha512
ess_cert_id_alg = sha256
[strict]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha512
"""
LONG = "a root whose name makes its certificate longer than others"
GRANTED = b"\x30\x03\x02\x01\x00"


@dataclass(frozen=True)
class Signer:
    """A certificate, its key, and both in files `<name>.pem` and `<name>.key`."""

    name: str
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)


@dataclass(frozen=True)
class Authority:
    """A folder in which `openssl` makes tokens: two roots, an intermediate, and signers below it."""

    folder: Path
    root: Signer
    middle: Signer
    stranger: Signer

    def openssl(self, *words: str) -> None:
        done = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def stamp(
        self, *reply: str, data: bytes = LOCK, digest: str = "sha256", signer: str = "tsa", ask: bool = True
    ) -> bytes:
        """The response to a request; the signer's certificate is in it if asked for."""
        (self.folder / "data").write_bytes(data)
        wants = ["-cert"] if ask else []
        self.openssl("ts", "-query", "-config", "tsa.cnf", "-data", "data", f"-{digest}", "-out", "query", *wants)
        self.openssl("ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-out", "reply",
                     "-signer", f"{signer}.pem", "-inkey", f"{signer}.key", *reply)  # fmt: skip
        return (self.folder / "reply").read_bytes()

    def stamp_at(self, time: datetime, signer: str) -> bytes:
        """A response that says another time than the clock does."""
        self.stamp("-token_out")
        self.openssl("cms", "-verify", "-noverify", "-inform", "DER", "-in", "reply", "-out", "content")
        content = (self.folder / "content").read_bytes()
        said = re.sub(rb"\x18\x0f\d{14}Z", b"\x18\x0f" + time.strftime("%Y%m%d%H%M%SZ").encode(), content)
        (self.folder / "content").write_bytes(said)
        self.openssl("cms", "-sign", "-binary", "-nodetach", "-cades", "-md", "sha256", "-in", "content",
                     "-econtent_type", "1.2.840.113549.1.9.16.1.4", "-outform", "DER", "-out", "token",
                     "-signer", f"{signer}.pem", "-inkey", f"{signer}.key")  # fmt: skip
        body = GRANTED + (self.folder / "token").read_bytes()
        return b"\x30\x82" + len(body).to_bytes(2) + body

    @property
    def roots(self) -> bytes:
        """The file of trusted certificates."""
        return self.root.pem + self.middle.pem


def signer(folder: Path, name: str, by: Signer | None = None, *, until: int = 2100, common: str | None = None,
           usage: x509.ObjectIdentifier | None = None, critical: bool = True) -> Signer:  # fmt: skip
    """Make a certificate; without a use it is one of an authority over others."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common or name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if by is None else by.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(until, 1, 1, tzinfo=UTC))
        .add_extension(x509.BasicConstraints(ca=usage is None, path_length=None), critical=True)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=critical)
    made = Signer(name, builder.sign(key if by is None else by.key, SHA256()), key)
    (folder / f"{name}.pem").write_bytes(made.pem)
    (folder / f"{name}.key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return made


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make time stamps with")
    folder = tmp_path_factory.mktemp("authority")
    (folder / "tsa.cnf").write_text(CONFIG)
    (folder / "serial").write_text("1F\n")
    root = signer(folder, "root")
    middle = signer(folder, "middle", root)
    stamping = ExtendedKeyUsageOID.TIME_STAMPING
    signer(folder, "tsa", middle, usage=stamping)
    signer(folder, "expired", middle, until=2024, usage=stamping)
    signer(folder, "mail", middle, usage=ExtendedKeyUsageOID.EMAIL_PROTECTION)
    signer(folder, "lax", middle, usage=stamping, critical=False)
    foreign = signer(folder, "foreign", common=LONG)
    signer(folder, "intruder", foreign, usage=stamping)
    return Authority(folder, root, middle, signer(folder, "stranger", common="root"))


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
