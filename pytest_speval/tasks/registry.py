"""The tasks a suite may name."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_speval.tasks.affect import Affect
from pytest_speval.tasks.asr import Asr
from pytest_speval.tasks.base import Task
from pytest_speval.tasks.emotion import Emotion
from pytest_speval.tasks.mos import Mos
from pytest_speval.tasks.outcome import Outcome

TASKS: Mapping[str, Task] = {task.word.name: task for task in (Emotion(), Affect(), Asr(), Mos(), Outcome())}
