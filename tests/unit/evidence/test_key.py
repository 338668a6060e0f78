"""Key files: what can sign, what can check, and a clear word for all else."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from pytest_speval.errors import MissingExtra, UsageFault
from pytest_speval.evidence.key import private_key, public_key

ENCRYPTED = BestAvailableEncryption(b"words")


def private_pem(key: Any, encryption: Any = None, form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:
    return bytes(key.private_bytes(Encoding.PEM, form, encryption or NoEncryption()))


def public_pem(key: Any) -> bytes:
    return bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


OURS = Ed25519PrivateKey.generate()
OTHERS = {
    "rsa": rsa.generate_private_key(65537, 1024),
    "ec": ec.generate_private_key(ec.SECP256R1()),
    "ed448": ed448.Ed448PrivateKey.generate(),
    "x25519": x25519.X25519PrivateKey.generate(),
}


def refusal(load: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(UsageFault) as caught:
        load(path)
    assert str(path) in caught.value.message
    return caught.value.code


def at(folder: Path, data: bytes) -> Path:
    path = folder / "key.pem"
    path.write_bytes(data)
    return path


def test_both_halves_of_a_key_are_read(tmp_path: Path) -> None:
    assert private_key(at(tmp_path, private_pem(OURS))).private_bytes_raw() == OURS.private_bytes_raw()
    assert public_key(at(tmp_path, public_pem(OURS))) == OURS.public_key()


def test_each_half_is_refused_in_place_of_the_other(tmp_path: Path) -> None:
    assert refusal(private_key, at(tmp_path, public_pem(OURS))) == "key-public"
    assert refusal(public_key, at(tmp_path, private_pem(OURS))) == "key-private"
    assert refusal(private_key, at(tmp_path, public_pem(OTHERS["rsa"]))) == "key-public"
    assert refusal(public_key, at(tmp_path, private_pem(OTHERS["rsa"]))) == "key-private"


@pytest.mark.parametrize("kind", OTHERS)
def test_keys_of_another_kind_are_refused(tmp_path: Path, kind: str) -> None:
    assert refusal(private_key, at(tmp_path, private_pem(OTHERS[kind]))) == "key-unfit"
    assert refusal(public_key, at(tmp_path, public_pem(OTHERS[kind]))) == "key-unfit"


def test_an_encrypted_key_is_refused_and_never_asked_for(tmp_path: Path) -> None:
    assert refusal(private_key, at(tmp_path, private_pem(OURS, ENCRYPTED))) == "key-encrypted"
    old = private_pem(OTHERS["rsa"], ENCRYPTED, PrivateFormat.TraditionalOpenSSL)
    assert refusal(private_key, at(tmp_path, old)) == "key-encrypted"


@pytest.mark.parametrize("data", [b"", b"\0" * 64, OURS.private_bytes_raw(), b"-----BEGIN PRIVATE KEY-----\nMC4C\n",
                                  private_pem(OURS)[:90], b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"],
                         ids=["empty", "zeros", "raw", "open", "cut", "certificate"])  # fmt: skip
@pytest.mark.parametrize("load", [private_key, public_key])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, load: Callable[[Path], object], data: bytes) -> None:
    assert refusal(load, at(tmp_path, data)) == "key-damaged"


@pytest.mark.parametrize("load", [private_key, public_key])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, load: Callable[[Path], object]) -> None:
    assert refusal(load, tmp_path / "none.pem") == "key-unreadable"
    assert refusal(load, tmp_path) == "key-unreadable"


@pytest.mark.parametrize("data", [private_pem(OTHERS["rsa"]), private_pem(OURS, ENCRYPTED), private_pem(OURS)[:90]],
                         ids=["unfit", "encrypted", "cut"])  # fmt: skip
def test_no_traceback_with_locals_shows_the_key(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(UsageFault) as caught:
        private_key(at(tmp_path, data))
    assert caught.value.__cause__ is caught.value.__context__ is None
    frames = [frame for frame, _ in traceback.walk_tb(caught.tb) if "pytest_speval" in frame.f_code.co_filename]
    assert frames
    assert not any(isinstance(value, bytes) for frame in frames for value in frame.f_locals.values())


@pytest.mark.parametrize("load", [private_key, public_key])
def test_without_its_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[Path], object]
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtra, match=r"pytest-speval\[sign\]"):
        load(at(tmp_path, private_pem(OURS)))
