"""Stencils and other programs of scientific Python that read an array at shifted places. Sizes and bars: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import with_c
import with_numba
import with_torch
from library import Case, Inputs, Library, Tree, normal, repeat, replaced, uniform

SHORT = {"float32": "f32", "float64": "f64"}


def _case(
    name: str,
    inputs: Inputs,
    build: Callable[[Library], Any],
    dtype: str,
    bar: float | None,
    has_steps: bool = False,
    numpy: bool = True,
    **peers: Callable[[Any], Any],
) -> Case:
    return Case(
        f"{name} {SHORT[dtype]}",
        inputs,
        build,
        tolerance=1e-3 if dtype == "float32" else 1e-8,
        bar=bar,
        against="jax",
        x64=True,
        numpy=numpy,
        peers=with_torch.peers(build, has_steps) | peers,
    )


def averages(length: int, steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The average of three neighbours, from one array to another and back."""

    def build(lib: Library) -> Callable[..., Tree]:
        third = np.dtype(dtype).type(1 / 3)

        def step(_: Any, state: Tree) -> Tree:
            a, b = state
            b = replaced(lib, b, np.s_[1:-1], (a[:-2] + a[1:-1] + a[2:]) * third)
            return replaced(lib, a, np.s_[1:-1], (b[:-2] + b[1:-1] + b[2:]) * third), b

        return lambda a, b: repeat(lib, steps, step, (a, b))

    inputs = normal((length,), (length,), dtype=dtype)
    c = with_c.function("averages", with_c.like(2), N=length, STEPS=steps)
    name = f"3-point averages {length} x {steps}"
    return _case(name, inputs, build, dtype, bar, has_steps=True, c=c, numba=with_numba.averages(steps))


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

    inputs = normal((size, size), (size, size), dtype=dtype)
    c = with_c.function("five_points", with_c.like(2), N=size, STEPS=steps)
    name = f"5-point averages {size} x {steps}"
    return _case(name, inputs, build, dtype, bar, has_steps=True, c=c, numba=with_numba.five_points(steps))


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

    inputs = normal(*[(rows, columns)] * 3, dtype=dtype)
    c = with_c.function("fields", with_c.like(3), N=rows, M=columns, STEPS=steps)
    name = f"fields {rows}x{columns} x {steps}"
    return _case(name, inputs, build, dtype, bar, has_steps=True, c=c, numba=with_numba.fields(steps))


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

    c = with_c.function("diffusion", lambda _, shape: [shape], N=shape[0], M=shape[1], L=shape[2])
    name = f"diffusion {'x'.join(map(str, shape))}"
    return _case(name, uniform(inner, shape, dtype=dtype), build, dtype, bar, c=c)


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
    c = with_c.function("rank_two", lambda *shapes: [shapes[0], vector, vector], N=size)
    return _case(f"rank-two update {size}", inputs, build, dtype, bar, c=c)


def last_axis(shape: tuple[int, int, int], dtype: str = "float64", bar: float | None = None) -> Case:
    """A 3-D array by a matrix, over the last axis."""
    size = shape[-1]

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda a, b: lib.numpy.sum(
            lib.numpy.reshape(a, (shape[0], shape[1], 1, size)) @ b, axis=2
        )  # as in doitgen

    c = with_c.function("last_axis", with_c.like(1), N=shape[0], M=shape[1], L=size)
    name = f"3-D by matrix {'x'.join(map(str, shape))}"
    return _case(name, uniform(shape, (size, size), dtype=dtype), build, dtype, bar, c=c)


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
    sizes = dict(zip("NML", shape, strict=False))
    c = with_c.function("periodic", with_c.like(1), STEPS=steps, **sizes)
    return _case(name, normal(shape, dtype=dtype), build, dtype, bar, has_steps=True, c=c)


def padded(shape: tuple[int, ...], steps: int, mode: str, dtype: str = "float64", bar: float | None = None) -> Case:
    """Diffusion that adds a border in each step."""

    def build(lib: Library) -> Callable[..., Tree]:
        tenth = np.dtype(dtype).type(0.1)
        options = {} if lib.name == "numpy" or lib.lax is not None else {"value": 0.0}

        def step(_: Any, x: Any) -> Any:
            around = -2 * len(shape) * x
            wide = lib.numpy.pad(x, 1, mode=mode, **options)
            for axis in range(len(shape)):
                for start in (0, 2):
                    place = [slice(1, -1)] * len(shape)
                    place[axis] = slice(start, start + shape[axis])
                    around = around + wide[tuple(place)]
            return x + tenth * around

        return lambda x: repeat(lib, steps, step, x)

    name = f"padded diffusion ({mode}) {'x'.join(map(str, shape))} x {steps}"
    case = _case(name, normal(shape, dtype=dtype), build, dtype, bar)
    return Case(**{**case.__dict__, "peers": {}})  # torch.pad is another function


