"""`make bench-programs`: whole JAX programs on pycompiler and on JAX, with a separate process for each run.

    python benchmarks/programs.py [NAME ...] [--runs N] [--json FILE]

The programs are the quickstarts of libraries and those of tests/libraries/programs (a GPT, a VAE, flows, seas), all
unmodified. The columns are seconds of wall time for the whole process, including imports:

    jax     real JAX, without a disk cache, which is its default
    cold    pycompiler with an empty disk cache
    warm    pycompiler again: the programs are compiled already
    step    of the programs alone: a step after the first, by the program's own clock, of both in milliseconds

The engines take turns. A program whose values differ fails, and has no times. The last rows are geometric means.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = {
    path.stem.removeprefix("with_"): path
    for folder in (ROOT / "tests/libraries/quickstarts", ROOT / "tests/libraries/programs")
    for path in sorted(folder.glob("*.py"))
}
STEP = "step_seconds"
# The same values as in tests/libraries/test_quickstarts.py.
TOLERANCES = {"float32": (2e-3, 2e-4), "float64": (1e-6, 1e-8)}


def run(program: Path, prefix: list[str], cache: str) -> tuple[float, dict[str, np.ndarray]]:
    """The seconds of the process, and the program's output."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "values.npz"
        start = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, *prefix, str(program), str(written)],
            env={**os.environ, "JAX_PLATFORMS": "cpu", "PYCOMPILER_COMPILATION_CACHE_DIR": cache},
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - start
        if ran.returncode != 0:
            raise RuntimeError((ran.stderr.strip() or f"status {ran.returncode}").splitlines()[-1])
        with np.load(written) as values:
            return seconds, dict(values)


def check(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> None:
    if ours.keys() != theirs.keys():
        raise RuntimeError(f"the values {sorted(ours.keys() ^ theirs.keys())} are of one engine alone")
    for key in ours.keys() - {STEP}:
        relative, absolute = TOLERANCES.get(str(theirs[key].dtype), (0, 0))
        if not np.allclose(ours[key], theirs[key], relative, absolute, equal_nan=True):
            raise RuntimeError(f"the values of {key} differ")


def measure(program: Path, runs: int) -> dict[str, float]:
    """The medians of the columns."""
    ours = ["-m", "pycompiler.jax"]
    samples: dict[str, list[float]] = {"jax": [], "cold": [], "warm": [], "jax step": [], "our step": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            for column, prefix in (("jax", []), ("cold", ours), ("warm", ours)):
                seconds, values = run(program, prefix, cache)
                samples[column].append(seconds)
                if column == "jax":
                    expected = values
                else:
                    check(values, expected)
                if STEP in values and column != "cold":
                    samples["jax step" if column == "jax" else "our step"].append(1e3 * float(values[STEP]))
    return {column: statistics.median(times) for column, times in samples.items() if times}


def ratios(row: dict[str, float]) -> dict[str, float]:
    quotients = {"cold": row["cold"] / row["jax"], "warm": row["warm"] / row["jax"]}
    if "our step" in row:
        quotients["step"] = row["our step"] / row["jax step"]
    return quotients


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all programs, unless some are named")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the rows to this file, too")
    options = parser.parse_args()
    if unknown := set(options.names) - PROGRAMS.keys():
        parser.error(f"no program {sorted(unknown)}; there are {', '.join(PROGRAMS)}")
    head = ("jax s", "cold s", "warm s", "cold/jax", "warm/jax", "jax ms", "ours ms", "step/jax")
    print(f"{'':24}" + "".join(f"{name:>10}" for name in head), flush=True)
    rows: dict[str, dict[str, float]] = {}
    failed = 0
    for name in options.names or PROGRAMS:
        try:
            row = rows[name] = measure(PROGRAMS[name], options.runs)
        except RuntimeError as error:
            failed += 1
            print(f"{name:24}  failed: {error}", flush=True)
            continue
        quotients = ratios(row)
        cells = [row["jax"], row["cold"], row["warm"], quotients["cold"], quotients["warm"]]
        cells += [row["jax step"], row["our step"], quotients["step"]] if "step" in quotients else []
        print(f"{name:24}" + "".join(f"{cell:10.2f}" for cell in cells), flush=True)
    for column in ("cold", "warm", "step"):
        quotients = [ratios(row)[column] for row in rows.values() if column in ratios(row)]
        if quotients:
            mean = math.exp(statistics.fmean(map(math.log, quotients)))
            print(f"geometric mean of {column}/jax over {len(quotients)} programs: {mean:.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
