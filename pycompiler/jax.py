"""`python -m pycompiler.jax`: runs a program that imports JAX on pycompiler. It is run as `python` is.

    python -m pycompiler.jax script.py [arguments]
    python -m pycompiler.jax -m module [arguments]
    python -m pycompiler.jax -c program [arguments]

It calls `pycompiler.compat.install()` first. As a plugin, `pytest -p pycompiler.jax`, it does so in each process of
pytest, also in those of pytest-xdist. `-m pytest` adds that option.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence
from typing import Any

from pycompiler.compat import install

__all__ = ["main"]

_PYTEST = ["-p", "pycompiler.jax"]


def main(arguments: Sequence[str]) -> int:
    """Run the program of a command line; the status is 2 for one that names no program."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    first, rest = arguments[0], list(arguments[1:])
    if first in ("-m", "-c") and not rest:
        print(f"python -m pycompiler.jax: {first} needs a {'module' if first == '-m' else 'program'}", file=sys.stderr)
        return 2
    if first.startswith("-") and first not in ("-m", "-c"):
        print(f"python -m pycompiler.jax: unknown option {first}; there are -m, -c and -h", file=sys.stderr)
        return 2
    install()
    if first == "-m":
        name = rest.pop(0)
        # As Python does: modules are looked for in the current folder.
        sys.path[0] = os.getcwd()
        sys.argv = [name, *(_PYTEST if name == "pytest" else []), *rest]
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        if not os.path.exists(first):
            print(f"python -m pycompiler.jax: there is no file {first!r}", file=sys.stderr)
            return 2
        sys.argv = [first, *rest]
        sys.path[0] = os.path.dirname(os.path.abspath(first))
        runpy.run_path(first, run_name="__main__")
    return 0


def pytest_load_initial_conftests(early_config: Any, parser: Any, args: Any) -> None:
    """pytest calls this before it imports the first file of the tests."""
    del early_config, parser, args
    install()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
