"""Stencils and other programs of scientific Python that read an array at shifted places. Sizes and bars: cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Inputs, Library, Tree, normal, repeat, replaced, uniform

SHORT = {"float32": "f32", "float64": "f64"}


def _case(name: str, inputs: Inputs, build: Callable[[Library], Any], dtype: str, bar: float | None) -> Case:
    tolerance = 1e-3 if dtype == "float32" else 1e-8
    return Case(f"{name} {SHORT[dtype]}", inputs, build, tolerance=tolerance, bar=bar, against="jax", x64=True)


def averages(length: int, steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The average of three neighbours, from one array to another and back."""

    def build(lib: Library) -> Callable[..., Tree]:
        third = np.dtype(dtype).type(1 / 3)

        def step(_: Any, state: Tree) -> Tree:
            a, b = state
            b = replaced(lib, b, np.s_[1:-1], (a[:-2] + a[1:-1] + a[2:]) * third)
            return replaced(lib, a, np.s_[1:-1], (b[:-2] + b[1:-1] + b[2:]) * third), b

        return lambda a, b: repeat(lib, steps, step, (a, b))

    return _case(f"3-point averages {length} x {steps}", normal((length,), (length,), dtype=dtype), build, dtype, bar)


def five_points(size: int, steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The average of a point and its four neighbours, from one array to another and back."""

    def around(x: Any, factor: Any) -> Any:
        return factor * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])

    def build(lib: Library) -> Callable[..., Tree]:
        factor, inside = np.dtype(dtype).type(0.2), np.s_[1:-1, 1:-1]

        def step(_: Any, state: Tree) -> Tree:
            a, b = state
            b = replaced(lib, b, inside, around(a, factor))
            return replaced(lib, a, inside, around(b, factor)), b

        return lambda a, b: repeat(lib, steps, step, (a, b))

    return _case(
        f"5-point averages {size} x {steps}", normal((size, size), (size, size), dtype=dtype), build, dtype, bar
    )


def _added(lib: Library, x: Any, place: Any, value: Any) -> Any:
    return replaced(lib, x, place, x[place] + value)


def fields(rows: int, columns: int, steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """A step of electric and magnetic fields on staggered grids."""

    def build(lib: Library) -> Callable[..., Tree]:
        half, most = (np.dtype(dtype).type(x) for x in (0.5, 0.7))

        def step(i: Any, state: Tree) -> Tree:
            ex, ey, hz = state
            ey = replaced(lib, ey, np.s_[0, :], half * ey[1, :])
            ey = _added(lib, ey, np.s_[1:, :], -half * (hz[1:, :] - hz[:-1, :]))
            ex = _added(lib, ex, np.s_[:, 1:], -half * (hz[:, 1:] - hz[:, :-1]))
            change = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
            return ex, ey, _added(lib, hz, np.s_[:-1, :-1], -most * change)

        return lambda ex, ey, hz: repeat(lib, steps, step, (ex, ey, hz))

    shapes = [(rows, columns)] * 3
    return _case(f"fields {rows}x{columns} x {steps}", normal(*shapes, dtype=dtype), build, dtype, bar)


def diffusion(shape: tuple[int, int, int], dtype: str = "float64", bar: float | None = None) -> Case:
    """A step of horizontal diffusion with limited fluxes."""
    inner = (shape[0] + 4, shape[1] + 4, shape[2])

    def build(lib: Library) -> Callable[..., Tree]:
        xp, four = lib.numpy, np.dtype(dtype).type(4)

        def run(given: Any, coefficient: Any) -> Any:
            lap = four * given[1:-1, 1:-1] - (given[2:, 1:-1] + given[:-2, 1:-1] + given[1:-1, 2:] + given[1:-1, :-2])
            res = lap[1:, 1:-1] - lap[:-1, 1:-1]
            flx = xp.where(res * (given[2:-1, 2:-2] - given[1:-2, 2:-2]) > 0, 0, res)
            res = lap[1:-1, 1:] - lap[1:-1, :-1]
            fly = xp.where(res * (given[2:-2, 2:-1] - given[2:-2, 1:-2]) > 0, 0, res)
            return given[2:-2, 2:-2] - coefficient * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1])

        return run

    return _case(f"diffusion {'x'.join(map(str, shape))}", uniform(inner, shape, dtype=dtype), build, dtype, bar)


def rank_two(size: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """A matrix plus two outer products, and the products with two vectors."""

    def build(lib: Library) -> Callable[..., Tree]:
        xp = lib.numpy

        def run(a: Any, u1: Any, v1: Any, u2: Any, v2: Any, y: Any, z: Any) -> Tree:
            a = a + xp.outer(u1, v1) + xp.outer(u2, v2)
            x = 1.2 * (a.T @ y) + z
            return a, x, 1.5 * (a @ x)

        return run

    vector = (size,)
    inputs = uniform((size, size), *[vector] * 6, low=-1 / size, high=1 / size, dtype=dtype)
    return _case(f"rank-two update {size}", inputs, build, dtype, bar)


def last_axis(shape: tuple[int, int, int], dtype: str = "float64", bar: float | None = None) -> Case:
    """A 3-D array by a matrix, over the last axis."""
    size = shape[-1]

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda a, b: lib.numpy.sum(
            lib.numpy.reshape(a, (shape[0], shape[1], 1, size)) @ b, axis=2
        )  # as in doitgen

    return _case(
        f"3-D by matrix {'x'.join(map(str, shape))}", uniform(shape, (size, size), dtype=dtype), build, dtype, bar
    )


def periodic(shape: tuple[int, ...], steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """Diffusion on a torus, by rolls."""

    def build(lib: Library) -> Callable[..., Tree]:
        tenth = np.dtype(dtype).type(0.1)

        def step(_: Any, x: Any) -> Any:
            around = -2 * len(shape) * x
            for axis in range(len(shape)):
                around = around + lib.numpy.roll(x, 1, axis) + lib.numpy.roll(x, -1, axis)
            return x + tenth * around

        return lambda x: repeat(lib, steps, step, x)

    name = f"periodic diffusion {'x'.join(map(str, shape))} x {steps}"
    return _case(name, normal(shape, dtype=dtype), build, dtype, bar)


def gradient(size: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The gradient of a sum of squares of a 5-point stencil."""

    def build(lib: Library) -> Callable[..., Tree]:
        def energy(x: Any) -> Any:
            lap = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]
            return (lap**2).sum()

        return lib.top.grad(energy)

    case = _case(f"gradient of a 5-point stencil {size}", normal((size, size), dtype=dtype), build, dtype, bar)
    return Case(**{**case.__dict__, "numpy": False})
