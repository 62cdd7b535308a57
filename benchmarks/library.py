"""What a benchmark case is, and what it may use of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Tree = Any
Inputs = Callable[[np.random.Generator], tuple[Tree, ...]]


@dataclass(frozen=True)
class Library:
    """What a case may use of a library: its NumPy namespace and, unless it is NumPy, its transformations.

    `scipy` of NumPy is SciPy, whose functions count as NumPy's own; None where it is not installed.
    """

    name: str
    numpy: Any
    top: Any = None
    nn: Any = None
    lax: Any = None
    random: Any = None
    scipy: Any = None


@dataclass(frozen=True)
class Case:
    """`build(lib)` returns the function to time, `inputs(rng)` its arguments as NumPy arrays.

    `bar` is the greatest ratio that is asked for of our time and that of `against`: a library's name, or "best", the
    better of NumPy and jax. Of the cases of a `group` a geometric mean is asked for besides (GROUPS in cases.py).
    `peers` are other libraries that have the same function: by the name of the module, what makes the function of it,
    for NumPy arrays (torch: tensors).
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
    return lambda rng: tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


def uniform(*shapes: tuple[int, ...], low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> Inputs:
    """Arrays of these shapes, uniformly distributed."""
    return lambda rng: tuple(rng.uniform(low, high, shape).astype(dtype) for shape in shapes)


def repeat(lib: Library, steps: int, step: Callable[[Any, Tree], Tree], state: Tree) -> Tree:
    """A loop of so many steps: the library's own, or Python's around NumPy."""
    if lib.lax is not None:
        return lib.lax.fori_loop(0, steps, step, state)
    for i in range(steps):
        state = step(i, state)
    return state


def replaced(lib: Library, x: Any, place: Any, value: Any) -> Any:
    """`x` with another value at a place; NumPy's way is to write into a copy."""
    if lib.lax is not None:
        return x.at[place].set(value)
    x = x.copy()
    x[place] = value
    return x
