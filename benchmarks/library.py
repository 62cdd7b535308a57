"""What a benchmark case is, and what it may use of a library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Tree = Any


@dataclass(frozen=True)
class Library:
    """What a case may use of a library: its NumPy namespace and, unless it is NumPy, its transformations."""

    name: str
    numpy: Any
    top: Any = None
    nn: Any = None
    lax: Any = None
    random: Any = None


@dataclass(frozen=True)
class Case:
    """`build(lib)` returns the function to time, `inputs(rng)` its arguments as NumPy arrays."""

    name: str
    inputs: Callable[[np.random.Generator], tuple[Tree, ...]]
    build: Callable[[Library], Callable[..., Tree]]
    flops: float = 0.0
    numpy: bool = True
    tolerance: float = 1e-4
    target: str = ""  # what the project asks of the ratio, printed beside it
    x64: bool = False  # with 64-bit types
    partitionable: bool = False  # with the newer stream of random bits
