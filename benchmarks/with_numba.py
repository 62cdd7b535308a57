"""The numba versions of some cases: loops over elements, compiled at the first call, on one thread.

Each is a peer of a case (library.py) and takes the module. Results are compared like those of the other libraries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def gelu(numba: Any) -> Callable[..., np.ndarray]:
    @numba.njit(fastmath=True)
    def gelu(x: np.ndarray) -> np.ndarray:
        result = np.empty_like(x)
        for i in range(x.size):
            v = x[i]
            inner = np.float32(0.7978845608) * (v + np.float32(0.044715) * v * v * v)
            result[i] = np.float32(0.5) * v * (np.float32(1) + math.tanh(inner))
        return result

    return gelu


def waves(numba: Any) -> Callable[..., np.ndarray]:
    @numba.njit(fastmath=True)
    def waves(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        result = np.empty_like(x)
        for i in range(x.size):
            result[i] = math.sin(x[i]) * math.cos(y[i]) + math.exp(-x[i] * x[i])
        return result

    return waves


def stencil(steps: int) -> Callable[[Any], Callable[..., np.ndarray]]:
    def build(numba: Any) -> Callable[..., np.ndarray]:
        half, eighth = np.float32(0.5), np.float32(0.125)

        @numba.njit(fastmath=True)
        def stencil(start: np.ndarray) -> np.ndarray:
            u, other = start.copy(), start.copy()
            for _ in range(steps):
                for i in range(1, u.shape[0] - 1):
                    for j in range(1, u.shape[1] - 1):
                        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                        other[i, j] = half * u[i, j] + eighth * around
                u, other = other, u
            return u

        return stencil

    return build


def paths(numba: Any) -> Callable[..., np.ndarray]:
    @numba.njit(fastmath=True)
    def paths(start: np.ndarray) -> np.ndarray:
        d = start.copy()
        for k in range(d.shape[0]):
            for i in range(d.shape[0]):
                first = d[i, k]
                for j in range(d.shape[1]):
                    d[i, j] = min(d[i, j], first + d[k, j])
        return d

    return paths


def bodies(steps: int) -> Callable[[Any], Callable[..., tuple[np.ndarray, np.ndarray]]]:
    def build(numba: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        short, soft, one = np.float32(1e-3), np.float32(1e-2), np.float32(1)

        @numba.njit(fastmath=True)
        def bodies(start: np.ndarray, speed: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            x, v = start.copy(), speed.copy()
            for _ in range(steps):
                for i in range(x.shape[0]):
                    ax, ay, az = np.float32(0), np.float32(0), np.float32(0)
                    for j in range(x.shape[0]):
                        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                        inverse = one / math.sqrt(dx * dx + dy * dy + dz * dz + soft)
                        pull = mass[j] * inverse * inverse * inverse
                        ax += dx * pull
                        ay += dy * pull
                        az += dz * pull
                    v[i, 0] += short * ax
                    v[i, 1] += short * ay
                    v[i, 2] += short * az
                x += short * v
            return x, v

        return bodies

    return build


def averages(steps: int) -> Callable[[Any], Callable[..., tuple[np.ndarray, np.ndarray]]]:
    def build(numba: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        @numba.njit(fastmath=True)
        def averages(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            a, b = a.copy(), b.copy()
            third = a.dtype.type(1 / 3)
            for _ in range(steps):
                for i in range(1, a.size - 1):
                    b[i] = (a[i - 1] + a[i] + a[i + 1]) * third
                for i in range(1, a.size - 1):
                    a[i] = (b[i - 1] + b[i] + b[i + 1]) * third
            return a, b

        return averages

    return build


def five_points(steps: int) -> Callable[[Any], Callable[..., tuple[np.ndarray, np.ndarray]]]:
    def build(numba: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
        @numba.njit(fastmath=True)
        def sweep(a: np.ndarray, b: np.ndarray) -> None:
            fifth = a.dtype.type(0.2)
            for i in range(1, a.shape[0] - 1):
                for j in range(1, a.shape[1] - 1):
                    b[i, j] = fifth * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])

        @numba.njit(fastmath=True)
        def five_points(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            a, b = a.copy(), b.copy()
            for _ in range(steps):
                sweep(a, b)
                sweep(b, a)
            return a, b

        return five_points

    return build


def fields(steps: int) -> Callable[[Any], Callable[..., tuple[np.ndarray, ...]]]:
    def build(numba: Any) -> Callable[..., tuple[np.ndarray, ...]]:
        @numba.njit(fastmath=True)
        def fields(ex: np.ndarray, ey: np.ndarray, hz: np.ndarray) -> tuple[np.ndarray, ...]:
            ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
            half, most = ex.dtype.type(0.5), ex.dtype.type(0.7)
            rows, columns = ex.shape
            for _ in range(steps):
                for j in range(columns):
                    ey[0, j] = half * ey[1, j]
                for i in range(1, rows):
                    for j in range(columns):
                        ey[i, j] -= half * (hz[i, j] - hz[i - 1, j])
                for i in range(rows):
                    for j in range(1, columns):
                        ex[i, j] -= half * (hz[i, j] - hz[i, j - 1])
                for i in range(rows - 1):
                    for j in range(columns - 1):
                        hz[i, j] -= most * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
            return ex, ey, hz

        return fields

    return build
