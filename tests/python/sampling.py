"""The sample of `make test`: an eighth of each long table of cases.

A test with more than `SHORT` parameter sets is a table. Of its cases, those outside of the sample get the mark `full`,
so `-m "not full"` runs about an eighth of them, and `make test-full` runs all. A checksum of the case's name decides:
no period of the parameters (as three dtypes) is left out, and processes agree. `make test SAMPLE=1` to
`7` run the other parts. A table that marks some of its cases itself has its own sample.
"""

from __future__ import annotations

import collections
import os
import zlib
from collections.abc import Iterable

import pytest

PARTS = 8
SHORT = 8


def checksum(item: pytest.Item) -> int:
    # Of the name alone: a process that runs one file has another root for the rest of the identifier.
    return zlib.crc32(item.name.encode())


def outside(cases: list[pytest.Item], sample: int) -> list[pytest.Item]:
    """The cases of a test that are not in the sample with this number. At least one case is in it."""
    if len(cases) <= SHORT or any(item.get_closest_marker("full") for item in cases):
        return []
    drawn = {item for item in cases if checksum(item) % PARTS == sample} or {min(cases, key=checksum)}
    return [item for item in cases if item not in drawn]


def mark_outside(items: Iterable[pytest.Item]) -> None:
    """Marks the cases outside of the sample SAMPLE of the environment (by default 0) as `full`."""
    sample = os.environ.get("SAMPLE", "0")
    if sample not in map(str, range(PARTS)):
        raise pytest.UsageError(f"SAMPLE must be a number from 0 to {PARTS - 1}, got {sample!r}")
    tests = collections.defaultdict(list)
    for item in items:
        tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        for item in outside(cases, int(sample)):
            item.add_marker(pytest.mark.full)
