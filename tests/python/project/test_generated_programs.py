"""`tools/fuzz_programs`: drawn programs agree with JAX in all ways to run them; a fault is found and reduced."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

DEVICES = 2
ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tools"))

from fuzz_programs import libraries  # noqa: E402 (a tool, which is not installed)
from fuzz_programs.generate import draw_program  # noqa: E402
from fuzz_programs.programs import Body, Line, Program, literal  # noqa: E402
from fuzz_programs.reference import Reference, difference  # noqa: E402
from fuzz_programs.shrink import shrink  # noqa: E402
from fuzz_programs.ways import WAYS, check  # noqa: E402


def test_a_seed_gives_the_same_programs():
    once, again = ([draw_program(random.Random(seed)).text() for seed in range(4)] for _ in range(2))
    assert once == again


@pytest.mark.parametrize(
    "x",
    [
        np.array([[1.5, np.nan], [-np.inf, -0.0]], np.float32),
        np.array([complex(-0.0, np.nan), complex(np.inf, -2)], np.complex64),
        np.array(True),
        np.zeros((0, 3), np.uint8),
        np.array([0.1, 3], dtype=pnp.bfloat16.dtype),
        np.array([0.1, 1 / 3], np.float64),
    ],
    ids=lambda x: x.dtype.name,
)
def test_an_input_is_printed_exactly(x):
    import ml_dtypes

    again = eval(literal(x), {"np": np, "ml_dtypes": ml_dtypes, "nan": np.nan, "inf": np.inf})
    assert again.dtype == x.dtype
    assert again.shape == x.shape
    assert again.tobytes() == x.tobytes()


def test_what_nothing_needs_is_pruned():
    body = Body(
        "g", ("c",), (Line(("d",), "c + b"), Line(("e",), "c * 2"), Line((), "debug.callback(seen, c)")), ("d",)
    )
    lines = (Line(("b",), "a + 1"), Line(("u",), "a * z"), Line(("r",), "jit(g)(a)", (body,)))
    program = Program({"a": np.ones(2), "z": np.ones(2)}, lines, ("r",)).pruned()
    assert list(program.inputs) == ["a"]
    assert program.text() == (
        "def f(a):\n    b = a + 1\n    def g(c):\n        d = c + b\n        debug.callback(seen, c)\n"
        "        return d\n    r = jit(g)(a)\n    return r\n"
    )


class Changed:
    """A module with one function replaced."""

    def __init__(self, module, **functions):
        self.module = module
        self.functions = functions

    def __getattr__(self, name):
        return self.functions.get(name) or getattr(self.module, name)


def long_program(middle: str) -> Program:
    lines = [Line((f"b{i}",), f"pnp.sin({f'b{i - 1}' if i else 'a'}) + 0.5") for i in range(6)]
    lines += [Line(("m",), middle.format("b5"))]
    lines += [Line((f"c{i}",), f"pnp.tanh({f'c{i - 1}' if i else 'm'})") for i in range(6)]
    return Program({"a": np.linspace(-2, 3, 6, dtype=np.float32).reshape(2, 3)}, tuple(lines), ("c5", "b1"))


# A fault in one function, a caller of it, and a way that shows it.
FAULTS = {
    "a value": ({"cumsum": lambda x, axis: pnp.cumsum(x, axis) + (pnp.arange(3) == 2)}, "pnp.cumsum({}, 1)", "jit"),
    "an error": ({"flip": lambda x, axis: x.no_such_method()}, "pnp.flip({}, 1)", "eager"),
    "a derivative": ({"square": lambda x: pc.lax.stop_gradient(x) * x}, "pnp.square({})", "grad"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_made_small(monkeypatch, name):
    functions, middle, way = FAULTS[name]
    names = {**libraries.OUR_NAMES, "pnp": Changed(pnp, **functions)}
    monkeypatch.setattr("fuzz_programs.ways.OUR_NAMES", names)
    program = long_program(middle)
    failure = check(program, way)
    assert failure is not None
    small = shrink(program, lambda p: failure.is_like(check(p, way)))
    assert small.length() == 1
    assert middle.split("(")[0] in small.text()
    for other in WAYS:
        assert check(long_program("pnp.sort({})"), other) is None, other


def test_lost_callbacks_are_found(monkeypatch):
    body = Body("g", ("c",), (Line((), "debug.callback(seen, c)"),), ("c",))
    program = Program(
        {"a": np.ones(2, np.float32)}, (Line(("b",), "jit(g)(a)", (body,)), Line(("d",), "b + 1")), ("d",)
    )
    assert check(program, "jit") is None
    quiet = Changed(pc.debug, callback=lambda function, x: None)
    monkeypatch.setattr("fuzz_programs.ways.OUR_NAMES", {**libraries.OUR_NAMES, "debug": quiet})
    assert check(program, "jit").message == "0 callbacks were called instead of 1"


def test_rounding_is_no_difference():
    x = np.array([1.0, 1e-8, np.nan, np.inf], np.float32)
    moved = [[x * np.float32(1 + 2**-22)]]
    assert difference([x * np.float32(1 + 2**-23)], [x], moved, 2.0**-23) is None
    assert "instead of" in difference([x + np.float32([0, 1e-3, 0, 0])], [x], moved, 2.0**-23)
    assert "instead of" in difference([np.nan_to_num(x)], [x], moved, 2.0**-23)
    assert "float32(4,) instead of float64(4,)" in difference([x], [x.astype(np.float64)], moved, 2.0**-23)


def test_roundings_within_a_program_of_integers_are_no_difference():
    """A tangent of a large number, which moves by twenty times what its argument moves. Integers can't be moved."""
    lines = (Line(("b",), "pnp.linalg.norm(pnp.tanh(a), ord=1, axis=1)"), Line(("c",), "pnp.tan(b * b)"))
    program = Program({"a": np.array([[3, -1, -1], [4, -2, -3]], np.int32)}, lines, ("c",))
    reference = Reference(program)
    wanted, *moved = reference.values
    assert not np.any(np.asarray(moved) - np.asarray(wanted))
    got = [wanted[0] * np.float32(1 + 100 * 2**-23)]
    assert "instead of" in difference(got, wanted, moved, reference.eps)
    assert difference(got, wanted, moved, reference.eps, rounded=lambda: reference.rounded_values) is None
    far = [wanted[0] * np.float32(1.01)]
    assert "instead of" in difference(far, wanted, moved, reference.eps, rounded=lambda: reference.rounded_values)
