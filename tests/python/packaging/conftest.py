"""The wheel for a user: made from the build tree, and installed in a fresh virtual environment.

This environment has only NumPy and ml_dtypes, from the environment of the tests.
"""

import importlib.util
import os
import sys
from pathlib import Path

import pytest
from installed_wheel import ROOT, Installed, run, without_llvm


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel of the build tree."""
    made = run(sys.executable, ROOT / "tools" / "make_wheel.py", "--out", tmp_path_factory.mktemp("dist"))
    return Path(made.stdout.split()[-1])


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    there = Installed(folder / "venv", folder / "cache", without_llvm())
    # Nothing is downloaded: the requirements of the wheel are linked.
    for name in ("numpy", "ml_dtypes"):
        found = Path(importlib.util.find_spec(name).origin).parent
        for part in found.parent.glob(f"{name}*"):
            os.symlink(part, there.packages / part.name)
    pip = (sys.executable, "-m", "pip", "--python", there.python)
    run(*pip, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel)
    return there
