"""Checks that no two Python files of tests/python have the same name.

pytest imports each file as a module with the file's name. Of two files with one name, it collects the first, and a
whole run ends with an error. Prints each second file and exits with 1.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    first: dict[str, pathlib.Path] = {}
    faults = 0
    for file in sorted((ROOT / "tests" / "python").rglob("*.py")):
        file = file.relative_to(ROOT)
        # Files of each folder: pytest distinguishes these.
        if file.name in ("conftest.py", "__init__.py"):
            continue
        if first.setdefault(file.name, file) != file:
            print(f"{file}: {first[file.name]} has this name too. Give it a name of its own.")
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
