"""Cases that change elements at positions in the data. Sizes and bars: cases/gpu.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree


def embedding_gradient(rows: int, width: int, tokens: int) -> Case:
    """The gradient of table rows that tokens select: sums of floats, in any order."""

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda places, updates: lib.numpy.zeros((rows, width), np.float32).at[places].add(updates)

    def inputs(rng: np.random.Generator) -> tuple[Any, ...]:
        return rng.integers(0, rows, tokens).astype(np.int32), rng.standard_normal((tokens, width)).astype(np.float32)

    return Case(f"gradient of an embedding {rows}x{width}, {tokens} tokens", inputs, build, numpy=False)


def bincount(length: int, count: int) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x: lib.numpy.bincount(x, length=length)

    return Case(
        f"bincount of {count} in {length}",
        lambda rng: (rng.integers(0, length, count).astype(np.int32),),
        build,
        numpy=False,
    )


def replaced_rows(rows: int, width: int, count: int) -> Case:
    """Rows that are written at repeated places."""

    def build(_: Library) -> Callable[..., Tree]:
        return lambda x, places, updates: x.at[places].set(updates)

    def inputs(rng: np.random.Generator) -> tuple[Any, ...]:
        # For a repeated index, jax does not specify the remaining value. Equal values make the result unique.
        places = rng.integers(0, rows, count).astype(np.int32)
        return (
            rng.standard_normal((rows, width)).astype(np.float32),
            places,
            np.repeat(places.astype(np.float32)[:, None], width, axis=1),
        )

    return Case(f"x.at[i].set {count} of {rows}x{width}", inputs, build, numpy=False)
