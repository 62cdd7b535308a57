"""Cases of matmuls and convolutions. Sizes, dtypes and bars: tables.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from library import Case, Library, Tree, normal

SHORT = {"float32": "f32", "float64": "f64", "bfloat16": "bf16"}


def matmul(m: int, k: int, n: int, bar: float | None = None, dtype: str = "float32") -> Case:
    size = str(n) if m == k == n else f"{m}x{k}x{n}"
    return Case(
        f"matmul {size} {SHORT[dtype]}",
        normal((m, k), (k, n), dtype=dtype),
        lambda lib: lambda a, b: lib.numpy.matmul(a, b),
        flops=2.0 * m * k * n,
        x64=dtype == "float64",
        bar=bar,
        # NumPy has no bfloat16 of its own, and torch does not read such NumPy arrays.
        numpy=dtype != "bfloat16",
        tolerance=1e-2 if dtype == "bfloat16" else 1e-4,
        peers={} if dtype == "bfloat16" else {"torch": lambda torch: torch.matmul},
    )


def batched(batch: int, n: int, bar: float | None = None) -> Case:
    shape = (batch, n, n)
    return Case(
        f"matmul {batch} x {n} f32",
        normal(shape, shape),
        lambda lib: lambda a, b: lib.numpy.matmul(a, b),
        flops=2.0 * batch * n**3,
        bar=bar,
        peers={"torch": lambda torch: torch.matmul},
    )


def dense(n: int, bar: float | None = None) -> Case:
    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x, w, b: lib.numpy.maximum(x @ w + b, 0)

    title = f"matmul {n}, bias and relu f32"
    return Case(title, normal((n, n), (n, n), (n,)), build, flops=2.0 * n**3, bar=bar)


def convolution(images: tuple[int, int, int, int], features: int, bar: float | None = None) -> Case:
    """3x3, SAME, stride 1; images as (batch, channel, height, width)."""

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x, w: lib.lax.conv_general_dilated(x, w, (1, 1), "SAME")

    batch, channels, height, width = images
    return Case(
        f"conv {'x'.join(map(str, images))}, 3x3x{features} f32",
        normal(images, (features, channels, 3, 3)),
        build,
        flops=2.0 * batch * height * width * features * channels * 9,
        numpy=False,
        bar=bar,
        peers={"torch": lambda torch: lambda x, w: torch.nn.functional.conv2d(x, w, padding=1)},
    )


def depthwise(images: tuple[int, int, int, int], bar: float | None = None) -> Case:
    """3x3, SAME, stride 1, with a separate kernel for each channel."""
    batch, channels, height, width = images

    def build(lib: Library) -> Callable[..., Tree]:
        return lambda x, w: lib.lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=channels)

    def torch(torch: Any) -> Callable[..., Tree]:
        return lambda x, w: torch.nn.functional.conv2d(x, w, padding=1, groups=channels)

    return Case(
        f"depthwise conv {'x'.join(map(str, images))}, 3x3 f32",
        normal(images, (channels, 1, 3, 3)),
        build,
        flops=2.0 * batch * height * width * channels * 9,
        numpy=False,
        bar=bar,
        peers={"torch": torch},
    )
