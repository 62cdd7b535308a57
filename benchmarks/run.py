"""`make bench`: pycompiler, NumPy, jax and, if installed, SciPy, numba and torch, in one process.

The process is pinned to one core (`--threads 2`: to two) before the imports, so that each library runs on the same
number of threads. The results of the libraries are compared before the timing. The runs of the libraries are
interleaved. The medians of the runs and their quotients count, because absolute times on a shared machine mean little.
Times are in microseconds. README.md explains the table.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import TYPE_CHECKING, Any

from affinity import pin
from options import RESULTS, parser

if TYPE_CHECKING:
    import numpy as np
    from library import Case
    from measure import Samples


def _spread(samples: list[np.ndarray]) -> str:
    from measure import median, seconds

    middle, times = median(samples), seconds(samples)
    digits = 1 if middle > 1e-6 else 4
    return " ".join(f"{x * 1e6:,.{digits}f}" for x in (middle, min(times), max(times)))


class Report:
    """The printed table and its written form."""

    def __init__(self, threads: int) -> None:
        from measure import versions
        from rich.table import Table

        peers = ", ".join(f"{name} {version}" for name, version in versions().items())
        title = f"microseconds: median, least, greatest; {threads} core{'s' * (threads > 1)}; beside {peers}"
        self.table = Table(title=title, title_justify="left")
        columns = ("case", "pycompiler", "jax", "numpy", "others", "GFLOP/s")
        for column in (*columns, "ours/jax", "ours/numpy", "of CPU", "ratio", "bar", "holds"):
            self.table.add_column(column, justify="left" if column in ("case", "others") else "right")
        self.threads = threads
        self.header: dict[str, Any] = {"threads": threads, "versions": versions()}
        self.cases: dict[str, dict[str, Any]] = {}

    def add(self, case: Case, samples: Samples) -> None:
        from cases.tables import THREADS_BAR
        from measure import JAX, NUMPY, OURS, PEERS, holds, median, ratio, seconds
        from rich.markup import escape

        bar = case.bar if self.threads == 1 or case.bar is None else THREADS_BAR
        value = ratio(samples, case.against)
        self.cases[case.name] = {
            "seconds": {name: seconds(times) for name, times in samples.items()},
            "cpu_seconds": {name: seconds(times, clock=1) for name, times in samples.items()},
            "ratio": value,
            "bar": bar,
            "against": case.against,
            "group": case.group,
        }
        print("-" if value is None else f"{value:.2f}", file=sys.stderr)
        ours = samples[OURS.name]
        # If other programs used the cores, wall time means little. On one core, CPU time measures the work, too.
        worked = ratio(samples, case.against, clock=1) if self.threads == 1 else None
        quotients = [ratio(samples, lib.name) for lib in (JAX, NUMPY)] + [worked]
        self.table.add_row(
            escape(case.name),
            _spread(ours),
            *(_spread(samples[lib.name]) if lib.name in samples else "-" for lib in (JAX, NUMPY)),
            " ".join(f"{name} {median(samples[name]) * 1e6:,.1f}" for name in PEERS if name in samples),
            f"{case.flops / median(ours) / 1e9:.0f}" if case.flops else "-",
            *("-" if quotient is None else f"{quotient:.2f}" for quotient in quotients),
            "-" if value is None else f"{value:.2f}",
            "-" if bar is None else f"{bar:g}" + ("" if case.against == "best" else f" ({case.against})"),
            holds(value, bar),
        )

    def fail(self, case: Case, error: Exception) -> None:
        from rich.markup import escape

        text = f"{type(error).__name__}: {error}"
        self.cases[case.name] = {"error": text, "bar": case.bar, "group": case.group}
        self.table.add_row(escape(case.name), f"[red]failed: {type(error).__name__}[/red]", *["-"] * 9, "[red]no[/red]")
        print(text, file=sys.stderr)

    def add_means(self) -> None:
        """Add the geometric means of the groups whose cases all ran."""
        from statistics import geometric_mean

        from cases.tables import CASES, GROUPS
        from measure import holds

        self.header["groups"] = {}
        for group, bar in GROUPS.items():
            members = [case.name for case in CASES if case.group == group]
            ratios = [self.cases.get(name, {}).get("ratio") for name in members]
            if None in ratios:
                continue
            mean = geometric_mean(value for value in ratios if value is not None)
            asked = bar if self.threads == 1 else None
            self.header["groups"][group] = {"mean": mean, "bar": asked}
            title = f"geometric mean of {len(members)} {group}"
            self.table.add_section()
            cells = [f"{mean:.2f}", "-" if asked is None else f"{asked:g}", holds(mean, asked)]
            self.table.add_row(title, *["-"] * 8, *cells)

    def write(self, path: pathlib.Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**self.header, "cases": self.cases}, indent=1))


def main() -> None:
    options = parser(__doc__, runs=15).parse_args()
    pin(options.threads)
    # Libraries are imported from here on. They read the number of cores.
    from cases.tables import CASES
    from measure import run_case
    from others import MEASURED
    from rich.console import Console

    report = Report(options.threads)
    path = options.json or RESULTS / ("bench.json" if options.threads == 1 else f"bench-{options.threads}.json")
    for case in (*CASES, *MEASURED):
        if options.cases and not any(part in case.name for part in options.cases):
            continue
        print(case.name, end=": ", file=sys.stderr, flush=True)
        try:
            samples = MEASURED[case](options.runs) if case in MEASURED else run_case(case, options.runs)
        except Exception as error:  # the other cases run nevertheless
            report.fail(case, error)
        else:
            report.add(case, samples)
        report.write(path)  # after each case: if a case ends the process, the results of earlier cases remain
    report.add_means()
    report.write(path)
    Console(width=230).print(report.table)
    sys.exit(any("error" in result for result in report.cases.values()))


if __name__ == "__main__":
    main()