def _horner(coefficients: Any, x: Any) -> Any:
    value = coefficients[0]
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def seawater(shape: tuple[int, ...], dtype: str = "float64", bar: float | None = None) -> Case:
    """An equation of state with some 300 operations: the derivative of an enthalpy from quotients of polynomials in the
    salinity, its root, the temperature and the pressure. The coefficients have the magnitudes of those of the 48 terms.
    """
    draw = np.random.default_rng(48)
    terms = [[float(c) for c in draw.uniform(0.5, 1.5, n) * 1e-2] for n in (4, 4, 3, 4, 3, 2, 5, 4, 5, 4, 5, 2, 3, 2)]

    def build(lib: Library) -> Callable[..., Tree]:
        xp = lib.numpy

        def volume(sa: Any, root: Any, ct: Any, shift: float) -> tuple[Any, Any, Any]:
            """The three coefficients of a polynomial in the pressure."""
            part = [[c + shift for c in term] for term in terms]
            first = 1 + _horner(part[0], ct) + sa * (_horner(part[1], ct) + root * _horner(part[2], ct))
            second = 1 + _horner(part[3], ct) + sa * (_horner(part[4], ct) + root * _horner(part[5], ct))
            third = 1 + _horner(part[6], ct) + sa * _horner(part[7], ct)
            return first, second, third

        def run(sa: Any, ct: Any, p: Any) -> Tree:
            root = xp.sqrt(sa)
            a0, a1, a2 = volume(sa, root, ct, 0.0)
            b0, b1, b2 = volume(sa, root, ct, 0.01)
            part = [_horner(term, ct) for term in terms[8:]]
            slope = part[0] + sa * (part[1] + root * part[2]) + p * (part[3] + sa * part[4] + p * part[5])
            density = (a0 + p * (a1 + p * a2)) / (b0 + p * (b1 + p * b2))
            c, d = xp.sqrt(a1 * a1 + a0 * a2), xp.sqrt(b1 * b1 + b0 * b2)
            quotient = (a1 - c) * (d + p) / ((a1 + c) * (d + p * b1))
            first = p * (density - a1 / a2) / (c + d)
            second = xp.sqrt(1 + quotient * quotient) * (a0 * b1 - a1 * b0) / (2 * d * b2)
            return first + second / (1 + slope) + slope * density / xp.sqrt(1 + density * density)

        return run

    inputs = uniform(shape, shape, shape, low=0.1, high=1.0, dtype=dtype)
    return _case(f"seawater {'x'.join(map(str, shape))}", inputs, build, dtype, bar)


def gradient(size: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The gradient of a sum of squares of a 5-point stencil."""

    def build(lib: Library) -> Callable[..., Tree]:
        def energy(x: Any) -> Any:
            lap = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]
            return (lap**2).sum()

        return lib.top.grad(energy)

    c = with_c.function("gradient", with_c.like(1), N=size)
    name = f"gradient of a 5-point stencil {size}"
    return _case(name, normal((size, size), dtype=dtype), build, dtype, bar, numpy=False, c=c)


def gradient_of_steps(size: int, steps: int, dtype: str = "float64", bar: float | None = None) -> Case:
    """The gradient of the sum of squares after some steps of diffusion, whose Python loop is unrolled."""

    def build(lib: Library) -> Callable[..., Tree]:
        tenth = np.dtype(dtype).type(0.1)

        def energy(x: Any) -> Any:
            for _ in range(steps):
                middle = x[1:-1, 1:-1]
                around = x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * middle
                x = replaced(lib, x, np.s_[1:-1, 1:-1], middle + tenth * around)
            return (x**2).sum()

        return lib.top.grad(energy)

    name = f"gradient of {steps} steps of diffusion {size}"
    return _case(name, normal((size, size), dtype=dtype), build, dtype, bar, numpy=False)
