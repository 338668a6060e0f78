"""The receipt: an in-toto statement about every other file, which holds nothing that cannot be rebuilt."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pytest_speval.errors import EvidenceFault, UsageFault
from pytest_speval.evidence.envelope import seal
from pytest_speval.evidence.folder import RunFolder
from pytest_speval.evidence.receipt import Receipt, SigningKey, withdraw_receipt, write_receipt
from tests.damage import Change, random_change
from tests.folders import finish, finished_run, killed_run, plan_of

CLOCK_AND_PLACE = ("2026-11-29T", "20261129", "/tmp", "elapsed")


def new_key(path: Path) -> SigningKey:
    """A private key in a file."""
    path.write_bytes(Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return SigningKey.of(path)


def opened(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Envelope and statement of a folder's receipt, read with plain tools."""
    envelope = json.loads((folder / "receipt.json").read_bytes())
    return envelope, json.loads(base64.b64decode(envelope["payload"]))


def hashed(folder: Path) -> dict[str, str]:
    """Every file but the receipt with its digest."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "receipt.json"]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_subject_is_every_other_file_by_name(tmp_path: Path) -> None:
    plan = plan_of()
    run = killed_run(tmp_path, plan=plan)
    for extra in ("answers/b.npy", "answers/a/c.npy", "lock.json", "journal/gw0.torn", "report.html"):
        (run.path / extra).parent.mkdir(parents=True, exist_ok=True)
        (run.path / extra).write_bytes(extra.encode())
    (run.path / "link").symlink_to(run.path / "lock.json")
    _, said = opened(finish(run, plan))
    (run.path / "link").unlink()
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert {one["name"]: one["digest"]["sha256"] for one in said["subject"]} == hashed(run.path)
    names = [one["name"] for one in said["subject"]]
    assert names == sorted(names)
    assert {"answers/a/c.npy", "journal/gw0.torn", "lock.json", "report.html", "out.json"} <= set(names)


def test_the_predicate_ties_verdict_plan_and_journals(tmp_path: Path) -> None:
    folder = finished_run(tmp_path)
    said = opened(folder)[1]["predicate"]
    plan, document = (json.loads((folder / name).read_bytes()) for name in ("plan.json", "out.json"))
    assert said["questionSha256"] == plan["questionSha256"] == document["plan"]["questionSha256"]
    assert said["planSha256"] == plan["planSha256"]
    assert (said["suite"], said["title"], said["schemaVersion"], said["publicKey"]) == ("voice", None, 1, None)
    assert (said["verdict"], said["reason"]) == ("pass", None)
    for name, head in said["journals"].items():
        lines = (folder / name).read_bytes().splitlines()
        assert head == {"lines": len(lines), "sha256": hashlib.sha256(lines[-1]).hexdigest()}
    assert set(said["journals"]) == {"journal/gw0.jsonl", "journal/gw1.jsonl"}


def test_a_torn_end_counts_for_no_line_and_an_empty_journal_for_none(tmp_path: Path) -> None:
    plan = plan_of()
    run = killed_run(tmp_path, plan=plan)
    whole = (run.journals / "gw0.jsonl").read_bytes()
    (run.journals / "gw0.jsonl").write_bytes(whole + b'{"event":"ente')
    (run.journals / "gw2.jsonl").write_bytes(b"")
    (run.journals / "gw3.jsonl").write_bytes(b'{"event"')
    heads = opened(finish(run, plan))[1]["predicate"]["journals"]
    assert heads["journal/gw0.jsonl"]["sha256"] == hashlib.sha256(whole.splitlines()[-1]).hexdigest()
    assert heads["journal/gw0.jsonl"]["lines"] == whole.count(b"\n")
    assert heads["journal/gw2.jsonl"] == heads["journal/gw3.jsonl"] == {"lines": 0, "sha256": "0" * 64}


def test_two_folders_of_one_run_have_one_receipt_without_clock_or_place(tmp_path: Path) -> None:
    one, other = (finished_run(tmp_path / name) for name in ("one", "other"))
    assert (one / "receipt.json").read_bytes() == (other / "receipt.json").read_bytes()
    text = json.dumps(opened(one)[1])
    assert not [word for word in (*CLOCK_AND_PLACE, str(tmp_path)) if word in text]


def test_without_a_key_it_has_no_signature(tmp_path: Path) -> None:
    assert opened(finished_run(tmp_path))[0]["signatures"] == []


def test_a_signature_holds_over_the_encoded_payload(tmp_path: Path) -> None:
    key = new_key(tmp_path / "key.pem")
    folder = finished_run(tmp_path, key=key)
    envelope, said = opened(folder)
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)
    raw = bytes.fromhex(said["predicate"]["publicKey"])
    (signature,) = envelope["signatures"]
    Ed25519PublicKey.from_public_bytes(raw).verify(base64.b64decode(signature["sig"]), encoded)
    assert signature["keyid"] == key.keyid == hashlib.sha256(raw).hexdigest()
    assert f"\nreceipt: signed by {key.keyid}\n" in (folder / "report.md").read_text()
    assert "PRIVATE" not in "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def test_a_key_that_changed_or_went_meanwhile_signs_nothing(tmp_path: Path) -> None:
    plan = plan_of()
    run, key = killed_run(tmp_path, plan=plan), new_key(tmp_path / "key.pem")
    new_key(tmp_path / "key.pem")
    with pytest.raises(EvidenceFault, match="is not the one it was") as caught:
        finish(run, plan, key)
    assert caught.value.code == "receipt-unwritable"
    (tmp_path / "key.pem").unlink()
    with pytest.raises(EvidenceFault, match="cannot be read"):
        finish(run, plan, key)
    assert not (run.path / "receipt.json").exists()


def test_a_key_that_cannot_sign_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text("no key")
    with pytest.raises(UsageFault, match=r"key\.pem holds no key"):
        SigningKey.of(tmp_path / "key.pem")


def test_a_folder_that_is_gone_or_full_has_no_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, run = plan_of(), killed_run(tmp_path)

    def full(*_: Path) -> Path:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(EvidenceFault, match="No space left"):
            write_receipt(run, plan, "pass", None, None)
    assert not list(run.path.glob("*receipt*"))
    with pytest.raises(EvidenceFault, match="cannot write"):
        write_receipt(RunFolder(tmp_path / "nowhere"), plan, "pass", None, None)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    key, plan = new_key(tmp_path / "key.pem"), plan_of()
    run = killed_run(tmp_path, plan=plan)
    folder = finish(run, plan, key)
    receipt, envelope = Receipt.read((folder / "receipt.json").read_bytes())
    assert receipt == Receipt.of(run, plan, "pass", None, key.public_key)
    assert receipt.files == hashed(folder)
    assert (receipt.keyid, len(envelope.signatures)) == (key.keyid, 1)


def test_a_withdrawn_receipt_is_gone_and_there_may_have_been_none(tmp_path: Path) -> None:
    folder = finished_run(tmp_path)
    for _ in range(2):
        withdraw_receipt(RunFolder(folder))
        assert not (folder / "receipt.json").exists()


def test_any_changed_byte_of_an_unsigned_receipt_is_its_own_fault(tmp_path: Path) -> None:
    folder = finished_run(tmp_path)
    data = (folder / "receipt.json").read_bytes()
    for path in [path for path in folder.rglob("*") if path.is_file() and path.name != "receipt.json"]:
        path.unlink()
    for seed in range(400):
        change = random_change(folder, seed)
        with pytest.raises(EvidenceFault) as caught:
            Receipt.read(altered(data, change))
        assert caught.value.code in ("envelope-damaged", "receipt-damaged")


def altered(data: bytes, change: Change) -> bytes:
    """The bytes with one of them changed."""
    return data[: change.offset] + bytes([change.value]) + data[change.offset + 1 :]


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("schemaVersion", 2, "schema 2, and this version reads 1"),
        ("publicKey", "ab", "not what was written"),
        ("publicKey", 7, "not what was written"),
        ("journals", [], "not what was written"),
        ("journals", {"journal/gw0.jsonl": {"lines": "many", "sha256": "0" * 64}}, "not what was written"),
        ("journals", {"journal/gw0.jsonl": {"lines": 1}}, "not what was written"),
        ("verdict", "fail", "not what was written"),
        ("more", 1, "not what was written"),
    ],
)
def test_a_statement_that_no_run_writes_is_refused(key: str, value: Any, told: str, tmp_path: Path) -> None:
    said = opened(finished_run(tmp_path))[1]
    said["predicate"][key] = value
    with pytest.raises(EvidenceFault, match=told) as caught:
        Receipt.read(seal(json.dumps(said).encode(), None))
    assert caught.value.code == "receipt-damaged"
