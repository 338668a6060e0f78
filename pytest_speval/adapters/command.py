"""`use: command`: a program of any language, in a process of its own, that answers a JSON line with a JSON line.

The process starts with the first clip and is kept as long as every line it writes answers what it was asked. After
anything else (a timeout, its death, a line that is no answer) it is killed and the next clip gets a new one, so a
clip costs one start at most and never another clip's answer.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field, field_validator

from pytest_speval.adapters import launcher
from pytest_speval.adapters.base import ClipRequest, Identity
from pytest_speval.adapters.clip_answer import FORMS, read_of, said_about
from pytest_speval.adapters.process import Process
from pytest_speval.errors import AdapterFault
from pytest_speval.suite.base_keys import Keys

CODES = {"command-missing": "The program of a `command` adapter, or the folder it is to run in, is not there."}
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")
"""The variables a process gets beside those of `env`, where they are set."""
UNITS = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


class CommandKeys(Keys):
    """The keys of `use: command`.

    `memory` (bytes, or a text such as `2GiB`) limits the address space of each process, `files` its open files.
    `folder` is where it runs, by default the suite's folder.
    """

    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    env: Mapping[str, str] = {}
    memory: Annotated[int, Field(ge=1)] | str | None = None
    files: Annotated[int, Field(ge=1)] | None = None
    folder: Path = Path()

    @field_validator("memory")
    @classmethod
    def _sized(cls, memory: int | str | None) -> int | str | None:
        if isinstance(memory, str) and "${" not in memory:
            size_of(memory)
        return memory

    @field_validator("env")
    @classmethod
    def _named(cls, env: Mapping[str, str]) -> Mapping[str, str]:
        for name in env:
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"`{name}` is no name for an environment variable")
        return env


def size_of(text: str) -> int:
    """Bytes of a text such as `512MiB` or `2 GiB`; raises `ValueError`."""
    found = re.fullmatch(r"([1-9][0-9]*) ?(KiB|MiB|GiB|)", text)
    if found is None:
        raise ValueError(f"`{text}` is no size: write bytes, or a whole number with KiB, MiB or GiB, such as 2GiB")
    return int(found[1]) * UNITS[found[2]]


class Command:
    """Asks a process, one clip after the other."""

    def __init__(self, **keys: Any) -> None:
        self._keys = CommandKeys(**keys)
        memory = self._keys.memory
        self._memory = size_of(memory) if isinstance(memory, str) else memory or 0
        self._process: Process | None = None

    def identity(self) -> Identity:
        """The files that words of `argv` name; the first after the program gives the name, else the program does."""
        program, *words = (self._keys.folder / word for word in self._keys.argv)
        named = next(filter(_is_file, words), program)
        return Identity(named.stem, files=tuple(filter(_is_file, dict.fromkeys((program, *words)))))

    def answers(self, method: str) -> bool:
        """Whether there is a form for the answer."""
        return method in FORMS

    def warm_up(self) -> None:
        """Find the program; raises `AdapterFault` `command-missing`. The process starts with its first clip."""
        self._program()

    def answer_clip(self, request: ClipRequest) -> object:
        """Ask about one clip; raises `AnswerFault`."""
        process = self._process or self._start()
        self._process = None
        try:
            said = said_about(process.exchange(_question(request), request.timeout), request)
        except BaseException:
            process.kill()
            raise
        self._process = process
        return read_of(said, request.method)

    def close(self) -> None:
        """End the process, and all that it started in its group."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _start(self) -> Process:
        environment = {name: os.environ[name] for name in INHERITED if name in os.environ} | dict(self._keys.env)
        # The system ends the process with the thread that started it, which only of the main thread is what we want.
        parent = os.getpid() if threading.current_thread() is threading.main_thread() else 0
        limits = (str(self._memory), str(self._keys.files or 0))
        start = (sys.executable, "-I", "-S", launcher.__file__, str(parent), *limits)
        command = (*start, "=".join(environment), self._program(), *self._keys.argv)
        return Process(command, self._keys.folder, environment)

    def _program(self) -> str:
        folder, word = self._keys.folder, self._keys.argv[0]
        if not folder.is_dir():
            raise AdapterFault("command-missing", f"no folder {folder} to run `{word}` in")
        path = self._keys.env.get("PATH", os.environ.get("PATH", os.defpath))
        program = shutil.which(str(folder / word)) if "/" in word else shutil.which(word, path=path)
        if program is None:
            where = f"in {folder}" if "/" in word else "on PATH"
            raise AdapterFault("command-missing", f"no program `{word}` {where} that can be run")
        return os.path.abspath(program)  # noqa: PTH100 (it runs in another folder)


def _question(request: ClipRequest) -> bytes:
    asked = {"split": request.split, "id": request.id, "audio": request.audio}
    return orjson.dumps(asked | {"sample_rate": request.sample_rate, "text": request.text}, default=str)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a word of `argv` may be too long for a name
        return False
