"""A virtual environment with the wheel, in which programs run as a user's would.

They find neither the checkout nor, if the system lets a process hide files from itself, the LLVM of the wheel's build.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LLVM = Path(f"/usr/lib/llvm-{(ROOT / 'llvm-version.txt').read_text().strip()}")


def run(*command, env=None, cwd=None, check=True):
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return done


def without_llvm():
    """The prefix of a command that must not find LLVM; empty if hiding is not allowed (it needs root)."""
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
        """The output of a Python program."""
        return self.run("python", "-c", program, **settings).stdout
