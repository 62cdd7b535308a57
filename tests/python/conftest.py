"""A disk cache of the tests' own, test files that need several devices, or a GPU, and counts of what jit does.

Compiled code is kept in a folder that is empty at the start and removed at the end: in this process, and in all that
the tests start.

Files that need several CPU devices say `DEVICES = 4`, those that need a GPU say `GPU = True`, and run in one process
of their own that has them: what devices there are is settled when a process starts. Here each test of such a file takes
its outcome from that process, which runs the whole file once; there, the tests run as usual.

The GPU is the emulated one (tests/emulator), or the machine's, where PYCOMPILER_PLATFORM=gpu asks for this. The
emulated one has NVIDIA's libraries, emulated too, in files that name them alone: `GPU_LIBRARIES = ("cublaslt",)`. There
are several of it in files that say how many: `GPU_DEVICES = 4`.
"""

import atexit
import functools
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

# Workers of pytest-xdist find the folder of who started them. Before anything imports the package.
if "PYCOMPILER_TESTS_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="pycompiler-tests-")
    os.environ["PYCOMPILER_TESTS_CACHE"] = os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = _folder
    _owner = os.getpid()
    # Children that a test forked end here too.
    atexit.register(lambda: os.getpid() == _owner and shutil.rmtree(_folder, ignore_errors=True))


EMULATED = Path(__file__).resolve().parents[2] / "build" / "tests"
EMULATED_DRIVER = EMULATED / "libcuda-emulated.so"


def process_for(module) -> dict[str, str]:
    """The variables of the process that a file's tests need."""
    needed = {}
    if hasattr(module, "DEVICES"):
        needed |= {"PYCOMPILER_NUM_CPU_DEVICES": str(module.DEVICES), "PYCOMPILER_PLATFORM": "cpu"}
    if getattr(module, "GPU", False):
        needed["PYCOMPILER_PLATFORM"] = "gpu"
        if os.environ.get("PYCOMPILER_PLATFORM") != "gpu":
            needed["PYCOMPILER_CUDA_DRIVER"] = str(EMULATED_DRIVER)
            if hasattr(module, "GPU_DEVICES"):
                needed["PYCOMPILER_EMULATED_DEVICES"] = str(module.GPU_DEVICES)
            for name in getattr(module, "GPU_LIBRARIES", ()):
                needed[f"PYCOMPILER_{name.upper()}"] = str(EMULATED / f"lib{name}-emulated.so")
    return needed


@functools.cache
def outcomes(path: str, needed: frozenset[tuple[str, str]], marks: str) -> dict[str, tuple[str, str]]:
    """What became of each test of a file, of those with some marks: "failed" or "skipped" and why, or nothing."""
    environment = {**os.environ, **dict(needed)}
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report.name}", path]
        command += ["-m", marks]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        text = report.read()
    if not text:
        return {"": ("failed", run.stdout + run.stderr)}
    found = {}
    for case in ElementTree.fromstring(text).iter("testcase"):
        bad = [part.text or part.attrib.get("message", "failed") for part in case if part.tag in ("failure", "error")]
        skipped = [part.attrib.get("message", "skipped") for part in case if part.tag == "skipped"]
        outcome = "failed" if bad else "skipped" if skipped else ""
        found[case.attrib["name"]] = outcome, "\n".join(bad or skipped)
    return found


# Before pytest-xdist reads the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A file that runs in a process of its own is one worker's, so that there is one such process."""
    for item in items:
        if process_for(getattr(item, "module", None)):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    needed = process_for(pyfuncitem.module)
    if all(os.environ.get(name) == value for name, value in needed.items()):
        return None
    found = outcomes(str(pyfuncitem.path), frozenset(needed.items()), pyfuncitem.config.option.markexpr)
    missing = found.get("", ("failed", "it did not run in the process that it needs"))
    outcome, why = found.get(pyfuncitem.name, missing)
    if outcome == "failed":
        pytest.fail(why, pytrace=False)
    if outcome == "skipped":
        pytest.skip(why)
    return True


class Counts:
    """How often functions were traced, compiled and bound to sizes since the last `clear`, as the log of jit says."""

    def __init__(self, caplog):
        self._caplog = caplog

    def _count(self, what):
        return sum(record.getMessage().startswith(what) for record in self._caplog.records)

    @property
    def traced(self):
        return self._count("Traced ")

    @property
    def compiled(self):
        return self._count("Compiled ") + self._count("Loaded ")

    @property
    def bound(self):
        return self._count("Bound ")

    def clear(self):
        self._caplog.clear()


@pytest.fixture
def counts(caplog):
    caplog.set_level(logging.DEBUG, logger="pycompiler.jit")
    return Counts(caplog)
