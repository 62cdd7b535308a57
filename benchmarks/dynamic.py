"""`make bench`: one compilation for all sizes, relative to jax, which compiles for each, and to our code for one size.

Each program runs at fifty sizes. The whole run starts with empty caches, in a new process: once with given dimensions,
once with detected ones (dynamic="auto"). The compilations are counted. The warm calls at each size are compared with
those of a function that was compiled only for this size. Then small calls are compared in the same way. Results are
first compared with jax's. README.md explains the table.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from affinity import pin
from options import RESULTS, parser

if TYPE_CHECKING:
    import numpy as np
    from cases.dynamic import SizedCall, SizedCase

# The functions of a whole run: jit(f, dynamic={...}), jit(f, dynamic="auto"), jit(f), and jax's jit(f).
SIDES = ("told", "auto", "static", "jax")
# The number of new processes for each.
WHOLE_RUNS = 3
# The number of slowest sizes, relative to a call for one size, that are listed.
NAMED = 3


def _options() -> argparse.Namespace:
    options = parser(__doc__, runs=15)
    options.add_argument("--sizes", type=int, help="the number of sizes of each program (all)")
    options.add_argument("--whole", choices=SIDES, help="print only the time of this side for the program named")
    return options.parse_args()


def _jit(function: Callable[..., Any], side: str, dynamic: Any) -> Callable[..., Any]:
    from measure import JAX, OURS

    if side in ("static", "jax"):
        return (JAX if side == "jax" else OURS).top.jit(function)
    return OURS.top.jit(function, dynamic="auto" if side == "auto" else dict(dynamic))


class _Compilations(logging.Handler):
    """Counts the compilations and loads in pycompiler's log."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        log = logging.getLogger("pycompiler.jit")
        log.addHandler(self)
        log.setLevel(logging.DEBUG)
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.msg.startswith(("Compiled", "Loaded"))


def _whole(case: SizedCase, side: str) -> dict[str, Any]:
    """Seconds in this process, by both clocks, until the results at all sizes are ready, and the compilations."""
    import numpy as np
    from measure import JAX, OURS, now

    lib = JAX if side == "jax" else OURS
    function = _jit(case.build(lib), side, case.dynamic)
    log = _Compilations()
    taken, compilations = np.zeros(2), 0
    for size in case.sizes:
        arrays = lib.top.tree.map(lib.numpy.asarray, case.inputs(np.random.default_rng(0), size))
        lib.top.block_until_ready(arrays)
        before, start = log.count, now()
        lib.top.block_until_ready(function(*arrays))
        taken += now() - start
        compilations += log.count - before
    if side == "jax":
        compilations = function._cache_size()  # type: ignore[attr-defined]
    return {"seconds": taken.tolist(), "compilations": compilations}


