"""Cases of elementwise arithmetic: chains that should be one loop, and elementary functions. Sizes: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import with_numba
from library import Case, Library, Tree, normal, uniform


def gelu(n: int, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x: 0.5 * x * (1 + lib.numpy.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    def torch(torch: Any) -> Callable[..., Tree]:
        return lambda x: torch.nn.functional.gelu(x, approximate="tanh")

    return Case("gelu (tanh) 1M f32", normal((n,)), build, bar=bar, peers={"numba": with_numba.gelu, "torch": torch})


def add_one(name: str, shape: tuple[int, ...]) -> Case:
    return Case(name, normal(shape), lambda lib: lambda x: x + 1)


def black_scholes(name: str, n: int, bar: float | None = None) -> Case:
    """Prices of European calls and puts; the arrays are the prices of the shares, the strikes and the years."""

    def build(lib: Library) -> Callable[..., Tree]:
        def normal_cdf(x: Any) -> Any:
            return 0.5 * (1 + lib.scipy.special.erf(x * 0.7071067811865476))

        def prices(share: Any, strike: Any, years: Any) -> Tree:
            rate, volatility = 0.02, 0.3
            deviation = volatility * lib.numpy.sqrt(years)
            upper = (lib.numpy.log(share / strike) + (rate + 0.5 * volatility**2) * years) / deviation
            lower = upper - deviation
            paid = strike * lib.numpy.exp(-rate * years)
            call = share * normal_cdf(upper) - paid * normal_cdf(lower)
            return call, call - share + paid

        return prices

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        share, strike, years = rng.uniform(10, 50, n), rng.uniform(10, 50, n), rng.uniform(0.25, 3, n)
        return tuple(x.astype(np.float32) for x in (share, strike, years))

    return Case(name, inputs, build, bar=bar)


def waves(name: str, n: int, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x, y: lib.numpy.sin(x) * lib.numpy.cos(y) + lib.numpy.exp(-x * x)

    return Case(name, normal((n,), (n,)), build, bar=bar, peers={"numba": with_numba.waves})


def function(name: str, n: int, dtype: str) -> Case:
    """An elementary function, on numbers in the domain of all of them."""

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x: getattr(lib.numpy, name)(x)

    title = f"{name} 256k {dtype}"
    return Case(
        title, uniform((n,), low=0.01, high=10.0, dtype=dtype), build, x64=dtype == "float64", bar=1.0, against="numpy"
    )


def drawing(name: str, n: int, newer: bool, bar: float | None = None, group: str = "") -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda key: getattr(lib.random, name)(key, (n,))

    # The key is given as its two words, so that both libraries draw the same numbers.
    stream = "partitionable" if newer else "original"
    title = f"random.{name} 1e6 f32, {stream} stream"
    return Case(
        title,
        lambda rng: (rng.integers(0, 2**32, 2, dtype=np.uint32),),
        build,
        numpy=False,
        bar=bar,
        group=group,
        partitionable=newer,
    )
