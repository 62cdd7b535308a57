"""`make bench`: the time to trace, lower and compile, relative to jax, and to load an entry of the disk cache.

The process has compiled another program before. Caches in memory and on disk are empty. Then each program is compiled
once to a separate disk cache. New processes time `lowered.compile()`, which finds the entry and loads it, relative to
jax's `lowered.compile()`. Times are in milliseconds.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

from affinity import pin
from options import RESULTS, parser

if TYPE_CHECKING:
    import numpy as np
    from library import Case, Library

# The limit in seconds for all runs of one program. A longer program has fewer runs, but at least LEAST.
PATIENCE = 30.0
LEAST = 3


def _options() -> argparse.Namespace:
    options = parser(__doc__, runs=7)
    options.add_argument("--load", action="store_true", help="print only the seconds of compile() of each case")
    return options.parse_args()


def _arrays(lib: Library, case: Case) -> Any:
    import numpy as np

    return lib.top.tree.map(lib.numpy.asarray, case.inputs(np.random.default_rng(0)))


def _compile(lib: Library, case: Case, arrays: Any) -> tuple[np.ndarray, np.ndarray]:
    """Seconds of all stages, and of the last stage, for a new function that no cache in memory has."""
    from measure import now

    lib.top.clear_caches()
    gc.collect()
    function = case.build(lib)
    start = now()
    lowered = lib.top.jit(function).lower(*arrays)
    middle = now()
    lowered.compile()
    end = now()
    return end - start, end - middle


def _samples(case: Case, runs: int) -> tuple[dict[str, list[np.ndarray]], dict[str, list[np.ndarray]]]:
    from measure import JAX, OURS

    arrays = {lib.name: _arrays(lib, case) for lib in (OURS, JAX)}
    every: dict[str, list[np.ndarray]] = {OURS.name: [], JAX.name: []}
    last: dict[str, list[np.ndarray]] = {OURS.name: [], JAX.name: []}
    taken = 0.0
    while len(every[JAX.name]) < runs and (len(every[JAX.name]) < LEAST or taken < PATIENCE):
        for lib in (OURS, JAX):
            whole, compiled = _compile(lib, case, arrays[lib.name])
            every[lib.name].append(whole)
            last[lib.name].append(compiled)
            taken += float(whole[0])
    return every, last


def _loads(cases: list[Case]) -> dict[str, list[float]]:
    """Seconds of compile() in this process, by both clocks."""
    from measure import OURS

    return {case.name: _compile(OURS, case, _arrays(OURS, case))[1].tolist() for case in cases}


def _in_new_process(threads: int, names: list[str], folder: str) -> dict[str, list[float]]:
    env = {
        **os.environ,
        "PYCOMPILER_ENABLE_COMPILATION_CACHE": "1",
        "PYCOMPILER_COMPILATION_CACHE_DIR": folder,
    }
    command = [sys.executable, __file__, "--load", "--threads", str(threads), *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _disk_samples(cases: list[Case], runs: int, threads: int) -> dict[str, list[np.ndarray]]:
    """Seconds from lookup to loaded entry, each in a new process; empty without a disk cache."""
    import numpy as np

    import pycompiler as pc

    if not hasattr(pc.config, "enable_compilation_cache"):
        return {}
    with tempfile.TemporaryDirectory() as folder:
        _in_new_process(threads, [case.name for case in cases], folder)
        return {
            case.name: [np.array(_in_new_process(threads, [case.name], folder)[case.name]) for _ in range(runs)]
            for case in cases
        }


def main() -> None:
    options = _options()
    pin(options.threads)
    # Libraries are imported from here on. They read the number of cores.
    warnings.filterwarnings("ignore", message="(?s).*operations were recorded from this line")
    from cases.tables import COMPILED, warming

    wanted = [case for case in COMPILED if not options.cases or any(part in case.name for part in options.cases)]
    if options.load:
        print(json.dumps(_loads([case for case in COMPILED if case.name in options.cases])))
        return

    from statistics import geometric_mean

    from cases.tables import COMPILE_BAR, LOAD_BAR
    from measure import JAX, OURS, holds, median, ratio, seconds
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    for lib in (OURS, JAX):
        other = warming()
        _compile(lib, other, _arrays(lib, other))
    table = Table(
        title=f"milliseconds, medians; {options.threads} core{'s' * (options.threads > 1)}", title_justify="left"
    )
    columns = (
        "program",
        "pycompiler",
        "jax",
        "of CPU",
        "ratio",
        "bar",
        "holds",
        "from disk",
        "jax's compile()",
        "of CPU",
    )
    for column in (*columns, "ratio", "bar", "holds"):
        table.add_column(column, justify="left" if column == "program" else "right")
    found: dict[str, Any] = {}
    ratios: list[float] = []
    samples = {}
    for case in wanted:
        print(case.name, end=": ", file=sys.stderr, flush=True)
        samples[case.name] = _samples(case, options.runs)
        print(f"{ratio(samples[case.name][0], 'jax'):.2f}", file=sys.stderr)
    disk = _disk_samples(wanted, LEAST, options.threads)
    for case in wanted:
        every, last = samples[case.name]
        value = ratio(every, "jax")
        assert value is not None
        ratios.append(value)
        found[case.name] = {"seconds": {name: seconds(times) for name, times in every.items()}, "ratio": value}
        cells = [f"{median(every[lib.name]) * 1e3:,.1f}" for lib in (OURS, JAX)]
        cells += [f"{ratio(every, 'jax', clock=1):.2f}", f"{value:.2f}", "", ""]
        if case.name in disk:
            loads = {OURS.name: disk[case.name], JAX.name: last[JAX.name]}
            loaded = ratio(loads, "jax")
            found[case.name]["disk"] = {"seconds": {n: seconds(times) for n, times in loads.items()}, "ratio": loaded}
            cells += [f"{median(loads[lib.name]) * 1e3:,.2f}" for lib in (OURS, JAX)]
            cells += [f"{ratio(loads, 'jax', clock=1):.3f}", f"{loaded:.3f}", f"{LOAD_BAR:g}", holds(loaded, LOAD_BAR)]
        table.add_row(escape(case.name), *cells)
    mean = geometric_mean(ratios)
    table.add_section()
    # The bar is for the mean of all programs.
    bar = COMPILE_BAR if len(wanted) == len(COMPILED) else None
    shown = ("-", "-") if bar is None else (f"{bar:g}", holds(mean, bar))
    table.add_row(f"geometric mean of {len(ratios)}", "", "", "", f"{mean:.2f}", *shown)
    Console(width=190).print(table)
    path = options.json or RESULTS / "compile.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {"threads": options.threads, "mean": mean, "bar": COMPILE_BAR, "load_bar": LOAD_BAR}
    path.write_text(json.dumps({**header, "cases": found}, indent=1))


if __name__ == "__main__":
    main()
