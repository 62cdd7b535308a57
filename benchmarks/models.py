"""Networks in the style of users' programs: functions of a tree of parameters, with the names of the running
library."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from library import Library, Tree

Sizes = tuple[int, ...]


def updated(lib: Library, loss: Callable[..., Any]) -> Callable[..., Tree]:
    """A training step: the loss, its gradient, and the parameters after a step of gradient descent."""

    def step(params: Tree, *batch: Any) -> Tree:
        value, grads = lib.top.value_and_grad(loss)(params, *batch)
        return lib.top.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    return step


def cross_entropy(lib: Library, logits: Any, labels: Any) -> Any:
    log_p = lib.nn.log_softmax(logits)
    return -(log_p * lib.nn.one_hot(labels, logits.shape[-1])).sum(axis=-1).mean()


def _weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    fan_in = float(np.prod(shape[:-1]))
    return (rng.standard_normal(shape) * (2 / fan_in) ** 0.5).astype(np.float32)


# A perceptron.


def mlp_params(rng: np.random.Generator, sizes: Sizes) -> Tree:
    return [(_weights(rng, m, n), np.zeros(n, np.float32)) for m, n in itertools.pairwise(sizes)]


def mlp_loss(lib: Library) -> Callable[..., Any]:
    def loss(params: Tree, images: Any, labels: Any) -> Any:
        for w, b in params[:-1]:
            images = lib.nn.relu(images @ w + b)
        w, b = params[-1]
        return cross_entropy(lib, images @ w + b, labels)

    return loss


# A transformer that predicts the next token.


def block_params(rng: np.random.Generator, width: int) -> Tree:
    def norm() -> Tree:
        return {"scale": np.ones(width, np.float32), "shift": np.zeros(width, np.float32)}

    def dense(m: int, n: int) -> Tree:
        return {"w": (0.5 * _weights(rng, m, n)), "b": np.zeros(n, np.float32)}

    return {
        "norm1": norm(),
        "qkv": dense(width, 3 * width),
        "out": dense(width, width),
        "norm2": norm(),
        "up": dense(width, 4 * width),
        "down": dense(4 * width, width),
    }


def gpt_params(rng: np.random.Generator, layers: int, width: int, length: int, tokens: int) -> Tree:
    return {
        "tokens": 0.02 * rng.standard_normal((tokens, width), dtype=np.float32),
        "places": 0.02 * rng.standard_normal((length, width), dtype=np.float32),
        "layers": [block_params(rng, width) for _ in range(layers)],
        "norm": {"scale": np.ones(width, np.float32), "shift": np.zeros(width, np.float32)},
    }


def _norm(lib: Library, p: Tree, x: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) / lib.numpy.sqrt(variance + 1e-5) * p["scale"] + p["shift"]


def _attention(lib: Library, p: Tree, x: Any, heads: int) -> Any:
    batch, length, width = x.shape
    qkv = x @ p["qkv"]["w"] + p["qkv"]["b"]
    q, k, v = (
        part.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)
        for part in lib.numpy.split(qkv, 3, axis=-1)
    )
    scores = (q @ k.transpose(0, 1, 3, 2)) / (width // heads) ** 0.5
    seen = lib.numpy.tril(lib.numpy.ones((length, length), dtype=bool))
    mixed = lib.nn.softmax(lib.numpy.where(seen, scores, -1e9), axis=-1) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["out"]["w"] + p["out"]["b"]


def gpt_block(lib: Library, p: Tree, x: Any, heads: int) -> Any:
    x = x + _attention(lib, p, _norm(lib, p["norm1"], x), heads)
    h = lib.nn.gelu(_norm(lib, p["norm2"], x) @ p["up"]["w"] + p["up"]["b"])
    return x + h @ p["down"]["w"] + p["down"]["b"]


def gpt_block_gradient(lib: Library, heads: int) -> Callable[..., Tree]:
    """Forward and backward through one block, with respect to the parameters and the input."""

    def loss(p: Tree, x: Any, target: Any) -> Any:
        return ((gpt_block(lib, p, x, heads) - target) ** 2).mean()

    return lib.top.value_and_grad(loss, argnums=(0, 1))


def gpt_loss(lib: Library, heads: int) -> Callable[..., Any]:
    def loss(params: Tree, tokens: Any) -> Any:
        x = params["tokens"][tokens[:, :-1]] + params["places"]
        for layer in params["layers"]:
            x = gpt_block(lib, layer, x, heads)
        logits = _norm(lib, params["norm"], x) @ params["tokens"].T
        return cross_entropy(lib, logits, tokens[:, 1:])

    return loss


# A small residual network of images as (batch, height, width, channel).


def resnet_params(rng: np.random.Generator, widths: Sizes, classes: int) -> Tree:
    def conv(size: int, m: int, n: int) -> Tree:
        return {
            "w": _weights(rng, size, size, m, n),
            "scale": np.ones(n, np.float32),
            "shift": np.zeros(n, np.float32),
        }

    blocks = [
        {"first": conv(3, m, n), "second": conv(3, n, n), "pass": conv(1, m, n)}
        for m, n in itertools.pairwise((widths[0], *widths))
    ]
    last = (_weights(rng, widths[-1], classes), np.zeros(classes, np.float32))
    return {"stem": conv(3, 3, widths[0]), "blocks": blocks, "last": last}


def _conv_norm(lib: Library, p: Tree, x: Any, stride: int) -> Any:
    layout = ("NHWC", "HWIO", "NHWC")
    x = lib.lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME", dimension_numbers=layout)
    mean, variance = x.mean(axis=(0, 1, 2)), x.var(axis=(0, 1, 2))
    return (x - mean) / lib.numpy.sqrt(variance + 1e-5) * p["scale"] + p["shift"]


def resnet_loss(lib: Library) -> Callable[..., Any]:
    def loss(params: Tree, images: Any, labels: Any) -> Any:
        x = lib.nn.relu(_conv_norm(lib, params["stem"], images, 1))
        for i, p in enumerate(params["blocks"]):
            stride = 2 if i else 1
            h = lib.nn.relu(_conv_norm(lib, p["first"], x, stride))
            x = lib.nn.relu(_conv_norm(lib, p["second"], h, 1) + _conv_norm(lib, p["pass"], x, stride))
        w, b = params["last"]
        return cross_entropy(lib, x.mean(axis=(1, 2)) @ w + b, labels)

    return loss
