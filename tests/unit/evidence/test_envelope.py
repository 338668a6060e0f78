"""The envelope of a receipt: the standards' own vectors, and no changed byte goes unseen."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from pytest_speval.errors import EvidenceFault, MissingExtra, UsageFault
from pytest_speval.evidence.canonical import canonical
from pytest_speval.evidence.envelope import (
    PAYLOAD_TYPE,
    Envelope,
    Signer,
    check_signature,
    open_envelope,
    pae,
    public_key_of,
    seal,
    statement,
)

SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
"""The first key pair of RFC 8032, section 7.1, which is key A of the DSSE vectors."""
KEYID = hashlib.sha256(bytes.fromhex(PUBLIC)).hexdigest()
NO_ENVELOPES: list[Any] = [[], None, 1, "x", {}, {"payload": "eA=="}]


def write_key(folder: Path, name: str, seed: str) -> Path:
    """Both halves of a key, as `<name>.key` and `<name>.pub`; the path of the former."""
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed))
    (folder / f"{name}.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    path = folder / f"{name}.key"
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_key(tmp_path_factory.mktemp("keys"), "ours", SEED)


@pytest.fixture(scope="session")
def another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_key(tmp_path_factory.mktemp("keys"), "theirs", "4c" * 32)


def payload(**more: Any) -> bytes:
    return statement({"plan.json": "a" * 64}, "https://example.org/receipt/v1", {"publicKey": PUBLIC, **more})


def carried(envelope: Envelope) -> str | None:
    """The key that a receipt names as its own, where its payload can be read."""
    try:
        found: str | None = json.loads(envelope.payload)["predicate"]["publicKey"]
    except (ValueError, KeyError, TypeError):
        return None
    return found


def verified(data: bytes) -> Signer:
    envelope = open_envelope(data)
    return check_signature(envelope, None, carried(envelope))


def code_of(data: bytes, key: Path | None = None, carried: str | None = None) -> str:
    with pytest.raises(EvidenceFault) as caught:
        check_signature(open_envelope(data), key, carried)
    return caught.value.code


def test_the_signed_bytes_are_those_of_the_dsse_specification() -> None:
    example = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pae("http://example.com/HelloWorld", b"hello world") == example
    assert pae("application/vnd.exämple+json", b"{}") == "DSSEv1 29 application/vnd.exämple+json 2 {}".encode()
    assert pae("", b"") == b"DSSEv1 0  0 "


def test_the_signature_is_that_of_the_dsse_vectors(key: Path) -> None:
    sealed = json.loads(seal(b'{"_type":"https://in-toto.io/Statement/v1"}', key))
    assert sealed == {
        "payload": "eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEifQ==",
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [
            {
                "keyid": KEYID,
                "sig": "2WAfaHm5jluo0w+0rk8uVkluELJYWjSmU9x7EUzx+AyteDGJ4/nqyJXfmAUVFIAoQafWm7AxBZNw5M9ixNHiCA==",
            }
        ],
    }


def test_the_public_key_is_that_of_the_rfc(key: Path) -> None:
    assert public_key_of(key) == PUBLIC


def test_a_statement_names_its_subjects_in_order() -> None:
    made = statement({"b.json": "b" * 64, "a.json": "a" * 64}, "https://example.org/receipt/v1", {"verdict": "pass"})
    assert made == canonical(json.loads(made))
    assert json.loads(made) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "a.json", "digest": {"sha256": "a" * 64}},
            {"name": "b.json", "digest": {"sha256": "b" * 64}},
        ],
        "predicateType": "https://example.org/receipt/v1",
        "predicate": {"verdict": "pass"},
    }


@given(st.binary(max_size=200), st.booleans())
def test_what_was_sealed_is_opened(key: Path, content: bytes, signed: bool) -> None:
    data = seal(content, key if signed else None)
    envelope = open_envelope(data)
    assert envelope.payload == content
    assert [each.keyid for each in envelope.signatures] == [KEYID] * signed
    assert envelope.as_bytes() == data
    assert data.endswith(b"}\n")


def test_a_signature_is_checked_against_the_key_that_the_reader_gave(key: Path, another: Path) -> None:
    envelope = open_envelope(seal(payload(), key))
    signer = check_signature(envelope, key.with_suffix(".pub"))
    assert (signer, str(signer)) == (Signer(KEYID, known=True), f"signed by {KEYID}")
    assert check_signature(envelope, key.with_suffix(".pub"), PUBLIC) == signer
    assert code_of(seal(payload(), key), another.with_suffix(".pub")) == "signature-by-another"
    assert code_of(seal(payload(), another), key.with_suffix(".pub"), PUBLIC) == "signature-by-another"


def test_without_a_given_key_a_signature_is_checked_and_not_vouched_for(key: Path) -> None:
    signer = verified(seal(payload(), key))
    assert signer == Signer(KEYID, known=False)
    assert str(signer) == f"signed by {KEYID}, not checked against a key you gave"


def test_an_envelope_that_nobody_signed_says_so(key: Path) -> None:
    data = seal(payload(), None)
    signer = check_signature(open_envelope(data), None)
    assert (signer, str(signer)) == (Signer(None, known=False), "not signed")
    assert code_of(data, key.with_suffix(".pub")) == "envelope-unsigned"
    assert code_of(data, None, PUBLIC) == "envelope-unsigned"


def test_a_signature_without_any_key_to_check_it_by_is_refused(key: Path) -> None:
    assert code_of(seal(payload(), key)) == "signature-unchecked"


@pytest.mark.parametrize("named", ["", "xyz", PUBLIC[:-2], PUBLIC.upper(), f" {PUBLIC}", "00" * 32, 5, ["a"]])
def test_a_carried_key_that_is_not_the_signers_is_refused(key: Path, named: Any) -> None:
    assert code_of(seal(payload(), key), None, named) in ("signature-by-another", "signature-wrong")


def test_a_carried_key_that_is_none_is_refused(key: Path) -> None:
    (signature,) = open_envelope(seal(payload(), key)).signatures
    forged = Envelope(payload(), (replace(signature, keyid=hashlib.sha256(b"\0").hexdigest()),))
    assert code_of(forged.as_bytes(), None, "00") == "signature-wrong"


def test_another_payload_under_the_same_signature_is_refused(key: Path) -> None:
    envelope = open_envelope(seal(payload(verdict="fail"), key))
    forged = Envelope(payload(verdict="pass"), envelope.signatures).as_bytes()
    assert code_of(forged, key.with_suffix(".pub")) == "signature-wrong"
    assert code_of(forged, None, PUBLIC) == "signature-wrong"


@given(st.data())
def test_no_changed_byte_of_a_signed_envelope_goes_unseen(key: Path, data: st.DataObject) -> None:
    changed = bytearray(seal(payload(), key))
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(EvidenceFault):
        verified(bytes(changed))


def test_no_flipped_bit_of_a_signed_envelope_goes_unseen(key: Path) -> None:
    whole = seal(payload(), key)
    for place in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            with pytest.raises(EvidenceFault):
                verified(bytes(changed))


def test_no_cut_or_lengthened_envelope_is_opened(key: Path) -> None:
    whole = seal(payload(), key)
    for damaged in (*(whole[:length] for length in range(len(whole))), whole + b"\n", b" " + whole, whole * 2):
        assert code_of(damaged, None, PUBLIC) == "envelope-damaged"


def rewritten(key: Path, **more: Any) -> bytes:
    return canonical({**json.loads(seal(payload(), key)), **more}) + b"\n"


def test_an_envelope_of_another_layout_is_not_opened(key: Path) -> None:
    content = json.loads(seal(payload(), key))
    (signature,) = content["signatures"]
    text, sig = content["payload"], signature["sig"]
    assert sig.endswith("==")
    others: list[bytes] = [
        json.dumps(content).encode(),
        canonical(content),
        rewritten(key, note="x"),
        rewritten(key, payloadType="application/json"),
        rewritten(key, payload=None),
        rewritten(key, payload=text + "\n"),
        rewritten(key, payload=text.rstrip("=") + "ä"),
        rewritten(key, payload="eB=="),
        rewritten(key, payload="eA"),
        rewritten(key, payload="-_-_"),
        rewritten(key, signatures=[signature, signature]),
        rewritten(key, signatures=[{**signature, "cert": "x"}]),
        rewritten(key, signatures=[{"sig": sig}]),
        rewritten(key, signatures=[{**signature, "keyid": 5}]),
        rewritten(key, signatures=[{**signature, "sig": f"{sig[:-3]}{chr(ord(sig[-3]) + 1)}=="}]),
        rewritten(key, signatures=signature),
        rewritten(key, signatures="none"),
        *(canonical(value) + b"\n" for value in NO_ENVELOPES),
    ]
    for other in others:
        with pytest.raises(EvidenceFault) as caught:
            open_envelope(other)
        assert caught.value.code == "envelope-damaged"


def test_a_key_that_cannot_sign_is_refused(key: Path) -> None:
    for use in (public_key_of, lambda path: seal(b"", path)):
        with pytest.raises(UsageFault):
            use(key.with_suffix(".pub"))
    with pytest.raises(UsageFault):
        check_signature(open_envelope(seal(b"", key)), key)


def test_without_its_package_the_extra_is_named(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = seal(payload(), key)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(MissingExtra, match=r"pytest-speval\[sign\]"):
        verified(data)
    with pytest.raises(MissingExtra, match=r"pytest-speval\[sign\]"):
        seal(payload(), key)
    assert open_envelope(seal(payload(), None)).signatures == ()


def test_the_payload_type_is_that_of_in_toto() -> None:
    assert PAYLOAD_TYPE == "application/vnd.in-toto+json"
