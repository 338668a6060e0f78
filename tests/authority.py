"""A time-stamp authority of our own, made with OpenSSL: the independent maker of every token in the tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

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
