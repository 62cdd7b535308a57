"""The command line of benchmarks. Nothing here imports a library."""

from __future__ import annotations

import argparse
import pathlib

RESULTS = pathlib.Path(__file__).parent / "results"


def parser(description: str | None, runs: int) -> argparse.ArgumentParser:
    """The common options; `runs` is the default number of runs."""
    options = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    options.add_argument("--runs", type=int, default=runs)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--json", type=pathlib.Path)
    options.add_argument("cases", nargs="*", help="parts of the names of the cases to run (all)")
    return options