def _in_new_process(case: SizedCase, side: str, threads: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        # Compiled code is written to an empty disk cache, as for users.
        env = {
            **os.environ,
            "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
            "PYCOMPILER_COMPILATION_CACHE_DIR": folder,
            "JAX_ENABLE_COMPILATION_CACHE": "0",
        }
        options = ["--whole", side, "--threads", str(threads), "--sizes", str(len(case.sizes))]
        command = [sys.executable, __file__, *options, case.name]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the whole run of {side}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def _warm(case: SizedCase, runs: int) -> dict[int, dict[str, list[np.ndarray]]]:
    """Samples of warm calls at each size, compared with jax's. Raises AssertionError if results differ."""
    import numpy as np
    from measure import JAX, OURS, check_equal, interleaved, prepare

    function = _jit(case.build(OURS), "told", case.dynamic)
    wait = OURS.top.block_until_ready
    samples: dict[int, dict[str, list[np.ndarray]]] = {}
    for size in case.sizes:
        there = case.at(size)
        arrays = there.inputs(np.random.default_rng(0))
        placed = OURS.top.tree.map(OURS.numpy.asarray, arrays)
        calls: dict[str, Callable[[], Any]] = {
            OURS.name: lambda placed=placed: wait(function(*placed)),
            "static": prepare(OURS, there, arrays),
            JAX.name: prepare(JAX, there, arrays),
        }
        theirs = calls[JAX.name]()
        for name in (OURS.name, "static"):
            check_equal(there, calls[name](), f"jax, beside {name} at size {size}", theirs)
        samples[size] = interleaved(calls, runs)
    return samples


def _small(call: SizedCall, runs: int) -> dict[str, list[np.ndarray]]:
    """Samples of repeated calls at all sizes, in turn."""
    import numpy as np
    from measure import OURS, interleaved

    wait = OURS.top.block_until_ready
    arguments = [OURS.top.tree.map(OURS.numpy.asarray, call.arguments(size)) for size in call.sizes]
    told, static = (_jit(call.function, side, call.dynamic) for side in ("told", "static"))
    for given in arguments:
        for ours, fixed in zip(*(OURS.top.tree.leaves(f(*given)) for f in (told, static)), strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(fixed))

    def turns(function: Callable[..., Any]) -> Callable[[], None]:
        def run() -> None:
            for given in arguments:
                wait(function(*given))

        return run

    return interleaved({OURS.name: turns(told), "static": turns(static)}, runs)


class Report:
    """The printed table, its written form, and the missed bars."""

    def __init__(self, threads: int, path: pathlib.Path) -> None:
        from measure import versions
        from rich.table import Table

        cores = f"{threads} core{'s' * (threads > 1)}"
        self.table = Table(title=f"medians (least, greatest); {cores}", title_justify="left")
        for column in ("", "ours", "beside", "of", "of CPU", "ratio", "bar", "holds"):
            self.table.add_column(column, justify="left" if column in ("", "beside") else "right")
        self.header = {"threads": threads, "versions": versions()}
        self.cases: dict[str, dict[str, Any]] = {}
        self.missing: list[str] = []
        self.path = path

    def write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({**self.header, "cases": self.cases}, indent=1))

    def _row(self, name: str, cells: list[str], value: float, bar: float | None, missing: str = "") -> None:
        from measure import holds
        from rich.markup import escape

        self.table.add_row(escape(name), *cells, f"{value:.3g}", "-" if bar is None else f"{bar:g}", holds(value, bar))
        if bar is not None and value > bar:
            self.missing.append(f"{name}: {value:.3g}, asked at most {bar:g}{missing}")
        print(f"{name}: {value:.3g}", file=sys.stderr, flush=True)
        self.write()

    def add_whole(self, case: SizedCase, side: str, found: dict[str, list[dict[str, Any]]], bar: float | None) -> None:
        """The whole run of one side, relative to jax's."""
        import numpy as np
        from measure import ratio, seconds

        name = f"{case.name}: whole run, {side}"
        samples = {
            library: [np.array(run["seconds"]) for run in found[of]]
            for library, of in (("pycompiler", side), ("jax", "jax"))
        }
        value = ratio(samples, "jax")
        assert value is not None
        times = {library: seconds(runs) for library, runs in samples.items()}
        self.cases[name] = {"seconds": times, "ratio": value, "bar": bar}
        cells = [
            _spread(samples["pycompiler"]),
            "jax",
            _spread(samples["jax"]),
            f"{ratio(samples, 'jax', clock=1):.2f}",
        ]
        ours, theirs = found[side][0]["compilations"], found["jax"][0]["compilations"]
        self._row(name, cells, value, bar, f"; of {ours} compilations beside {theirs}")

    def add_compilations(self, case: SizedCase, side: str, found: dict[str, list[dict[str, Any]]], bar: int) -> None:
        name = f"{case.name}: compilations, {side}"
        ours, theirs = (max(run["compilations"] for run in found[of]) for of in (side, "jax"))
        self.cases[name] = {"compilations": ours, "jax": theirs, "bar": bar}
        self._row(name, [str(ours), "jax", str(theirs), "-"], ours, bar)

    def add_warm(self, case: SizedCase, found: dict[int, dict[str, list[np.ndarray]]], bar: float) -> None:
        """The geometric mean of the warm calls, relative to calls that were compiled for the size."""
        from statistics import geometric_mean

        from measure import JAX, median, ratio, seconds

        for against, asked in (("static", bar), (JAX.name, None)):
            ratios = {size: ratio(samples, against) or 0.0 for size, samples in found.items()}
            worked = geometric_mean(ratio(samples, against, clock=1) or 0.0 for samples in found.values())
            value = geometric_mean(ratios.values())
            worst = sorted(ratios, key=lambda size: -ratios[size])[:NAMED]
            name = f"{case.name}: warm calls beside {against}, geometric mean"
            self.cases[name] = {
                "seconds": {
                    size: {library: seconds(samples[library]) for library in ("pycompiler", against)}
                    for size, samples in found.items()
                },
                "ratio": value,
                "bar": asked,
                "ratios": ratios,
            }
            ours, theirs = ([median(samples[of]) for samples in found.values()] for of in ("pycompiler", against))
            cells = [
                f"{sum(ours) * 1e3:.1f} ms",
                f"{against}, all sizes",
                f"{sum(theirs) * 1e3:.1f} ms",
                f"{worked:.2f}",
            ]
            self._row(name, cells, value, asked, "; worst at " + ", ".join(f"{n} ({ratios[n]:.2f})" for n in worst))

    def add_small(self, call: SizedCall, samples: dict[str, list[np.ndarray]], bar: float) -> None:
        from measure import ratio, seconds

        name = f"small call, {call.name}"
        value = ratio(samples, "static")
        assert value is not None
        self.cases[name] = {
            "seconds": {library: seconds(times) for library, times in samples.items()},
            "ratio": value,
            "bar": bar,
        }
        cells = [_spread(samples["pycompiler"], len(call.sizes)), "static", _spread(samples["static"], len(call.sizes))]
        self._row(name, [*cells, f"{ratio(samples, 'static', clock=1):.2f}"], value, bar)

    def fail(self, name: str, error: Exception) -> None:
        from rich.markup import escape

        text = f"{type(error).__name__}: {error}"
        self.cases[name] = {"error": text}
        self.missing.append(f"{name}: {text}")
        self.table.add_row(escape(name), f"[red]failed: {type(error).__name__}[/red]", *["-"] * 5, "[red]no[/red]")
        print(f"{name}: {text}", file=sys.stderr)
        self.write()


