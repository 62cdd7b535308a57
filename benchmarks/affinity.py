"""The cores of a benchmark's process. They must be set before the import of libraries, which read their number."""

from __future__ import annotations

import os
import sys


def pin(threads: int) -> None:
    """Use only `threads` of the cores of the process; end the process if there are fewer."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < threads:
        sys.exit(f"--threads {threads} needs as many cores; there are {len(cores)}")
    os.sched_setaffinity(0, cores[:threads])
