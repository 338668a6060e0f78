"""`speval verify`: exit status and what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_speval.command import main
from tests.folders import finished_run


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An output folder with two runs of a suite."""
    for name in ("first", "second"):
        finished_run(tmp_path / "out" / name)
    return tmp_path / "out"


def test_a_run_that_holds_ends_in_0(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder,) = (out / "first/voice").iterdir()
    assert main(["verify", str(folder)]) == 0
    head, *notes = capsys.readouterr().out.splitlines()
    assert head == f"{folder}: holds"
    assert [note.rpartition(" ")[2] for note in notes] == ["[unsigned]", "[verified]"]
    assert all(note.startswith("  note: ") for note in notes)


def test_every_run_below_a_folder_is_verified_and_one_finding_ends_in_1(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder,) = (out / "second/voice").iterdir()
    (folder / "report.md").unlink()
    assert main(["verify", str(out)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in printed if not line.startswith(" ")] == ["holds", "1 finding"]
    assert "  report.md: is not there [file-missing]" in printed
    (folder / "more").write_text("")
    assert main(["verify", str(folder), str(out / "first")]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.rpartition(": ")[2] for line in printed if not line.startswith(" ")] == ["2 findings", "holds"]


def test_wrong_usage_ends_in_2(out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, told in (
        ([str(out / "nowhere")], "holds no run"),
        ([str(out), "--key", str(out / "nowhere.pem")], "cannot be read"),
        ([str(out), "--audio", str(out / "nowhere")], "is no folder"),
    ):
        assert main(["verify", *arguments]) == 2
        assert told in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["verify"])
    assert caught.value.code == 2
