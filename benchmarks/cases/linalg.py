"""Cases of linear algebra: stacks of small matrices. Sizes and bars: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree

# Eigenvectors and factors of qr have any sign.
_OF_POSITIVE: dict[str, Callable[[Library, Any], Tree]] = {
    "cholesky": lambda lib, a: lib.numpy.linalg.cholesky(a),
    "solve": lambda lib, a: lib.numpy.linalg.solve(a, a[..., :1]),
    "eigh": lambda lib, a: abs(lib.numpy.linalg.eigh(a)[1]),
    "eigvalsh": lambda lib, a: lib.numpy.linalg.eigvalsh(a),
    "inv": lambda lib, a: lib.numpy.linalg.inv(a),
    "qr": lambda lib, a: abs(lib.numpy.linalg.qr(a)[1]),
}


def small(name: str, count: int, n: int, dtype: str = "float32", bar: float | None = None) -> Case:
    """A decomposition of each of `count` positive definite matrices of n rows."""

    def inputs(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        a = rng.standard_normal((count, n, n))
        return ((a @ a.swapaxes(1, 2) + n * np.eye(n)).astype(dtype),)

    return Case(
        f"{name} of {count} small {n}x{n} {'f32' if dtype == 'float32' else 'f64'}",
        inputs,
        lambda lib: lambda a: _OF_POSITIVE[name](lib, a),
        bar=bar,
        tolerance=1e-2 if name == "eigh" else 1e-3,
        x64=dtype == "float64",
    )
