"""Transposed convolutions, gradients of strided ones, patches, and padding behind windows of one element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax

SPEC = ("NHWC", "HWIO", "NHWC")
Pads = tuple[tuple[int, int], ...]


def _drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _defined(x: np.ndarray, w: np.ndarray, strides: Any, pads: Pads, dilation: Any) -> np.ndarray:
    """The sums over the windows of the dilated and padded operand, in float64."""
    n, c = x.shape[0], x.shape[-1]
    spread = [(size - 1) * d + 1 for size, d in zip(x.shape[1:-1], dilation, strict=True)]
    wide = np.zeros((n, *spread, c))
    wide[(slice(None), *(slice(None, None, d) for d in dilation))] = x
    for axis, (low, high) in enumerate(pads, start=1):
        parts = [slice(None)] * wide.ndim
        parts[axis] = slice(max(-low, 0), wide.shape[axis] - max(-high, 0))
        wide = np.pad(
            wide[tuple(parts)], [(max(low, 0), max(high, 0)) if i == axis else (0, 0) for i in range(wide.ndim)]
        )
    counts = [(wide.shape[i + 1] - w.shape[i]) // s + 1 for i, s in enumerate(strides)]
    result = np.zeros((n, *counts, w.shape[-1]))
    for place in np.ndindex(*w.shape[:-2]):
        parts = [slice(p, p + (m - 1) * s + 1, s) for p, m, s in zip(place, counts, strides, strict=True)]
        window = wide[(slice(None), *parts)]
        result += window @ w[place].astype(np.float64)
    return result


def _same_padding(size: int, stride: int, window: int) -> tuple[int, int]:
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return total // 2, total - total // 2


def _check(x: np.ndarray, w: np.ndarray, strides: Any, pads: Pads, dilation: Any) -> None:
    want = _defined(x, w, strides, pads, dilation)
    scale = 1e-5 * max(float(np.abs(want).max(initial=0)), 1e-3)
    got = pc.jit(lambda x, w: lax.conv_general_dilated(x, w, strides, pads, dilation, None, SPEC))(x, w)
    np.testing.assert_allclose(got, want, atol=scale)
    # The same with other orders of dimensions.
    first = ("NCHW", "OIHW", "NCHW")
    turned = pc.jit(lambda x, w: lax.conv_general_dilated(x, w, strides, pads, dilation, None, first))(
        np.ascontiguousarray(x.transpose(0, 3, 1, 2)), np.ascontiguousarray(w.transpose(3, 2, 0, 1))
    )
    np.testing.assert_allclose(turned, want.transpose(0, 3, 1, 2), atol=scale)


@pytest.mark.parametrize("features", [3, 16])
@pytest.mark.parametrize("dilation", [(2, 2), (1, 3), (3, 2), (5, 4)])
@pytest.mark.parametrize("window", [(1, 1), (2, 2), (3, 2), (4, 4), (5, 3)])
def test_dilated_operands(window: tuple[int, int], dilation: tuple[int, int], features: int) -> None:
    x, w = _drawn(2, 6, 5, 3), _drawn(*window, 3, features, seed=1)
    for pads in (((0, 0), (0, 0)), ((1, 1), (0, 2)), ((3, 3), (2, 1)), ((-1, 2), (2, -1)), ((6, 5), (4, 7))):
        _check(x, w, (1, 1), pads, dilation)


@pytest.mark.parametrize("window", [(2, 1), (1, 2), (1, 1), (3, 1)])
def test_padding_behind_windows_of_one_element(window: tuple[int, int]) -> None:
    for channels, features in ((3, 16), (16, 16), (3, 4)):
        x, w = _drawn(2, 6, 5, channels), _drawn(*window, channels, features, seed=1)
        for pads in (((0, 1), (0, 1)), ((0, 0), (0, 1)), ((0, 2), (0, 0)), ((1, 1), (0, 3))):
            for strides in ((1, 1), (2, 2), (3, 1)):
                _check(x, w, strides, pads, (1, 1))


@pytest.mark.parametrize(("size", "window"), [(48, 16), (35, 7), (64, 32), (33, 11)])
def test_patches(size: int, window: int) -> None:
    """Windows of many elements that do not overlap, with few positions."""
    x, w = _drawn(2, size, size, 3), _drawn(window, window, 3, 24, seed=1)
    _check(x, w, (window, window), ((0, 0), (0, 0)), (1, 1))
    _check(x, w, (window, window), ((window // 2, 1), (0, window)), (1, 1))


@pytest.mark.parametrize(("stride", "window", "features"), [(2, 3, 4), (2, 2, 20), (4, 4, 3), (8, 8, 5), (3, 5, 6)])
def test_gradients_of_strided_ones(stride: int, window: int, features: int) -> None:
    x, w = _drawn(1, 17, 16, 3), _drawn(window, window, 3, features, seed=1)
    strides = (stride, stride)

    def loss(x: Any, w: Any) -> Any:
        y = lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=SPEC)
        return (y * y).sum()

    slopes = pc.jit(pc.grad(loss, (0, 1)))(x, w)
    rng = np.random.default_rng(2)
    for number, slope in enumerate(slopes):
        direction = rng.standard_normal(slope.shape)
        pads = tuple((max((-(-n // stride) - 1) * stride + window - n, 0) // 2, 0) for n in x.shape[1:3])
        pads = tuple(_same_padding(n, stride, window) for n in x.shape[1:3])

        def value(step: float, number: int = number, direction: np.ndarray = direction, pads: Pads = pads) -> float:
            moved = [x.astype(np.float64), w.astype(np.float64)]
            moved[number] = moved[number] + step * direction
            return float((_defined(moved[0], moved[1], strides, pads, (1, 1)) ** 2).sum())

        want = (value(1e-5) - value(-1e-5)) / 2e-5
        np.testing.assert_allclose((np.asarray(slope, np.float64) * direction).sum(), want, rtol=1e-4)


def test_three_dimensions() -> None:
    x, w = _drawn(1, 3, 4, 3, 2), _drawn(3, 2, 3, 2, 4, seed=1)
    pads, dilation = ((1, 2), (0, 1), (2, 2)), (2, 3, 2)
    numbers = ("NDHWC", "DHWIO", "NDHWC")
    got = pc.jit(lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), pads, dilation, None, numbers))(x, w)
    np.testing.assert_allclose(got, _defined(x, w, (1, 1, 1), pads, dilation), atol=1e-4)
