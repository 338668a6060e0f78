"""Run as a script, by its path: sets limits on itself and becomes another program.

Limits set here hold from the program's first instruction, and no code of the starting process runs after a fork.
The program ends with the process that started it, whatever ends that. It imports nothing but the standard library.
"""

from __future__ import annotations

import os
import resource
import signal
import sys

CANNOT_RUN = 126
PR_SET_PDEATHSIG = 1


def launch(parent: str, memory: str, files: str, names: str, program: str, *argv: str) -> None:
    """Become `program` with `argv`, and with the named variables (joined by `=`) of this environment.

    `memory` is in bytes and `files` a number of open files; `0` sets no limit. A `parent` of `0` is not watched.
    """
    if int(parent):
        _end_with(int(parent))
    for kind, limit in ((resource.RLIMIT_AS, int(memory)), (resource.RLIMIT_NOFILE, int(files))):
        if limit:
            _, hard = resource.getrlimit(kind)
            most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (most, most))
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # the interpreter ignores them, and a program inherits that
        signal.signal(ignored, signal.SIG_DFL)
    # The interpreter may have added LC_CTYPE.
    environment = {name: os.environ[name] for name in names.split("=") if name}
    try:
        os.execve(program, argv, environment)
    except OSError as error:
        sys.stderr.write(f"cannot run {program}: {error.strerror}\n")
        sys.exit(CANNOT_RUN)


def _end_with(parent: int) -> None:
    try:
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (ImportError, AttributeError):  # not Linux: the end of its input tells the program
        return
    if os.getppid() != parent:
        sys.exit(CANNOT_RUN)


if __name__ == "__main__":
    launch(*sys.argv[1:])
