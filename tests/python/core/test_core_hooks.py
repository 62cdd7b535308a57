"""Hooks that later modules fill. Until then, an error names the module."""

import pytest

import pycompiler as pc
from pycompiler.core.hooks import Hooks, hooks
from pycompiler.core.tracing.structural import add
from pycompiler.sharding import SingleDeviceSharding

# This runs before the fixture of this folder makes references evaluate operations.
FILLED_BY = {name: getattr(hooks, name).__module__ for name in Hooks.__slots__ if getattr(hooks, name) is not None}


def test_what_is_not_filled_says_who_fills_it(monkeypatch):
    empty = Hooks()
    monkeypatch.setattr(hooks, "evaluate", empty.evaluate)
    with pytest.raises(
        RuntimeError, match=r"eager evaluation is not available until pycompiler\.jit has been imported"
    ):
        add.bind(1.0, 2.0)
    monkeypatch.setattr(hooks, "place", empty.place)
    with pytest.raises(RuntimeError, match=r"placing an array .* until pycompiler\.spmd has been imported"):
        SingleDeviceSharding(pc.devices()[0]).place(pc.numpy.ones(2))


def test_every_field_is_filled_when_the_package_is_imported():
    # The types of shardings fill `typing` when the first mesh has Explicit axes, so that other programs pay nothing.
    assert {*Hooks.__slots__} - FILLED_BY.keys() <= {"typing"}
    found = {name: module for name, module in FILLED_BY.items() if name != "typing"}
    filled = {"evaluate": "jit.eager", "place": "spmd.execution", "type_results": "spmd.partition.typing"}
    assert found == {name: f"pycompiler.{module}" for name, module in filled.items()}
