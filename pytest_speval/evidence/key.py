"""The file of a key that signs receipts, or that they are checked by: Ed25519 in PEM."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_speval.errors import MissingExtra, UsageFault

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

CODES = {
    "key-unreadable": "A key file cannot be read.",
    "key-damaged": "A key file holds no key in PEM.",
    "key-encrypted": "A key file is protected by a passphrase.",
    "key-unfit": "A key is of another kind than Ed25519.",
    "key-public": "A public key was given where the private one is needed.",
    "key-private": "A private key was given where the public one is needed.",
}


def private_key(path: Path) -> Ed25519PrivateKey:
    """The key to sign with: PKCS8 in PEM, not encrypted.

    Raises `UsageFault` with a code of this module, and `MissingExtra` without cryptography.
    """
    require_cryptography("signing a receipt")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = _usable(path)
    if isinstance(key, Ed25519PrivateKey):
        return key
    if not hasattr(key, "private_bytes"):
        raise UsageFault("key-public", f"{path} holds a public key: signing takes the private one")
    raise _unfit(path)


def public_key(path: Path) -> Ed25519PublicKey:
    """The key to check with, as `openssl pkey -pubout` writes it; faults as in `private_key`."""
    require_cryptography("checking the signature of a receipt")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = _usable(path)
    if isinstance(key, Ed25519PublicKey):
        return key
    if hasattr(key, "private_bytes"):
        message = f"{path} holds a private key: checking takes the public one, which `openssl pkey -pubout` writes"
        raise UsageFault("key-private", message)
    raise _unfit(path)


def require_cryptography(what: str) -> None:
    """Raises `MissingExtra` where cryptography is not installed."""
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise MissingExtra("sign", what) from error


def _unfit(path: Path) -> UsageFault:
    message = f"{path} holds no Ed25519 key but another kind: `openssl genpkey -algorithm ed25519` makes one"
    return UsageFault("key-unfit", message)


def _usable(path: Path) -> PrivateKeyTypes | PublicKeyTypes:
    key = _read(path)
    if key == "key-unreadable":
        raise UsageFault("key-unreadable", f"the key {path} cannot be read: no such file, or no right to read it")
    if key == "key-encrypted":
        raise UsageFault("key-encrypted", f"the key {path} is protected by a passphrase: give one that is not")
    if isinstance(key, str):
        raise UsageFault("key-damaged", f"{path} holds no key in PEM: `openssl genpkey -algorithm ed25519` makes one")
    return key


def _read(path: Path) -> PrivateKeyTypes | PublicKeyTypes | str:
    """The key in a file, or the code of what is wrong with it.

    Nothing is raised here: a traceback with locals would show the bytes of the key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        data = path.read_bytes()
        return load_pem_private_key(data, None) if b"PRIVATE KEY-----" in data else load_pem_public_key(data)
    except OSError:
        return "key-unreadable"
    except TypeError:
        return "key-encrypted"
    except (ValueError, UnsupportedAlgorithm):
        return "key-damaged"
