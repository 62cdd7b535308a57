"""A plugin of pytest for tools/first_gpu_run.sh: it writes each failure at once into $OUT/failures-*.txt.

A kernel that traps makes the GPU unusable for its process. After such a failure the worker of pytest-xdist ends, so
that the other tests run in a new worker.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LOST = "the device stays unusable"
SHOWN = 6000
_worker = os.environ.get("PYTEST_XDIST_WORKER")
_is_lost = False


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    global _is_lost
    report = (yield).get_result()
    if not report.failed:
        return
    text = str(report.longrepr)
    _is_lost |= LOST in text
    with (Path(os.environ["OUT"]) / f"failures-{_worker or 'main'}.txt").open("a") as file:
        file.write(
            f"=== {item.nodeid}\n{text[: SHOWN // 2]}\n...\n{text[-SHOWN // 2 :]}\n"
            if len(text) > SHOWN
            else f"=== {item.nodeid}\n{text}\n"
        )


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish(nodeid):
    if _is_lost and _worker:
        os._exit(3)
