"""The source distribution: it has the files that a build needs, and no output of a build."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("packaging")

ROOT = Path(__file__).resolve().parents[3]
# Files that a build reads. Other files are for developers.
NEEDED = ("CMakeLists.txt", "LICENSE", "cmake", "dialect", "llvm-version.txt", "pycompiler", "pycompiler_commands")
NEEDED += ("jax_plugins", "pyproject.toml", "runtime", "third_party", "tools")


def test_every_source_is_in_the_sdist(tmp_path):
    program = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    made = done.stdout.split()[-1]
    with tarfile.open(tmp_path / made) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    tracked = subprocess.run(["git", "ls-files", *NEEDED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.splitlines()) - inside == set()
    assert [name for name in inside if name.endswith((".so", ".o", ".a", ".whl")) or name.startswith("build")] == []
