"""The definition of a benchmark case, and the part of a library that it may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Tree = Any
Inputs = Callable[[np.random.Generator], tuple[Tree, ...]]


@dataclass(frozen=True)
class Library:
    """The part of a library that a case may use: its NumPy namespace and, unless it is NumPy, its transformations.

    For NumPy, `scipy` is SciPy, whose functions count as NumPy's; None if it is not installed. `step` compiles a step
    of `repeat`, for a library without a loop.
    """

    name: str
    numpy: Any
    top: Any = None
    nn: Any = None
    lax: Any = None
    random: Any = None
    scipy: Any = None
    step: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Case:
    """`build(lib)` returns the function to time, `inputs(rng)` its arguments as NumPy arrays.

    `bar` is the maximum ratio of our time to that of `against`: a library's name, or "best", the better of NumPy and
    jax. The cases of a `group` also have a bar for their geometric mean (GROUPS in cases/tables.py). `peers` are other
    libraries with the same function: for the name of each (measure.PEERS), a function that creates it from its module,
    for NumPy arrays (torch and inductor: tensors).
    """

    name: str
    inputs: Inputs
    build: Callable[[Library], Callable[..., Tree]]
    flops: float = 0.0
    numpy: bool = True
    tolerance: float = 1e-4
    bar: float | None = None
    against: str = "best"
    group: str = ""
    x64: bool = False  # with 64-bit types
    partitionable: bool = False  # with the newer stream of random bits
    peers: Mapping[str, Callable[[Any], Callable[..., Tree]]] = field(default_factory=dict, hash=False)


def normal(*shapes: tuple[int, ...], dtype: str = "float32") -> Inputs:
    """Arrays of these shapes, normally distributed."""
    if dtype == "float32":
        return lambda rng: tuple(rng.standard_normal(shape, np.float32) for shape in shapes)
    return lambda rng: tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


def uniform(*shapes: tuple[int, ...], low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> Inputs:
    """Arrays of these shapes, uniformly distributed."""
    return lambda rng: tuple(rng.uniform(low, high, shape).astype(dtype) for shape in shapes)


def repeat(lib: Library, steps: int, step: Callable[[Any, Tree], Tree], state: Tree) -> Tree:
    """A loop of `steps` steps: the library's own loop, or a Python loop for NumPy."""
    if lib.lax is not None:
        return lib.lax.fori_loop(0, steps, step, state)
    step = step if lib.step is None else lib.step(step)
    for i in range(steps):
        state = step(i, state)
    return state


def replaced(lib: Library, x: Any, place: Any, value: Any) -> Any:
    """`x` with another value at a place; for NumPy and torch, a write into a copy."""
    if lib.lax is not None:
        return x.at[place].set(value)
    x = x.copy() if isinstance(x, np.ndarray) else x.clone()
    x[place] = value
    return x
