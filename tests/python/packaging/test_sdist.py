"""The source distribution: it has the files that a build needs, and no output of a build."""

import shutil
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


# Outputs of builds, as they lie between the sources.
BUILT = ("build/lib.o", "build-tsan/lib.a", "dist/old.whl", "pycompiler/_runtime.so", "pycompiler/_compiler/_mlir.so")


def test_every_source_is_in_the_sdist(tmp_path):
    # A copy of the sources: the backend visits every file, and a checkout has an environment of some 100,000.
    copy, out = tmp_path / "copy", tmp_path / "out"
    sources = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in sources.splitlines():
        if (ROOT / name).is_file():  # not one that was removed and is not committed
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    for name in BUILT:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(b"built")
    program = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(out)!r}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=copy, capture_output=True, text=True, check=True)
    made = done.stdout.split()[-1]
    with tarfile.open(out / made) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    tracked = subprocess.run(["git", "ls-files", *NEEDED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(tracked.stdout.splitlines()) - inside == set()
    assert [name for name in inside if name.endswith((".so", ".o", ".a", ".whl")) or name.startswith("build")] == []
