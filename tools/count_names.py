#!/usr/bin/env python3
"""Counts the public names: existing names, tested names, and names that docs/differences.md excludes with a reason.

tests/python/project/test_names.py runs it. On the command line it prints the table, the names that neither exist nor
are excluded (`--missing`), or the names that no test mentions (`--untested`).
"""

import argparse
import importlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NAMES = ROOT / "tests/python/project/names.txt"
DIFFERENCES = ROOT / "docs/differences.md"
TESTS = ROOT / "tests/python"
# These tests iterate lists of names. They do not test the results of a function.
LISTS = {"integer_calls.py", "test_advice.py", "test_array_api.py", "test_error_kinds.py", "test_integers.py"}
LISTS |= {"test_names.py", "test_signatures.py", "test_weak_types.py", "test_wrong_arguments.py"}


class Count(NamedTuple):
    """The names of one module: all, existing ones, excluded ones, missing ones, existing ones without a test."""

    names: list[str]
    present: list[str]
    left_out: list[str]
    missing: list[str]
    untested: list[str]


def expected_names() -> dict[str, list[str]]:
    """module -> names, from the list."""
    modules: dict[str, list[str]] = {}
    current: list[str] = []
    for line in NAMES.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            module, line = line.split(":", 1)
            current = modules.setdefault(module, [])
        current += line.split()
    return modules


def left_out() -> dict[str, str]:
    """The reason for each excluded "module.name", from the tables of the page of differences."""
    table = DIFFERENCES.read_text().split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", table, re.MULTILINE)
    return {name: reason.strip() for names, reason in rows for name in re.findall(r"`([\w.]+)`", names)}


def names_in_tests() -> set[str]:
    """The names in the Python tests: as an attribute (`pnp.sin`), in quotes ("sin") or in an import."""
    files = (path for path in TESTS.rglob("*.py") if path.name not in LISTS)
    named = re.compile(r"(?:[.\"'|,]|import|\bas) ?(\w+)")
    return {word for path in files for word in named.findall(path.read_text())}


def owner(module: str) -> object:
    """The package, its class `Array`, or one of its modules."""
    package = importlib.import_module("pycompiler")
    if module in ("pycompiler", "Array"):
        return package if module == "pycompiler" else package.Array
    return importlib.import_module(f"pycompiler.{module}")


def count() -> dict[str, Count]:
    """A count for each module."""
    tested, reasons = names_in_tests(), left_out()
    counts: dict[str, Count] = {}
    for module, names in expected_names().items():
        try:
            holder = owner(module)
        except ModuleNotFoundError:
            holder = None
        present = [name for name in names if hasattr(holder, name)]
        excused = [name for name in names if f"{module}.{name}" in reasons and name not in present]
        missing = [name for name in names if name not in present and name not in excused]
        counts[module] = Count(names, present, excused, missing, [name for name in present if name not in tested])
    return counts


def main() -> int:
    """Print the table; 1 if a name is missing or untested."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missing", action="store_true", help="print the names that neither exist nor are excluded")
    parser.add_argument("--untested", action="store_true", help="print the names that no test mentions")
    options = parser.parse_args()
    counts = count()
    print(f"{'module':<20}{'names':>7}{'there':>7}{'left out':>10}{'missing':>9}{'untested':>10}")
    for module, (names, present, excused, missing, untested) in counts.items():
        print(f"{module:<20}{len(names):>7}{len(present):>7}{len(excused):>10}{len(missing):>9}{len(untested):>10}")
        for asked, chosen in [(options.missing, missing), (options.untested, untested)]:
            if asked and chosen:
                print("   ", *chosen)
    total = [sum(len(column) for column in columns) for columns in zip(*counts.values(), strict=True)]
    print(f"{'all':<20}{total[0]:>7}{total[1]:>7}{total[2]:>10}{total[3]:>9}{total[4]:>10}")
    return 1 if total[3] or total[4] else 0


if __name__ == "__main__":
    sys.exit(main())
