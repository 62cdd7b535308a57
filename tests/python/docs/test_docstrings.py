"""Each example in a docstring of the package runs and prints the written output; floats as on the pages (pages.py)."""

import doctest
import importlib
import re

import pytest
from pages import FLAGS, ROOT, Checker

import pycompiler  # noqa: F401 (modules of the package are imported by it, in its order)

FILES = [path for path in sorted((ROOT / "pycompiler").rglob("*.py")) if ">>> " in path.read_text()]


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_the_examples_of_a_module_run(path):
    module = importlib.import_module(module_of(path))
    tests = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    report = []
    runner = doctest.DocTestRunner(checker=Checker(), optionflags=FLAGS, verbose=False)
    for test in tests:
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
    # No example may be missed: each is in a docstring of a member of the module.
    written = len(re.findall(r"^\s*>>> ", path.read_text(), re.MULTILINE))
    assert runner.tries >= written, f"{written} examples are written, {runner.tries} were found"
