"""The quickstarts and programs: their list, their runs, and the values that real JAX gives, kept in `values/`.

    python tests/libraries/quickstart_values.py [NAME ...]     # `make library-values`: writes values/NAME.json

A quickstart of a library is an unmodified JAX program, quickstarts/with_NAME.py; programs/NAME.py are larger. Each
writes its values by numpy.savez to the file that its first argument names, among them `step_seconds`, the time of a
step, which is no value. This module runs it by plain `python`, thus on the JAX that is installed; the tests run it by
`python -m pycompiler.jax` (test_quickstarts.py).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
QUICKSTARTS = {path.stem.removeprefix("with_"): path for path in sorted((HERE / "quickstarts").glob("with_*.py"))}
PROGRAMS = {path.stem: path for path in sorted((HERE / "programs").glob("*.py"))}
NAMES = [*QUICKSTARTS, *PROGRAMS]
# The module that one needs: of a quickstart, where its name is another; of a program, if it needs a library.
MODULES = {
    "flax_linen": "flax",
    "flax_nnx": "flax",
    "orbax_checkpoint": "orbax.checkpoint",
    "gpt_in_flax": "flax",
    "tree_search": "mctx",
}
STEP = "step_seconds"
# Settings of whoever runs the tests must not change the numbers.
SETTINGS = ("JAX_", "XLA_", "PYCOMPILER_NUM_CPU_DEVICES", "PYCOMPILER_THREEFRY_PARTITIONABLE", "PYCOMPILER_ENABLE_X64")


def program(name: str) -> Path:
    return QUICKSTARTS.get(name) or PROGRAMS[name]


def module_of(name: str) -> str | None:
    """The library that a quickstart or program needs."""
    return MODULES.get(name, name if name in QUICKSTARTS else None)


def run(name: str, prefix: Sequence[str], **environment: str) -> dict[str, np.ndarray[Any, Any]]:
    """The values of a quickstart or program that the command `prefix program file` runs.

    Raises RuntimeError with what it printed if it fails.
    """
    kept = {key: value for key, value in os.environ.items() if not key.startswith(SETTINGS)}
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "values.npz"
        ran = subprocess.run(
            [*prefix, str(program(name)), str(written)],
            env={**kept, "JAX_PLATFORMS": "cpu", **environment},
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if ran.returncode != 0:
            raise RuntimeError(f"{program(name).name} ended with status {ran.returncode}:\n{ran.stdout}{ran.stderr}")
        with np.load(written) as values:
            return {key: value for key, value in values.items() if key != STEP}


def load(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """The values of real JAX."""
    stored = json.loads((HERE / "values" / f"{name}.json").read_text())
    return {
        key: np.asarray(each["values"], each["dtype"]).reshape(each["shape"]) for key, each in stored["values"].items()
    }


def save(name: str, values: dict[str, np.ndarray[Any, Any]], version: str) -> None:
    def numbers(array: np.ndarray[Any, Any]) -> list[Any]:
        if array.dtype.kind != "f":
            return array.ravel().tolist()
        digits = np.finfo(array.dtype).precision + 3
        return [float(f"{value:.{digits}g}") for value in array.ravel().tolist()]

    rows = [
        f'    "{key}": ' + json.dumps({"dtype": str(array.dtype), "shape": list(array.shape), "values": numbers(array)})
        for key, array in values.items()
    ]
    head = f'{{\n  "from": "jax {version}",\n  "values": {{\n'
    (HERE / "values" / f"{name}.json").write_text(head + ",\n".join(rows) + "\n  }\n}\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="all of them, unless some are named")
    names = parser.parse_args().names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"no program {sorted(unknown)}; there are {', '.join(NAMES)}")
    version = subprocess.run(
        [sys.executable, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=True
    ).stdout.strip()
    for name in names:
        save(name, run(name, [sys.executable]), version)
        print(f"values/{name}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
