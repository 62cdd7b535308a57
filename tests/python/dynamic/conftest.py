"""Counts what was traced, compiled and bound. The samples of primitives with symbols are those of the tests of ops."""

import logging
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "ops"))


class Counts:
    """How often each happened since the last `clear`."""

    def __init__(self, caplog):
        self._caplog = caplog

    def _count(self, what):
        return sum(record.getMessage().startswith(what) for record in self._caplog.records)

    @property
    def traced(self):
        return self._count("Traced ")

    @property
    def compiled(self):
        return self._count("Compiled ") + self._count("Loaded ")

    @property
    def bound(self):
        return self._count("Bound ")

    def clear(self):
        self._caplog.clear()


@pytest.fixture
def counts(caplog):
    caplog.set_level(logging.DEBUG, logger="pycompiler.jit")
    return Counts(caplog)
