"""Files with `PROCESSES = 4` run whole in that many processes (with `DEVICES_EACH` devices each), once for each kind of
start in their `KINDS`. Here each test takes its outcome from there. One such start at a time: all are in one group."""

import os

import pytest
import starting


def _is_rank():
    return "RANK_OF_TESTS" in os.environ


def pytest_generate_tests(metafunc):
    if hasattr(metafunc.module, "PROCESSES") and not _is_rank():
        metafunc.fixturenames.append("launcher")
        metafunc.parametrize("launcher", getattr(metafunc.module, "KINDS", starting.KINDS), scope="module")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/python/distributed/" in str(item.path) and not _is_rank():
            item.add_marker(pytest.mark.xdist_group("distributed"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    module = pyfuncitem.module
    if not hasattr(module, "PROCESSES") or _is_rank():
        return None
    kind = pyfuncitem.callspec.params["launcher"]
    # The name of the test there: the launcher is none of its parameters.
    name = pyfuncitem.originalname
    if rest := pyfuncitem.callspec.id.removeprefix(kind).removesuffix(kind).strip("-"):
        name += f"[{rest}]"
    found, text = starting.outcome(
        str(pyfuncitem.path), kind, module.PROCESSES, getattr(module, "DEVICES_EACH", 1), name
    )
    if found == "failed":
        pytest.fail(text, pytrace=False)
    if found == "skipped":
        pytest.skip(text)
    return True
