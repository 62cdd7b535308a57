"""The cores of a benchmark's process: to be set before a library is imported, which asks how many there are."""

from __future__ import annotations

import os
import sys


def pin(threads: int) -> None:
    """Keep to so many of the cores that the process may use; ends the process where there are fewer."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < threads:
        sys.exit(f"--threads {threads} needs as many cores; there are {len(cores)}")
    os.sched_setaffinity(0, cores[:threads])
