"""A disk cache of the tests' own, and test files that need several devices.

Compiled code is kept in a folder that is empty at the start and removed at the end: in this process, and in all that
the tests start.

Files that need several devices say `DEVICES = 4`, and run in one process of their own that has as many.
The count is fixed when a process starts. Here each test of such a file takes its outcome from that process, which runs
the whole file once; there, the tests run as usual.
"""

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import pytest

# Workers of pytest-xdist find the folder of who started them. Before anything imports the package.
if "PYCOMPILER_TESTS_CACHE" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="pycompiler-tests-")
    os.environ["PYCOMPILER_TESTS_CACHE"] = os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = _folder
    _owner = os.getpid()
    # Children that a test forked end here too.
    atexit.register(lambda: os.getpid() == _owner and shutil.rmtree(_folder, ignore_errors=True))


@functools.cache
def outcomes(path: str, count: int) -> dict[str, str]:
    """The failure of each test of a file, empty where it passed."""
    environment = {**os.environ, "PYCOMPILER_NUM_CPU_DEVICES": str(count)}
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report.name}", path]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        text = report.read()
    if not text:
        return {"": run.stdout + run.stderr}
    found = {}
    for case in ElementTree.fromstring(text).iter("testcase"):
        bad = [part for part in case if part.tag in ("failure", "error")]
        found[case.attrib["name"]] = "\n".join(part.text or part.attrib.get("message", "failed") for part in bad)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    count = getattr(pyfuncitem.module, "DEVICES", None)
    if count is None or os.environ.get("PYCOMPILER_NUM_CPU_DEVICES") == str(count):
        return None
    found = outcomes(str(pyfuncitem.path), count)
    failure = found.get(pyfuncitem.name, found.get("", "it did not run in the process with several devices"))
    if failure:
        pytest.fail(failure, pytrace=False)
    return True
