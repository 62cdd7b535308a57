"""Installs a wheel in a fresh environment and prints its size and its import time.

usage: wheel_figures.py WHEEL. pip fetches its requirements. Times are medians of processes. The ratios to importing
NumPy, measured in between, are comparable across machines.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 15
# Times of separate processes, minus the time of an empty process.
IMPORTS = {
    "numpy": "import numpy",
    "numpy, pycompiler": "import numpy, pycompiler",
    "numpy, pycompiler, and its compiler": "import numpy, pycompiler, pycompiler._compiler",
}


def seconds(*command: str | pathlib.Path) -> float:
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: wheel_figures.py WHEEL")
    wheel = pathlib.Path(sys.argv[1])
    # The default installation, with the bytecode that Python compiles.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        bin_folder = pathlib.Path(folder) / "bin"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([bin_folder / "pip", "install", "-q", wheel], check=True)
        package = next(pathlib.Path(folder).glob("lib/python3*/site-packages/pycompiler"))
        commands: dict[str, tuple[str | pathlib.Path, ...]] = {"nothing": (bin_folder / "python", "-c", "pass")}
        commands |= {name: (bin_folder / "python", "-c", code) for name, code in IMPORTS.items()}
        commands["array-opt --version"] = (bin_folder / "array-opt", "--version")
        commands["array-opt --version, without the command's Python"] = (package / "bin" / "array-opt", "--version")
        taken: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                taken[name].append(seconds(*command))
        installed = sum(path.stat().st_size for path in package.rglob("*") if "__pycache__" not in path.parts)
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.0f} MB, installed {installed / 1e6:.0f} MB")
    nothing = statistics.median(taken["nothing"])
    reference = statistics.median(taken["numpy"]) - nothing
    for name, times in taken.items():
        median = statistics.median(times)
        shown = f"{(median - nothing) / reference:5.2f} of importing numpy" if name in IMPORTS else ""
        print(f"{median * 1e3:7.1f} ms  {name:<50}{shown}".rstrip())


if __name__ == "__main__":
    main()
