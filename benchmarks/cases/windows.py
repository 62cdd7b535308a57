"""Cases of pooling: reductions over windows, and their gradients. Sizes and bars: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree, normal

LAYOUTS = {"NHWC": (64, 32, 32, 64), "NCHW": (64, 64, 32, 32)}


def _pool(lib: Library, layout: str, kind: str, size: int, stride: int, padding: str) -> Callable[[Any], Any]:
    def along(number: int) -> tuple[int, ...]:
        return tuple(number if axis in "HW" else 1 for axis in layout)

    def pool(x: Any) -> Any:
        if kind == "max":
            return lib.lax.reduce_window(x, np.float32(-np.inf), lib.lax.max, along(size), along(stride), padding)
        sums = lib.lax.reduce_window(x, np.float32(0), lib.lax.add, along(size), along(stride), padding)
        return sums * np.float32(1 / size**2)

    return pool


def pooling(
    layout: str,
    kind: str,
    size: int,
    stride: int,
    padding: str = "VALID",
    gradient: bool = False,
    bar: float | None = None,
) -> Case:
    """Maxima or means of squares of size x size elements of 64 images with 64 features, or their gradient."""

    def build(lib: Library) -> Callable[..., Tree]:
        pool = _pool(lib, layout, kind, size, stride, padding)
        if not gradient:
            return pool
        return lib.top.grad(lambda x: (pool(x) ** 2).sum())

    what = f"{'gradient of ' if gradient else ''}{kind} pool {size}x{size}/{stride} {padding}"
    return Case(f"{what} {layout} f32", normal(LAYOUTS[layout]), build, bar=bar, numpy=False)


def moving(kind: str, length: int, window: int, bar: float | None = None) -> Case:
    """The sum or maximum of the elements before each element of a series."""

    def build(lib: Library) -> Callable[..., Tree]:
        combine, init = {"sum": (lib.lax.add, 0), "max": (lib.lax.max, -np.inf)}[kind]
        return lambda x: lib.lax.reduce_window(x, np.float32(init), combine, (window,), (1,), "VALID")

    return Case(
        f"moving {kind} of {window}, {length} f32", normal((length,)), build, bar=bar, numpy=False, tolerance=1e-3
    )
