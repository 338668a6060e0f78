"""A session without suites pays nothing, writes nothing and prints nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pydantic", "yaml", "rich", "onnxruntime", "orjson", "soundfile")


def test_importing_the_plugin_loads_nothing_heavy() -> None:
    code = (
        f"import sys, pytest_speval, pytest_speval.plugin; print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_session_without_suites_loads_writes_and_prints_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_one():
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:randomly")
    result.assert_outcomes(passed=1)
    assert "speech" not in result.stdout.str()
    assert not (pytester.path / ".speval").exists()


def test_suites_that_are_not_asked_for_cost_nothing(pytester: pytest.Pytester) -> None:
    pytester.mkdir("suites").joinpath("broken.yaml").write_text("nonsense: [\n")
    pytester.makepyfile("import sys\n\ndef test_one():\n    assert 'yaml' not in sys.modules\n")
    result = pytester.runpytest_subprocess("-p", "no:randomly", "test_suites_that_are_not_asked_for_cost_nothing.py")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_no_summary_is_honoured(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    assert "speech evaluations" not in pytester.runpytest_subprocess("--no-summary").stdout.str()
