"""Cases that are whole programs of users, with fusion, matmuls and loops. Sizes and bars: tables.py."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree, normal, repeat
from models import (
    block_params,
    gpt_block_gradient,
    gpt_loss,
    gpt_params,
    mlp_loss,
    mlp_params,
    resnet_loss,
    resnet_params,
    updated,
)

PROGRAMS = "programs"


def covariance(n: int, bar: float | None = None, group: str = PROGRAMS) -> Case:
    def build(_: Library) -> Callable[..., Tree]:
        return lambda x: x.T @ (x - x.mean(axis=0))

    title = f"x.T @ (x - x.mean(0)) {n}x{n} f32"
    return Case(title, normal((n, n)), build, flops=2.0 * n**3, bar=bar, group=group)


def mlp_step(sizes: tuple[int, ...], batch: int, bar: float | None = None) -> Case:
    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        images = rng.standard_normal((batch, sizes[0]), dtype=np.float32)
        return mlp_params(rng, sizes), images, rng.integers(0, sizes[-1], batch).astype(np.int32)

    return Case(
        f"MLP step {'-'.join(map(str, sizes))}, batch {batch}",
        inputs,
        lambda lib: updated(lib, mlp_loss(lib)),
        flops=3 * 2.0 * batch * sum(m * n for m, n in itertools.pairwise(sizes)),
        numpy=False,
        bar=bar,
        group=PROGRAMS,
    )


def gpt_block(width: int, heads: int, length: int, batch: int, bar: float | None = None) -> Case:
    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        x, target = (rng.standard_normal((batch, length, width), dtype=np.float32) for _ in range(2))
        return block_params(rng, width), x, target

    return Case(
        f"GPT block, forward and backward, d {width}, {heads} heads, T {length}, batch {batch}",
        inputs,
        lambda lib: gpt_block_gradient(lib, heads),
        flops=3 * 2.0 * batch * length * (12 * width * width + 2 * length * width),
        numpy=False,
        bar=bar,
        group=PROGRAMS,
    )


def attention(shape: tuple[int, int, int, int]) -> Case:
    """Attention of queries to keys of the same shape: batch, length, heads, depth."""
    batch, length, heads, depth = shape
    return Case(
        f"attention {'x'.join(map(str, shape))} f32",
        normal(shape, shape, shape),
        lambda lib: lib.nn.dot_product_attention,
        flops=4.0 * batch * heads * length * length * depth,
        numpy=False,
        tolerance=2e-3,
    )


def gpt_step(layers: int, width: int, heads: int, length: int, batch: int, tokens: int) -> Case:
    """A training step of the whole network. compile.py and memory.py use it; run.py uses one block."""

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        text = rng.integers(0, tokens, (batch, length + 1)).astype(np.int32)
        return gpt_params(rng, layers, width, length, tokens), text

    title = f"GPT step, {layers} layers, d {width}"
    return Case(title, inputs, lambda lib: updated(lib, gpt_loss(lib, heads)), numpy=False)


def resnet_step(widths: tuple[int, ...], batch: int, size: int, bar: float | None = None) -> Case:
    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        images = rng.standard_normal((batch, size, size, 3), dtype=np.float32)
        return resnet_params(rng, widths, 10), images, rng.integers(0, 10, batch).astype(np.int32)

    return Case(
        f"ResNet step, {'-'.join(map(str, widths))}, {batch} x {size}x{size}",
        inputs,
        lambda lib: updated(lib, resnet_loss(lib)),
        numpy=False,
        tolerance=1e-3,
        bar=bar,
        group=PROGRAMS,
    )


def k_means(points: int, features: int, centers: int, steps: int, bar: float | None = None) -> Case:
    """Lloyd's steps; the distances and the new centers are matmuls."""

    def build(lib: Library) -> Callable[..., Tree]:
        np_ = lib.numpy

        def run(x: Any, start: Any) -> Any:
            def step(_: Any, c: Any) -> Any:
                distances = (c * c).sum(axis=1) - 2 * (x @ c.T)
                nearest = np_.argmin(distances, axis=1)
                member = (nearest[:, None] == np_.arange(centers)).astype("float32")
                return (member.T @ x) / np_.maximum(member.sum(axis=0), 1)[:, None]

            return repeat(lib, steps, step, start)

        return run

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        middles = 4 * rng.standard_normal((centers, features))
        x = middles[rng.integers(0, centers, points)] + rng.standard_normal((points, features))
        x = x.astype(np.float32)
        return x, x[:centers].copy()

    title = f"k-means of {points}x{features}, {centers} centers, {steps} steps"
    return Case(title, inputs, build, tolerance=1e-3, bar=bar, group=PROGRAMS)


def wave(n: int, steps: int, bar: float | None = None) -> Case:
    """A 2-D wave equation on a torus."""

    def build(lib: Library) -> Callable[..., Tree]:
        roll = lib.numpy.roll

        def run(u: Any, before: Any) -> Tree:
            def step(_: Any, state: Tree) -> Tree:
                u, before = state
                around = roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1)
                return 2 * u - before + 0.1 * (around - 4 * u), u

            return repeat(lib, steps, step, (u, before))

        return run

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        u = rng.standard_normal((n, n), dtype=np.float32)
        return u, u.copy()

    return Case(f"wave equation {n}x{n}, {steps} steps", inputs, build, tolerance=1e-3, bar=bar, group=PROGRAMS)


def chain(name: str, shape: tuple[int, ...], steps: int, step: Callable[[Library, Any], Any]) -> Case:
    """The same operations repeatedly, in an unrolled Python loop."""

    def build(lib: Library) -> Callable[..., Tree]:
        def run(x: Any) -> Any:
            for _ in range(steps):
                x = step(lib, x)
            return x

        return run

    return Case(name, lambda rng: ((rng.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32),), build)
