"""A wheel for each supported Python: made from the sources, installed as by users, and run."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from installed_wheel import ROOT, Installed, run, without_llvm

# One worker makes the wheels.
pytestmark = pytest.mark.xdist_group("packaging")

VERSIONS = ("3.11", "3.12", "3.13")
OTHERS = [version for version in VERSIONS if version != f"{sys.version_info.major}.{sys.version_info.minor}"]

PROGRAM = """
import json, sys
import numpy as np
import pycompiler as pc
import pycompiler.numpy as pnp

loss = lambda w, x: (pnp.tanh(x @ w) ** 2).sum()
w, x = pnp.ones((3, 2)), pnp.arange(12.0).reshape(4, 3)
value, gradient = pc.jit(pc.value_and_grad(loss))(w, x)
scanned = pc.lax.scan(lambda c, y: (c + y, c * y), 0.0, x[:, 0])[0]
print(json.dumps([float(value), np.asarray(gradient).tolist(), float(scanned), sys.version_info[:2]]))
"""


def other_python(version):
    """An interpreter of that version on this machine."""
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
    return str(kept[-1]) if kept else shutil.which(f"python{version}")


@pytest.mark.full
@pytest.mark.parametrize("version", OTHERS)
def test_runs_as_here(version, installed, tmp_path):
    python = other_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    make = ROOT / "tools" / "make_wheel.py"
    wheel = run(sys.executable, make, "--python", python, "--out", tmp_path / "dist").stdout.split()[-1]
    run(python, "-m", "venv", tmp_path / "venv")
    there = Installed(tmp_path / "venv", tmp_path / "cache", without_llvm())
    run(there.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    *expected, _ = json.loads(installed.says(PROGRAM))
    *found, said = json.loads(there.says(PROGRAM))
    assert found == expected
    assert ".".join(map(str, said)) == version
    assert version in there.run("python", "-m", "pycompiler").stdout
    assert "array-opt" in there.run("array-opt", "--version").stdout + there.run("array-opt", "--help").stdout
