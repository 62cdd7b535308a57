"""The plugin of pytest: it installs the stand-ins, bounds each test's time, and writes the outcomes as lines of JSON.

JAX_TESTS_OUTCOMES names the file, JAX_TESTS_SOURCES the folder of JAX's package.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import tomllib
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import names
import pytest
import stand_ins
from absl.testing import absltest

SECONDS = 120
_RULES: list[dict[str, str]] = tomllib.loads(Path(__file__).with_name("not_counted.toml").read_text())["rule"]

stand_ins.install(Path(os.environ["JAX_TESTS_SOURCES"]), names)


def _prepare_test_util() -> None:
    """JAX's test_util, without the counts of its caches."""
    from jax._src import test_util  # after the stand-ins are installed

    for name in vars(test_util):
        if name.startswith(("count_", "collect_", "assert_num_")):
            setattr(test_util, name, names.no_cache)
    # The internal name of a public property.
    jax.Array._committed = property(lambda array: array.committed)
    test_util.request_cpu_devices = lambda number: None  # the command line of this harness sets the number of devices


def _raises(case: unittest.TestCase, kind: Any, regex: Any = None, function: Any = None, *args: Any, **kw: Any) -> Any:
    """assertRaisesRegex without a comparison of the text, which differs here."""
    if function is None:
        return case.assertRaises(kind)  # noqa: PT027 the tests are of unittest
    return case.assertRaises(kind, function, *args, **kw)  # noqa: PT027


def _warns(case: unittest.TestCase, kind: Any, regex: Any = None) -> Any:
    return contextlib.nullcontext() if issubclass(kind, DeprecationWarning) else case.assertWarns(kind)


@contextlib.contextmanager
def _deprecated(case: unittest.TestCase, *_: Any, **__: Any) -> Iterator[None]:
    """Names that JAX will remove: they warn or fail in JAX, and may work here."""
    with contextlib.suppress(ValueError, TypeError):
        yield


def _in(case: unittest.TestCase, member: Any, container: Any, msg: Any = None) -> None:
    """assertIn. The text of an HLO module counts as an internal name of JAX."""
    if isinstance(container, str) and member not in container and re.search(_HLO, member):
        raise stand_ins.InsideOfJaxError("the text of an HLO module")
    _assert_in(case, member, container, msg)


_HLO = r"\b(sdy|mhlo|stablehlo)\.|num_partitions = |<@mesh"
_assert_in = unittest.TestCase.assertIn


def _ignore_text() -> None:
    """Compare errors and warnings only by their kind."""
    from jax._src.test_util import JaxTestCase

    unittest.TestCase.assertIn = _in

    unittest.TestCase.assertRaisesRegex = _raises
    absltest.TestCase.assertRaisesWithLiteralMatch = _raises
    JaxTestCase.assertWarnsRegex = _warns
    JaxTestCase.assertDeprecationWarnsOrRaises = _deprecated


_prepare_test_util()
_ignore_text()


def _rule(file: str, name: str, error: str = "") -> str | None:
    """The reason why a test is not counted, from not_counted.toml."""
    for rule in _RULES:
        if (
            re.fullmatch(rule["file"], file)
            and re.match(rule["tests"], name)
            and re.search(rule.get("error", ""), error)
        ):
            return rule["why"]
    return None


def _write(file: str, test: str, outcome: str, why: str) -> None:
    with open(os.environ["JAX_TESTS_OUTCOMES"], "a") as out:
        out.write(json.dumps({"file": file, "test": test, "outcome": outcome, "why": why}) + "\n")


def _inside(error: BaseException | None) -> str | None:
    """The internal name of JAX in an error or in one of its causes."""
    while error is not None:
        if isinstance(error, stand_ins.InsideOfJaxError):
            return str(error)
        error = error.__cause__ or error.__context__
    return None


def _private(info: pytest.ExceptionInfo[BaseException], file: Path) -> str | None:
    """The private attribute of one of JAX's objects that the test itself reads."""
    found = re.search(r"has no attribute '(_[a-z]\w*)'", str(info.value))
    here = (file.parent, Path(os.environ["JAX_TESTS_SOURCES"]) / "_src")
    if info.type is not AttributeError or found is None or Path(str(info.traceback[-1].path)).parent not in here:
        return None
    return f"the private attribute {found[1]}"


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"the test took more than {SECONDS} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[pytest.TestReport]:
    report = yield
    if report.when == "call" or (report.when == "setup" and not report.passed):
        file, test = item.path.stem, item.nodeid.partition("::")[2]
        outcome, why = report.outcome, ""
        if report.failed:
            assert call.excinfo is not None
            error = call.excinfo.value
            reason = _inside(error) or _private(call.excinfo, item.path) or _rule(file, item.name, str(error))
            outcome = "failed" if reason is None else "not counted"
            why = f"{call.excinfo.typename}: {call.excinfo.value}"[:500] if reason is None else reason
        _write(file, test, outcome, why)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[pytest.CollectReport]:
    report = yield
    if report.failed and isinstance(collector, pytest.Module):
        error = report.call.excinfo.value if getattr(report, "call", None) is not None else None
        reason = _inside(error) or _rule(collector.path.stem, "")
        text = str(report.longrepr)[-400:]
        _write(collector.path.stem, "", "failed" if reason is None else "not counted", reason or text)
    return report
