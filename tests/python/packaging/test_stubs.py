"""The stubs of the compiler's binding equal the output of nanobind: `make stubs` writes them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.pyi")}


def test_the_stubs_are_those_of_the_binding(tmp_path):
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "pycompiler._compiler", "-r", "-O", tmp_path]
    subprocess.run(command, check=True, timeout=120, cwd=ROOT)
    made = files(tmp_path / "_compiler")
    assert {"__init__.pyi", "ir.pyi"} <= set(made)
    assert made == files(ROOT / "pycompiler/_compiler"), "run `make stubs`"
