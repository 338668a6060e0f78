"""The styles of files that hold transcripts and nothing to be named: their columns are fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_speval.corpus import ctm, kaldi, lines, stm, trn
from pytest_speval.corpus.records import Records

CODES = {**lines.CODES, **kaldi.CODES, **trn.CODES, **stm.CODES, **ctm.CODES}
TRANSCRIPTS: Mapping[str, Callable[[str, str], Records]] = {
    "kaldi": kaldi.kaldi_text,
    "trn": trn.trn,
    "sphinx": trn.sphinx,
    "stm": stm.stm,
    "ctm": ctm.ctm,
}
"""Style -> what reads its text; the second argument is the file as messages name it."""
NIST = ("trn", "stm", "ctm")
"""Styles whose ids are compared without case, as NIST's scorers do, and which have a notation for alternatives."""
UNTOLD = ("kaldi", "sphinx")
"""Styles that no ending tells."""
