"""The wheel as its user has it: made of the build tree, and installed in a fresh virtual environment.

In this environment are NumPy and ml_dtypes, those of the tests' own environment, and nothing else; what is run there
finds neither the checkout nor, where the system lets a process hide files from itself, the LLVM that it was built with.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LLVM = Path(f"/usr/lib/llvm-{(ROOT / 'llvm-version.txt').read_text().strip()}")


def run(*command, env=None, cwd=None, check=True):
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return done


def without_llvm():
    """What comes before a command that is not to find LLVM; nothing where hiding is not allowed (it takes root)."""
    hide = ("unshare", "--mount", "sh", "-c", f'mount -t tmpfs none {LLVM} && exec "$@"', "sh")
    return hide if LLVM.exists() and shutil.which("unshare") and not run(*hide, "true", check=False).returncode else ()


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel in it."""

    folder: Path
    cache: Path
    hiding: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        return next(self.folder.glob("lib/python3.*/site-packages"))

    @property
    def package(self) -> Path:
        return self.packages / "pycompiler"

    def run(self, command, *arguments, check=True, **settings):
        """Run a command of the environment, as a user's shell would; `settings` are environment variables."""
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PYCOMPILER_COMPILATION_CACHE_DIR": str(self.cache)}
        env |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **settings}
        return run(*self.hiding, self.folder / "bin" / command, *arguments, env=env, cwd=self.folder, check=check)

    def says(self, program, **settings) -> str:
        """What a Python program prints."""
        return self.run("python", "-c", program, **settings).stdout


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
    # Nothing is fetched: what the wheel requires is linked.
    for name in ("numpy", "ml_dtypes"):
        found = Path(importlib.util.find_spec(name).origin).parent
        for part in found.parent.glob(f"{name}*"):
            os.symlink(part, there.packages / part.name)
    pip = (sys.executable, "-m", "pip", "--python", there.python)
    run(*pip, "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel)
    return there
