"""Cases that reduce, scan, sort or move along an axis. Sizes, dtypes and bars: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree, normal, uniform

Shape = tuple[int, ...]


def _by(shape: Shape) -> str:
    return "x".join(map(str, shape))


def _of_rows(name: str, shape: Shape, function: Callable[[Library, Any], Tree], bar: float | None) -> Case:
    """A function of each row that has the same name in scipy.special and torch."""
    peers: dict[str, Any] = {
        "scipy": lambda scipy: lambda x: getattr(scipy.special, name)(x, axis=-1),
        "torch": lambda torch: lambda x: getattr(torch, name)(x, dim=-1),
    }
    return Case(f"{name} {_by(shape)} f32", normal(shape), lambda lib: lambda x: function(lib, x), bar=bar, peers=peers)


def softmax(shape: Shape, bar: float | None = None) -> Case:
    def softmax(lib: Library, x: Any) -> Any:
        e = lib.numpy.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    return _of_rows("softmax", shape, softmax, bar)


def logsumexp(shape: Shape, bar: float | None = None) -> Case:
    def logsumexp(lib: Library, x: Any) -> Any:
        greatest = x.max(axis=-1, keepdims=True)
        return lib.numpy.log(lib.numpy.exp(x - greatest).sum(axis=-1)) + greatest[..., 0]

    return _of_rows("logsumexp", shape, logsumexp, bar)


def layernorm(shape: Shape, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        def layernorm(x: Any, scale: Any, shift: Any) -> Any:
            mean = x.mean(axis=-1, keepdims=True)
            variance = ((x - mean) * (x - mean)).mean(axis=-1, keepdims=True)
            return (x - mean) / lib.numpy.sqrt(variance + 1e-5) * scale + shift

        return layernorm

    def torch(torch: Any) -> Callable[..., Tree]:
        return lambda x, scale, shift: torch.nn.functional.layer_norm(x, shape[-1:], scale, shift)

    inputs = normal(shape, shape[-1:], shape[-1:])
    return Case(f"layernorm {_by(shape)} f32", inputs, build, bar=bar, peers={"torch": torch})


def reduction(method: str, shape: Shape, axis: int | None, bar: float | None = None) -> Case:
    """A reduction that is a method of arrays, over all elements or along an axis."""

    def build(_: Library) -> Callable[..., Tree]:
        return lambda x: getattr(x, method)(axis=axis)

    along = "" if axis is None else f" along axis {axis}"
    # The tolerance of a full reduction allows any order of summation.
    return Case(f"{method} {_by(shape)}{along} f32", uniform(shape), build, bar=bar)


def product_sum(shape: Shape) -> Case:
    def build(_: Library) -> Callable[..., Tree]:
        return lambda x, y: (x * y + 1).sum()

    return Case(f"(x*y+1).sum() {_by(shape)} f32", uniform(shape, shape), build)


def transpose_add(shape: Shape, bar: float | None = None) -> Case:
    return Case(f"x.T + y {_by(shape)} f32", normal(shape, shape), lambda lib: lambda x, y: x.T + y, bar=bar)


def cumsum(n: int, bar: float | None = None) -> Case:
    return Case("cumsum 1M f32", uniform((n,)), lambda lib: lambda x: lib.numpy.cumsum(x), bar=bar, tolerance=1e-3)


def sorting(name: str, n: int, dtype: str, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        # jax's argsort is stable, so NumPy's must be, too.
        options = {"kind": "stable"} if lib.top is None and name == "argsort" else {}
        return lambda x: getattr(lib.numpy, name)(x, **options)

    return Case(f"{name} 1e6 {dtype}", uniform((n,), low=-1e9, high=1e9, dtype=dtype), build, bar=bar)


def top_k(n: int, k: int, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        if lib.lax is not None:
            return lambda x: tuple(lib.lax.top_k(x, k))

        def top_k(x: Any) -> Tree:
            places = np.argpartition(x, n - k)[n - k :]
            places = places[np.argsort(-x[places], kind="stable")]
            return x[places], places

        return top_k

    return Case(f"top_k ({k}) 1M f32", normal((n,)), build, bar=bar)
