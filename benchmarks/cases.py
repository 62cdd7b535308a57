"""The benchmark cases: one function source for pycompiler, jax and, where it makes sense, NumPy.

What a case is stands in library.py; loops are in loops.py.
Every size and dtype stands here and nowhere else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from library import Case, Library, Tree
from loops import LOOPS


def _matmul(n: int) -> Case:
    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        return tuple(rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))

    return Case(
        f"matmul {n} f32",
        inputs,
        lambda lib: lambda a, b: lib.numpy.matmul(a, b),
        flops=2.0 * n**3,
        target="NumPy's rate x >= 0.9",
    )


def _gelu(lib: Library) -> Callable[..., Tree]:
    def gelu(x: Any) -> Any:
        return 0.5 * x * (1 + lib.numpy.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))

    return gelu


def _function(name: str, dtype: str) -> Case:
    """An elementary function; numbers that every one of them takes."""

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x: getattr(lib.numpy, name)(x)

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        return (rng.uniform(0.01, 10.0, 1 << 18).astype(dtype),)

    return Case(f"{name} 256k {dtype}", inputs, build, x64=dtype == "float64", target="NumPy's time x <= 1")


def _sorting(name: str, dtype: str) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        # jax's argsort is stable, so NumPy's is asked to be.
        options = {"kind": "stable"} if lib.top is None and name == "argsort" else {}
        return lambda x: getattr(lib.numpy, name)(x, **options)

    def inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
        return (rng.uniform(-1e9, 1e9, 10**6).astype(dtype),)

    return Case(f"{name} 1e6 {dtype}", inputs, build, target="jax's time x <= 1")


def _drawing(name: str, newer: bool) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda key: getattr(lib.random, name)(key, (10**6,))

    # A key as its two words: what it draws is the same numbers in both libraries.
    stream = "partitionable" if newer else "original"
    title = f"random.{name} 1e6 f32, {stream} stream"
    return Case(title, _key, build, numpy=False, target="jax's time x <= 1.1", partitionable=newer)


def _key(rng: np.random.Generator) -> tuple[Tree, ...]:
    return (rng.integers(0, 2**32, 2, dtype=np.uint32),)


MLP = (784, 512, 512, 10)
BATCH = 128


def _mlp_inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
    params = [
        ((rng.standard_normal((m, n)) * (2 / m) ** 0.5).astype(np.float32), np.zeros(n, np.float32))
        for m, n in itertools.pairwise(MLP)
    ]
    images = rng.standard_normal((BATCH, MLP[0]), dtype=np.float32)
    labels = rng.integers(0, MLP[-1], BATCH).astype(np.int32)
    return params, images, labels


def _mlp_step(lib: Library) -> Callable[..., Tree]:
    """Forward, backward and the update by gradient descent of a 784-512-512-10 network with softmax cross-entropy."""

    def loss(params: Tree, images: Any, labels: Any) -> Any:
        for w, b in params[:-1]:
            images = lib.nn.relu(images @ w + b)
        w, b = params[-1]
        log_p = lib.nn.log_softmax(images @ w + b)
        return -(log_p * lib.nn.one_hot(labels, MLP[-1])).sum(axis=1).mean()

    def step(params: Tree, images: Any, labels: Any) -> Tree:
        value, grads = lib.top.value_and_grad(loss)(params, images, labels)
        return lib.top.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    return step


CASES = (
    Case(
        "MLP step 784-512-512-10, batch 128",
        _mlp_inputs,
        _mlp_step,
        flops=3 * 2.0 * BATCH * sum(m * n for m, n in itertools.pairwise(MLP)),
        numpy=False,
        target="jax's time x <= 1.5",
    ),
    _matmul(512),
    _matmul(1024),
    Case(
        "gelu (tanh) 1M f32",
        lambda rng: (rng.standard_normal(1 << 20, dtype=np.float32),),
        _gelu,
        target="jax's time x <= 1",
    ),
    Case(
        "(x*y+1).sum() 1024x1024 f32",
        lambda rng: tuple(rng.random((1024, 1024), dtype=np.float32) for _ in range(2)),
        lambda lib: lambda x, y: (x * y + 1).sum(),
    ),
    *(_function(name, dtype) for name in ("exp", "log", "sin", "tanh") for dtype in ("float32", "float64")),
    *(_sorting(name, dtype) for name in ("sort", "argsort") for dtype in ("float32", "int32")),
    *(_drawing(name, newer) for name in ("normal", "uniform") for newer in (False, True)),
    *LOOPS,
)


def compile_case(lib: Library) -> Callable[..., Tree]:
    """The function whose tracing, compilation and loading is timed; a new one each time, so that no cache knows it."""
    return lambda x, y: (x * y + 1).sum()
