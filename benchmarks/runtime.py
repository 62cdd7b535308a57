"""`make bench`: the memory cost of the asynchronous runtime: the run-ahead of calls, and new pages in repeated calls.

Each row shows a measurement and its limit.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

MIB = 1 << 20


@dataclass(frozen=True)
class Measurement:
    """A number, its limit, and its unit."""

    name: str
    measure: Callable[[], float]
    asked: float
    unit: str


def run_ahead() -> float:
    """MiB by which 10,000 calls raise the peak. Each has a result of 1 MiB and does not wait for the last one."""
    device = pc.devices()[0]
    step = pc.jit(lambda x: lax.fori_loop(0, 4, lambda i, y: y * 0.5 + 1, x))
    x = pnp.ones((512, 512))
    step(x).block_until_ready()
    device.reset_peak_memory()
    before = device.memory_stats()["bytes_in_use"]
    result = x
    for _ in range(10_000):
        result = step(x)
    result.block_until_ready()
    return (device.memory_stats()["peak_bytes_in_use"] - before) / MIB


def new_pages() -> float:
    """Pages that a repeated call with a result of 4 MiB touches for the first time."""
    double = pc.jit(lambda x: x * 2 + 1)
    x = pnp.ones(MIB)
    for _ in range(10):
        double(x).block_until_ready()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        double(x).block_until_ready()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / 100


MEASUREMENTS = [
    Measurement("10,000 enqueued calls raise the peak by", run_ahead, 256, "MiB"),
    Measurement("a repeated call with a result of 4 MiB touches new pages", new_pages, 1, "pages"),
]


def main() -> None:
    table = Table(title="memory of the runtime", title_justify="left")
    for column in ("", "measured", "asked", "unit", ""):
        table.add_column(column, justify="left" if not column else "right")
    for row in MEASUREMENTS:
        measured = row.measure()
        table.add_row(
            row.name, f"{measured:,.2f}", f"{row.asked:g}", row.unit, "missed" if measured > row.asked else ""
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
