"""The public names: all exist and are tested, or are excluded with a reason; a missing name suggests the nearest."""

import importlib
import importlib.util
import pkgutil
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "tools/count_names.py"
spec = importlib.util.spec_from_file_location("count_names", SCRIPT)
count_names = importlib.util.module_from_spec(spec)
spec.loader.exec_module(count_names)

COUNTS = count_names.count()


@pytest.mark.parametrize("module", COUNTS)
def test_every_name_is_there_or_left_out_with_a_reason(module):
    assert COUNTS[module].missing == []
    assert COUNTS[module].present  # no module is left out whole


@pytest.mark.parametrize("module", COUNTS)
def test_every_name_is_named_by_a_test(module):
    assert COUNTS[module].untested == []


def test_few_names_are_left_out():
    assert sum(len(c.left_out) for c in COUNTS.values()) <= 0.02 * sum(len(c.names) for c in COUNTS.values())


def test_reasons_are_given_for_names_that_are_not_there():
    named = {name for module, c in COUNTS.items() for name in [f"{module}.{left}" for left in c.left_out]}
    for name, reason in count_names.left_out().items():
        assert len(reason) > 10
        assert name in named, f"{name} is listed in docs/differences.md, but is there or is not in the list of names"


@pytest.mark.parametrize("module", [module for module in COUNTS if module != "Array"])
def test_a_name_that_is_not_there(module):
    path = module if module == "pycompiler" else f"pycompiler.{module}"
    with pytest.raises(AttributeError, match=f"module {path} has no attribute no_such_thing"):
        _ = count_names.owner(module).no_such_thing


@pytest.mark.parametrize("package", ["lax", "numpy"])
def test_a_package_has_what_its_modules_list(package):
    """The lists of names are in the modules; a name is in one of them."""
    prefix = f"pycompiler.{package}."
    namespace = importlib.import_module(prefix[:-1])
    names = [info.name for info in pkgutil.iter_modules(namespace.__path__) if info.name not in namespace.__all__]
    listed = [n for name in names for n in getattr(importlib.import_module(prefix + name), "__all__", ())]
    assert len(set(namespace.__all__)) == len(namespace.__all__)
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(namespace.__all__)
    assert len(listed) > 150
