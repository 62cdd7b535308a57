"""Programs of JAX, lowered by JAX to StableHLO, imported and run here: the results are JAX's."""

from typing import Any

import jax
import numpy as np
import pytest
from stablehlo_programs import FAMILIES, Program

from pycompiler import stablehlo

# `make test` runs one program of this number; all programs of the last families, which join many operations.
_EVERY = 12
_WHOLE = ("control", "models")


def _cases() -> list[Any]:
    cases: list[Any] = []
    for family, programs in FAMILIES.items():
        for number, program in enumerate(programs):
            sampled = number % (3 if family in _WHOLE else _EVERY) == 0
            marks = () if sampled else (pytest.mark.full,)
            cases.append(pytest.param(program, id=f"{family}-{program.name}", marks=marks))
    return cases


def _canonical(value: Any) -> np.ndarray[Any, Any]:
    """In JAX's type, without 64 bits."""
    return np.asarray(jax.device_get(jax.numpy.asarray(value)))


def _check(got: Any, want: Any, tolerance: float) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    if got.dtype.kind not in "biu" or got.dtype.kind == "V":
        if got.dtype.itemsize < 4:
            got, want = got.astype(np.float32), want.astype(np.float32)
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("program", _cases())
def test_program(program: Program) -> None:
    args = jax.tree.map(_canonical, program.args)
    jitted: Any = jax.jit(program.function, keep_unused=True)
    function = stablehlo.load(jitted.lower(*args).as_text(), name=program.name)
    results = function(*jax.tree.leaves(args))
    expected = jax.tree.leaves(jitted(*args))
    assert len(results) == len(expected)
    for got, want in zip(results, expected, strict=True):
        _check(got, want, program.tolerance)


def test_locations_are_those_of_the_traced_program() -> None:
    """With debug information, the errors and profiles of imported code name the lines of the JAX program."""
    text = jax.jit(lambda x: x @ x).lower(np.ones((3, 3), np.float32)).as_text(debug_info=True)
    (result,) = stablehlo.load(text)(np.ones((3, 3), np.float32))
    assert np.asarray(result).sum() == 27
