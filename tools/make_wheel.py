"""Makes a wheel in dist/, from the tree of `make build`, or for another Python (--python) from a separate tree.

A wheel needs only glibc and libstdc++ from the machine. auditwheel determines the minimum versions, which become the
tag of the wheel. A wheel with other requirements is refused here. Prints the path of the wheel.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*command: str | pathlib.Path) -> str:
    """The output of a command; its error output, too, if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"make_wheel: {' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def prepared(python: str) -> pathlib.Path:
    """The interpreter of a virtual environment for another Python, with the build requirements of the package."""
    tag = run(python, "-c", "import sys; print(sys.implementation.cache_tag)").strip()
    folder = ROOT / f"build-{tag}-venv"
    interpreter = folder / "bin" / "python"
    if not interpreter.exists():
        run(python, "-m", "venv", folder)
    told = f"make_wheel: compiles everything for {tag}: as long as a first `make build`, unless ccache has it"
    print(told, file=sys.stderr, flush=True)
    requirements = run(sys.executable, ROOT / "tools" / "requirements.py").split()
    run(interpreter, "-m", "pip", "install", "-q", *requirements)
    return interpreter


@contextlib.contextmanager
def alone(folder: pathlib.Path) -> Iterator[None]:
    """A lock, because two builds of one tree would write the same files."""
    with (folder / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def built(python: str | None, tree: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The wheel from the build, before auditwheel."""
    interpreter = pathlib.Path(sys.executable) if python is None else prepared(python)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    if python is None:
        options += ["-Ccmake.source-dir=dialect/wheel/built", f"-Ccmake.define.PYCOMPILER_BUILD_TREE={tree}"]
        options += [f"-Cbuild-dir={folder / 'packing'}"]
    with alone(tree if python is None else interpreter.parents[1]):
        run(interpreter, "-m", "pip", "wheel", ".", *options)
    return next(folder.glob("*.whl"))


def platform_of(wheel: pathlib.Path) -> str:
    """The oldest platform on which a wheel runs, by auditwheel's name."""
    said: dict[str, Any] = json.loads(run(sys.executable, "-m", "auditwheel", "show", "--json", wheel))
    platform = str(said["overall_tag"])
    if not platform.startswith("manylinux") or said["external_libs"]:
        sys.exit(f"make_wheel: {wheel.name} is not portable, auditwheel says:\n{json.dumps(said, indent=2)}")
    return platform


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--python", help="another Python (3.11 or later) to build for; by default the one of .venv")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the tree of `make build`")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist", help="the folder of the wheel")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        wheel = built(options.python, options.build.resolve(), pathlib.Path(folder))
        tags = ("--platform-tag", platform_of(wheel))
        name = run(sys.executable, "-m", "wheel", "tags", "--remove", *tags, wheel).split()[-1]
        print(shutil.move(wheel.parent / name, options.out / name))


if __name__ == "__main__":
    main()
