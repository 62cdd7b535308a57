"""Work that ends its process, for the tests of op_worker.py. It does without torch, whose import takes seconds."""

import os
import signal
import time

from op_outcomes import Outcome


def work(how: str):
    """Three samples; the second one ends the process."""
    for number in range(3):
        yield number
        if number == 1 and how == "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        if number == 1 and how == "error":
            raise ValueError("of the work")
        if number == 1 and how == "hang":
            time.sleep(1000)
        yield Outcome(number, "right")
