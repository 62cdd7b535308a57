"""`make bench`: pictures of the results of other benchmarks in results/, with a bar for each ratio and a line at its
limit.

It draws the existing files: bench.json, bench-2.json (two cores), compile.json, memory.json and dynamic.json, each as a
PNG of the same name.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
from dataclasses import dataclass
from typing import Any

import matplotlib
from options import RESULTS

matplotlib.use("Agg")

from matplotlib import pyplot

HOLDS, MISSES, ASKED, NOTHING_ASKED = "#4c956c", "#c8553d", "#222222", "#9aa5b1"


@dataclass(frozen=True)
class Bar:
    """A ratio and its limit."""

    name: str
    value: float
    asked: float | None


def _of_runs(found: dict[str, Any]) -> list[Bar]:
    bars = [Bar(name, case["ratio"], case["bar"]) for name, case in found["cases"].items() if case.get("ratio")]
    means = found.get("groups", {}).items()
    return bars + [Bar(f"geometric mean of {name}", group["mean"], group["bar"]) for name, group in means]


def _of_compilations(found: dict[str, Any]) -> list[Bar]:
    cases = found["cases"].items()
    bars = [Bar(name, case["ratio"], None) for name, case in cases]
    bars.append(Bar("geometric mean", found["mean"], found["bar"]))
    loads = [
        Bar(f"{name}, from disk", case["disk"]["ratio"], found["load_bar"]) for name, case in cases if "disk" in case
    ]
    return bars + loads


def _of_memory(found: dict[str, Any]) -> list[Bar]:
    # Relative to the limit, because some programs of jax have no temporaries.
    return [Bar(name, case["pycompiler"] / case["asked"], 1.0) for name, case in found["MiB"].items()]


KINDS = {
    "bench": (_of_runs, "time: ours / the better of NumPy and jax, one core"),
    "bench-2": (_of_runs, "time: ours / the better of NumPy and jax, two cores"),
    "compile": (_of_compilations, "compile time: ours / jax's"),
    "dynamic": (_of_runs, "time at many sizes: whole runs / jax's, calls / those compiled for one size"),
    "memory": (_of_memory, "temporaries: ours / the limit"),
}


def draw(bars: list[Bar], title: str, path: pathlib.Path) -> None:
    """Draw bars. Left of 1 is better. The axis is logarithmic: twice and half the speed have the same distance from
    1."""
    figure, axes = pyplot.subplots(figsize=(11, 1.5 + 0.22 * len(bars)), layout="constrained")
    least = min(0.1, *(bar.value for bar in bars if bar.value > 0)) if bars else 0.1
    left = 10 ** math.floor(math.log10(max(least, 1e-3)))
    for row, bar in enumerate(bars):
        missed = bar.asked is not None and bar.value > bar.asked
        color = NOTHING_ASKED if bar.asked is None else MISSES if missed else HOLDS
        axes.barh(row, max(bar.value, left) - left, left=left, height=0.7, color=color)
        axes.text(max(bar.value, left), row, f" {bar.value:.2f}", va="center", fontsize=7)
        if bar.asked is not None:
            axes.plot([bar.asked, bar.asked], [row - 0.45, row + 0.45], color=ASKED, linewidth=1.5)
    axes.set_xscale("log")
    axes.set_xlim(left, max(2.0, *(1.5 * bar.value for bar in bars)))
    axes.axvline(1.0, color=ASKED, linewidth=0.5, linestyle=":")
    axes.set_yticks(range(len(bars)), [bar.name for bar in bars], fontsize=7)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_title(f"{title}\nleft is better; black: the limit", fontsize=9, loc="left")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    folder = parser.parse_args().results
    for name, (bars_of, title) in KINDS.items():
        path = folder / f"{name}.json"
        if path.exists():
            bars = bars_of(json.loads(path.read_text()))
            if bars:
                draw(bars, title, path.with_suffix(".png"))
                print(path.with_suffix(".png"))


if __name__ == "__main__":
    main()
