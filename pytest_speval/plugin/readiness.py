"""`speval readiness`: the template that somebody has to fill in before a claim is more than diagnostic."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_speval.errors import UsageFault
from pytest_speval.plugin.errand import suite_file
from pytest_speval.suite.load import load_suite
from pytest_speval.suite.readiness import fields, is_blank, load_readiness
from pytest_speval.suite.readiness_file import readiness_file
from pytest_speval.suite.readiness_template import readiness_template
from pytest_speval.suite.vocabulary import Vocabulary

CODES = {
    "readiness-exists": "A suite has a readiness file already, and it is not written over.",
    "readiness-unwritable": "A readiness file cannot be written beside its suite.",
}


def write_readiness(suite: str, vocabulary: Vocabulary) -> int:
    """Write the template beside a suite, named or given as a file; returns 0.

    Raises `UsageFault` where there is no such suite or it has a readiness file, `FaultyFile` for a faulty suite.
    """
    loaded = load_suite(suite_file(suite), vocabulary)
    path = readiness_file(loaded.file)
    here = Path.cwd()
    shown = path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(readiness_template(loaded))
    except FileExistsError:
        message = f"{shown} exists and is not written over; remove it to begin anew"
        raise UsageFault("readiness-exists", message) from None
    except OSError as error:
        raise UsageFault("readiness-unwritable", f"{shown} cannot be written: {error.strerror}") from error
    values = [value for _, value in fields(load_readiness(path))]
    sys.stdout.write(f"readiness: {shown}, {sum(map(is_blank, values))} of {len(values)} fields to fill in\n")
    return 0
