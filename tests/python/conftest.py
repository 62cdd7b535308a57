"""A disk cache for the tests, processes for test files that need several devices or a GPU, and counts of jit's work.

Compiled code is kept in a folder that is empty at the start and removed at the end, for this process and all processes
that the tests start.

Files that need several CPU devices have `DEVICES = 4`, files that need a GPU have `GPU = True`. They run in a separate
process with these devices, because the devices of a process are fixed at its start. Here, each test of such a file
takes its outcome from that process, which runs the whole file once. In that process, the tests run as usual.

The GPU is the emulated one (tests/emulator), or that of the machine with PYCOMPILER_PLATFORM=gpu. The emulated GPU has
only the libraries of NVIDIA, also emulated, that a file names: `GPU_LIBRARIES = ("cublaslt",)`. A file with
`GPU_DEVICES = 4` gets several emulated GPUs.
"""

import atexit
import copy
import functools
import gc
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import sampling

# Workers of pytest-xdist find the folder of the parent process. This runs before the package is imported.
if "PYCOMPILER_TESTS_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="pycompiler-tests-")
    os.environ["PYCOMPILER_TESTS_CACHE"] = os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = _folder
    _owner = os.getpid()
    # Forked children of a test end here, too.
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
    """The outcome of each test of a file with one of the marks: "failed" or "skipped" with the reason, or nothing."""
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
    """Tables are sampled. One worker runs all tests of a file with a separate process, so that there is one."""
    sampling.mark_outside(items)
    for item in items:
        if process_for(getattr(item, "module", None)):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


_STATES: pytest.StashKey[dict[int, dict]] = pytest.StashKey()


def generators(module):
    """NumPy's random generators among the names of a test module."""
    return [value for value in vars(module).values() if isinstance(value, np.random.Generator)]


def pytest_collection_finish(session):
    """Modules and tests live until the end: the collector need not visit them again."""
    modules = {item.module for item in session.items if hasattr(item, "module")}
    session.config.stash[_STATES] = {
        id(found): copy.deepcopy(found.bit_generator.state) for module in modules for found in generators(module)
    }
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Each test starts with the random numbers that its module starts with, whichever tests ran before it."""
    for found in generators(item.module) if hasattr(item, "module") else ():
        state = item.config.stash[_STATES].get(id(found))
        if state is not None:
            found.bit_generator.state = state


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
    """The number of traces, compilations and bindings to sizes since the last `clear`, from jit's log."""

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
