"""`python -m tests.chaos.leash PARENT MODULE [ARGUMENT ...]`: runs a module that is killed when its parent dies.

The kernel does it, for a process that is stopped could do nothing itself.
"""

import ctypes
import os
import runpy
import signal
import sys

from pipeline.adapters.embedded.guard import PR_SET_PDEATHSIG


def main(parent: int, module: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # else it died before it was asked for
        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _, its_pid, its_module, *sys.argv[1:] = sys.argv
    main(int(its_pid), its_module)
