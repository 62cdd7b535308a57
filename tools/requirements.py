"""Prints the Python requirements of the build and of the named extras of pyproject.toml, one a line, for pip.

The Makefile installs these into .venv without building the package. The build tree serves the package in place.
"""

import pathlib
import sys
import tomllib


def main() -> None:
    root = pathlib.Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text())
    lines = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    for extra in sys.argv[1:]:
        lines += project["project"]["optional-dependencies"][extra]
    print("\n".join(dict.fromkeys(lines)))


if __name__ == "__main__":
    main()
