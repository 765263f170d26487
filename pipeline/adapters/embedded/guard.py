"""Runs one program for as long as the process that started this one lives, and not a moment longer.

That process holds the other end of our standard input: whether it closes it or dies, in whatever way, the read below
ends, on every platform and without a handler in it having to run. Run as a script that imports nothing of ours:
`guard.py GRACE DIRECTORY PROGRAM [ARGUMENT ...]`. GRACE is the seconds that the program gets to end by itself,
0 for none; DIRECTORY is removed after it.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1


def main(grace: float, directory: str, command: list[str]) -> int:
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        preexec_fn=_die_with_guard if sys.platform == "linux" else None,  # noqa: PLW1509 - no thread runs yet
    )
    # A session of our own keeps a terminal's Ctrl-C away; a signal meant for us must not orphan the program.
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    orphaned = threading.Event()
    threading.Thread(target=_end_with_parent, args=(child, grace, orphaned), daemon=True).start()
    code = child.wait()
    if orphaned.is_set():
        shutil.rmtree(directory, ignore_errors=True)
    return code


def _end_with_parent(child: subprocess.Popen[bytes], grace: float, orphaned: threading.Event) -> None:
    while os.read(0, 4096):  # not sys.stdin: its lock would outlive this thread and hold up the exit
        pass
    orphaned.set()
    if grace:
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace)
    child.kill()


def _die_with_guard() -> None:
    """On Linux the program ends even where this process is killed; elsewhere nothing can do that."""
    with contextlib.suppress(ImportError):
        import ctypes  # noqa: PLC0415 - some builds of Python lack it

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2], sys.argv[3:]))
