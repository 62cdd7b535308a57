"""Contractions of a dimension that has few elements behind it, such as an image's columns before its channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp

CASES = [
    ("twc,jw->tjc", (6, 20, 3), (15, 20)),
    ("twc,jw->tcj", (6, 20, 8), (8, 20)),
    ("twc,wj->tjc", (5, 8, 2), (8, 9)),
    ("bhwc,jw->bhjc", (2, 5, 17, 4), (12, 17)),
    ("bhwcd,jw->bhjcd", (2, 3, 16, 2, 3), (10, 16)),
    ("bhwc,ih,jw->bijc", (2, 9, 11, 3), (14, 9), (13, 11)),
    ("twvc,jwv->tjc", (6, 4, 5, 3), (15, 4, 5)),  # terms of two dimensions
    ("twcv,jwv->tjc", (6, 4, 3, 5), (15, 4, 5)),  # terms on both sides of the inner rows
    ("btwc,bjw->btjc", (2, 6, 20, 3), (2, 15, 20)),  # a batch
    ("jw,twc->tjc", (15, 20), (6, 20, 3)),  # the other factor
]


def _drawn(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal(shape)
    return (drawn * 4).astype(dtype) if dtype.startswith("int") else drawn.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64", "float16"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_values(case: Any, dtype: str) -> None:
    formula, *shapes = case
    factors = [_drawn(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    wide = [a if dtype.startswith("int") else a.astype(np.complex128) for a in factors]
    expected = np.einsum(formula, *wide)
    with pc.enable_x64(True):
        got = np.asarray(pc.jit(lambda *a: jnp.einsum(formula, *a))(*factors))
    assert got.dtype == dtype
    bound = {"float64": 1e-13, "int32": 0, "float16": 4e-3}.get(dtype, 1e-5)
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: case[0])
def test_gradients(case: Any) -> None:
    formula, *shapes = case
    factors = [_drawn(shape, "float64", seed) for seed, shape in enumerate(shapes)]
    with pc.enable_x64(True):
        got = pc.jit(pc.grad(lambda a, *b: jnp.sum(jnp.sin(jnp.einsum(formula, a, *b)))))(*factors)
    inputs, result = formula.split("->")
    names = inputs.split(",")
    slope = np.cos(np.einsum(formula, *factors))
    expected = np.einsum(f"{result},{','.join(names[1:])}->{names[0]}", slope, *factors[1:])
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


def test_the_number_of_lines_may_be_symbolic() -> None:
    program = pc.jit(lambda a, b: jnp.einsum("twc,jw->tjc", a, b), dynamic={0: ("t", None, None)})
    b = _drawn((15, 20), "float32", 1)
    for lines in (1, 2, 7, 40):
        a = _drawn((lines, 20, 3), "float32", lines)
        np.testing.assert_allclose(program(a, b), np.einsum("twc,jw->tjc", a, b), rtol=0, atol=1e-5)
