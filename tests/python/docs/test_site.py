"""The site builds without warnings, also about links; its reference has all functions, ops, passes, settings."""

import inspect
import os
import re
import subprocess
import sys

import pytest
from attributes_reference import tables
from count_names import expected_names, owner
from llvm_tools import output, own_tool
from pages import ROOT
from python_reference import all_public_modules, public_names

import pycompiler as pc
from pycompiler._runtime import ArrayFunction
from pycompiler.core.config.settings import TABLE

# One worker builds the site, for all tests.
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def anchors(site, page):
    return set(re.findall(r'id="([^"]+)"', (site / page / "index.html").read_text()))


def test_the_reference_has_every_public_function(site):
    modules = dict(all_public_modules())
    expected = [owner(name) for name in expected_names() if name != "Array"]
    described = [m for m in expected if not all(inspect.ismodule(getattr(m, name)) for name in public_names(m))]
    assert {module.__name__ for module in described} <= set(modules)
    for path, module in modules.items():
        there = anchors(site, f"reference/python/{path}")
        functions = {name: getattr(module, name) for name in public_names(module)}
        functions = {name: value for name, value in functions.items() if is_function(value)}
        missing = {name: value for name, value in functions.items() if f"{module.__name__}.{name}" not in there}
        assert not [name for name, value in missing.items() if f"{value.__module__}.{name}" not in there]


def is_function(value):
    return inspect.isfunction(value) or isinstance(value, ArrayFunction)


def test_the_reference_has_every_method_of_arrays(site):
    text = (site / "reference/python/Array/index.html").read_text()
    assert not [name for name in dir(pc.Array) if not name.startswith("_") and f"<code>{name}" not in text]


def test_the_reference_has_every_op(site):
    """Ops are those of the primitives and some that only the compiler creates."""
    pages = [page.parent for page in (site / "reference/ops").glob("*/index.html")]
    sources = "".join(path.read_text() for path in (ROOT / "dialect/include/array/IR").glob("*.td"))
    ops = re.findall(r'^def Array_\w+Op\s*:\s*\w+<\s*"(\w+)"', sources, re.M)
    assert len(ops) > 150
    there = set().union(*(anchors(site, page.relative_to(site)) for page in pages))
    assert not [name for name in ops if f"array{name}" not in there]


def test_the_reference_has_every_pass_and_pipeline(site):
    passes = set().union(*(anchors(site, page.parent) for page in (site / "reference/passes").glob("*/index.html")))
    pipelines = anchors(site, "reference/pipelines")
    listed = output([own_tool(ROOT, "array-opt"), "--help"])
    ours = set(re.findall(r"^ {6}--((?:array|convert-array)-[\w-]+)", listed, re.M))
    assert len(ours) > 40
    assert ours <= passes | pipelines


def test_the_reference_has_every_attribute(site):
    text = (site / "reference/attributes/index.html").read_text()
    assert not [row.name for rows in tables(ROOT).values() for row in rows if f"<code>{row.name}</code>" not in text]


def test_the_table_of_attributes_is_complete():
    """All discardable attributes that are read or set anywhere. Other names of the dialect are its ops."""
    named = set()
    for folder, endings in (("dialect", ("*.h", "*.cpp", "*.td")), ("pycompiler", ("*.py",)), ("tools", ("*.cpp",))):
        for path in (path for ending in endings for path in (ROOT / folder).rglob(ending)):
            named |= set(re.findall(r'"(array\.[a-z_]+)"', path.read_text()))
    sources = "".join(path.read_text() for path in (ROOT / "dialect/include/array/IR").glob("*.td"))
    ops = {f"array.{name}" for name in re.findall(r'^def Array_\w+Op\s*:\s*\w+<\s*"(\w+)"', sources, re.M)}
    rows = [row.name for rows in tables(ROOT).values() for row in rows]
    assert len(set(rows)) == len(rows)
    assert set(rows) <= named
    assert named - ops - set(rows) == set()


def test_the_reference_has_every_setting(site):
    text = (site / "reference/settings/index.html").read_text()
    assert not [setting.name for setting in TABLE if f"<code>{setting.environment}</code>" not in text]


def test_every_block_is_one(site):
    """A fence that MkDocs does not read as a block would appear as text."""
    pages = {page: page.read_text() for page in site.rglob("index.html")}
    assert not [str(page) for page, text in pages.items() if "```" in re.sub(r"<pre.*?</pre>", "", text, flags=re.S)]
