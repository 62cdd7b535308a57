"""Programs with calls at many sizes of one dimension. Sizes and bars: tables.py; dynamic.py measures them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from library import Case, Library, Tree
from models import block_params, gpt_block, mlp_loss, mlp_params, updated


@dataclass(frozen=True)
class SizedCase:
    """`build(lib)` returns the function, `inputs(rng, size)` its arguments at a size as NumPy arrays.

    `dynamic` is the argument of pycompiler's jit for its dimensions.
    """

    name: str
    sizes: tuple[int, ...]
    inputs: Callable[[np.random.Generator, int], tuple[Tree, ...]]
    build: Callable[[Library], Callable[..., Tree]]
    dynamic: Mapping[int, tuple[str | None, ...]]
    tolerance: float = 1e-4

    def at(self, size: int) -> Case:
        """The program at one of the sizes."""
        return Case(f"{self.name}: {size}", lambda rng: self.inputs(rng, size), self.build, tolerance=self.tolerance)


def mlp_steps(widths: tuple[int, ...], sizes: tuple[int, ...]) -> SizedCase:
    """Training steps on batches of different sizes."""

    def inputs(rng: np.random.Generator, size: int) -> tuple[Tree, ...]:
        images = rng.standard_normal((size, widths[0]), dtype=np.float32)
        return mlp_params(rng, widths), images, rng.integers(0, widths[-1], size).astype(np.int32)

    return SizedCase(
        f"MLP step {'-'.join(map(str, widths))}, batch {sizes[0]} to {sizes[-1]}",
        sizes,
        inputs,
        lambda lib: updated(lib, mlp_loss(lib)),
        {1: ("batch", None), 2: ("batch",)},
    )


def gpt_blocks(width: int, heads: int, sizes: tuple[int, ...]) -> SizedCase:
    """The forward pass of a block on texts of different lengths."""

    def inputs(rng: np.random.Generator, size: int) -> tuple[Tree, ...]:
        return block_params(rng, width), rng.standard_normal((1, size, width), dtype=np.float32)

    def build(lib: Library) -> Callable[..., Any]:
        return lambda p, x: gpt_block(lib, p, x, heads)

    return SizedCase(
        f"GPT block, d {width}, {heads} heads, batch 1, T {sizes[0]} to {sizes[-1]}",
        sizes,
        inputs,
        build,
        {1: (None, "length", None)},
    )


@dataclass(frozen=True)
class SizedCall:
    """A call with almost no work: `dynamic` as in SizedCase; `arguments(size)` are NumPy arrays."""

    name: str
    function: Callable[..., Tree]
    arguments: Callable[[int], tuple[Tree, ...]]
    dynamic: Mapping[int, Any]
    sizes: tuple[int, ...] = (4,)


def _floats(size: int) -> np.ndarray:
    return np.arange(size, dtype=np.float32)


def small_calls(sizes: tuple[int, ...]) -> tuple[SizedCall, ...]:
    """Calls at one size, and at several sizes in turn, after a first call at each."""

    def add_one(x: Any) -> Any:
        return x + 1

    def add_tree(pairs: Any) -> Any:
        return [(a + 1, b + 1) for a, b in pairs]

    return (
        SizedCall("x + 1, 4 f32", add_one, lambda n: (_floats(n),), {0: ("n",)}),
        SizedCall("a tree of six arrays", add_tree, lambda n: ([(_floats(n), _floats(n))] * 3,), {0: ("n",)}),
        SizedCall(
            f"x + 1, {sizes[0]} to {sizes[-1]} f32 in turn", add_one, lambda n: (_floats(n),), {0: ("n",)}, sizes
        ),
    )
