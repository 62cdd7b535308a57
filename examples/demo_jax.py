"""`make demo-jax`: runs flax_digits.py, an unmodified JAX program, on JAX and on pycompiler, and shows both times.

First pycompiler replaces JAX (python -m pycompiler.jax). Then it is the backend that JAX itself loads
(JAX_PLATFORMS=pycompiler). In each first run, the disk cache of pycompiler is empty. The second run finds the compiled
programs there.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(__file__).resolve().parent / "flax_digits.py"


def run(command: list[str], environment: dict[str, str]) -> dict[str, str]:
    start = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, *command, str(PROGRAM), "--json", *sys.argv[1:]],
        env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - start
    return {"the process": f"{seconds:.2f} s", **json.loads(ran.stdout.splitlines()[-1])}


def main() -> None:
    ours = ["-m", "pycompiler.jax"]
    with tempfile.TemporaryDirectory() as folder:
        cache = {"PYCOMPILER_COMPILATION_CACHE_DIR": folder}
        backend = {**cache, "JAX_PLATFORMS": "pycompiler"}
        columns = {
            "jax": run([], {}),
            "pycompiler": run(ours, cache),
            "pycompiler, again": run(ours, cache),
            "the backend": run([], backend),
            "the backend, again": run([], backend),
        }
    print(f"{PROGRAM.name}, {' '.join(sys.argv[1:]) or 'unmodified'}")
    print(f"{'':30}" + "".join(f"{name:>20}" for name in columns))
    for figure in columns["jax"]:
        print(f"{figure:30}" + "".join(f"{column[figure]:>20}" for column in columns.values()))


if __name__ == "__main__":
    main()
