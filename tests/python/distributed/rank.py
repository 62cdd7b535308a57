"""One process of a test file with PROCESSES: runs all tests, and writes each outcome as soon as it is known."""

import faulthandler
import json
import os
import sys
from pathlib import Path

import pytest

# A test that takes longer ends its process, with the stacks of all threads.
DEADLINE = 40 * max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


class Report:
    def __init__(self, file):
        self.file = file

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        faulthandler.dump_traceback_later(DEADLINE, exit=True)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            name = report.nodeid.split("::", 1)[1]
            self.file.write(json.dumps([name, report.outcome, report.longreprtext]) + "\n")
            self.file.flush()

    def pytest_runtest_teardown(self, item):
        faulthandler.cancel_dump_traceback_later()


def main(path, folder):
    faulthandler.dump_traceback_later(2 * DEADLINE, exit=True)
    import pycompiler

    pycompiler.distributed.initialize(initialization_timeout=60)
    number = pycompiler.process_index()
    with open(Path(folder) / f"{number}.jsonl", "w") as file:
        code = pytest.main(
            ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not full", path], plugins=[Report(file)]
        )
    faulthandler.dump_traceback_later(DEADLINE, exit=True)
    pycompiler.distributed.shutdown()
    faulthandler.cancel_dump_traceback_later()
    sys.stdout.flush()
    os._exit(int(code))


if __name__ == "__main__":
    os.environ["RANK_OF_TESTS"] = "1"
    main(*sys.argv[1:])