def _spread(samples: list[np.ndarray], calls: int = 1) -> str:
    from measure import median, seconds

    times = seconds(samples)
    unit, factor = ("s", 1.0) if min(times) > 0.1 else ("us", 1e6 / calls)
    middle, least, greatest = (x * factor for x in (median(samples), min(times), max(times)))
    return f"{middle:.3g} ({least:.3g}, {greatest:.3g}) {unit}"


def _of(case: SizedCase, sizes: int | None) -> SizedCase:
    """The case with `sizes` of its sizes, from the minimum to the maximum."""
    from dataclasses import replace

    every = len(case.sizes)
    if sizes is None or sizes >= every:
        return case
    return replace(case, sizes=tuple(case.sizes[k * (every - 1) // max(sizes - 1, 1)] for k in range(sizes)))


def _measure(report: Report, case: SizedCase, runs: int, threads: int) -> None:
    """All measurements of a program. Each part runs even if another one failed."""
    from cases.tables import AUTO_BAR, TOLD_BAR, WARM_BAR, WHOLE_BAR

    try:
        report.add_warm(case, _warm(case, runs), WARM_BAR)
    except Exception as error:
        report.fail(f"{case.name}: warm calls", error)
        if isinstance(error, AssertionError):
            return  # if results differ, nothing is timed
    found: dict[str, list[dict[str, Any]]] = {}
    for side in reversed(SIDES):
        try:
            found[side] = [_in_new_process(case, side, threads) for _ in range(min(runs, WHOLE_RUNS))]
        except Exception as error:
            report.fail(f"{case.name}: whole run, {side}", error)
    for side, bar in (("told", WHOLE_BAR), ("auto", WHOLE_BAR), ("static", None)):
        if {side, "jax"} <= set(found):
            report.add_whole(case, side, found, bar)
    for side, bar in (("told", TOLD_BAR), ("auto", AUTO_BAR)):
        if {side, "jax"} <= set(found):
            report.add_compilations(case, side, found, bar)


def main() -> None:
    options = _options()
    pin(options.threads)
    # Libraries are imported from here on. They read the number of cores.
    from cases.tables import DYNAMIC, SMALL_BAR, SMALL_CALLS

    def wanted(name: str) -> bool:
        return not options.cases or any(part in name for part in options.cases)

    programs = [_of(case, options.sizes) for case in DYNAMIC if wanted(case.name)]
    if options.whole:
        print(json.dumps(_whole(programs[0], options.whole)))
        return
    from rich.console import Console

    report = Report(options.threads, options.json or RESULTS / "dynamic.json")
    for case in programs:
        _measure(report, case, options.runs, options.threads)
    for call in SMALL_CALLS:
        if wanted(f"small call, {call.name}"):
            try:
                report.add_small(call, _small(call, options.runs), SMALL_BAR)
            except Exception as error:
                report.fail(f"small call, {call.name}", error)
    Console(width=210).print(report.table)
    for line in report.missing:
        print(f"missing: {line}")
    sys.exit(any("error" in result for result in report.cases.values()))


if __name__ == "__main__":
    main()
