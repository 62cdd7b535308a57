"""Rotations as unit quaternions (x, y, z, w) in the last axis, and their other forms."""

import re
from itertools import pairwise
from typing import Any

import numpy as np

import pycompiler.numpy as pnp

Array = Any


def parts(quat: Array) -> tuple[Array, Array, Array, Array]:
    """x, y, z and w."""
    return quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]


def length(vector: Array) -> Array:
    """The norm, with the derivative 0 at 0."""
    square = pnp.sum(vector * vector, -1)
    zero = square == 0
    return pnp.where(zero, 0, pnp.sqrt(pnp.where(zero, 1, square)))


def normalized(quat: Array) -> Array:
    """A quaternion of norm 1; nan for 0."""
    return quat / pnp.sqrt(pnp.sum(quat * quat, -1, keepdims=True))


def product(p: Array, q: Array) -> Array:
    """The composition: first the rotation q, then p."""
    a, b, c, d = parts(p)
    x, y, z, w = parts(q)
    return pnp.stack(
        [
            d * x + a * w + b * z - c * y,
            d * y + b * w + c * x - a * z,
            d * z + c * w + a * y - b * x,
            d * w - a * x - b * y - c * z,
        ],
        -1,
    )


def inverse(quat: Array) -> Array:
    """The inverse rotation."""
    return pnp.concatenate([-quat[..., :3], quat[..., 3:]], -1)


def canonical(quat: Array) -> Array:
    """The quaternion of a rotation with a positive sign: the first part of w, x, y, z that is not 0 is positive."""
    x, y, z, w = parts(quat)
    sign = pnp.where(w != 0, w, pnp.where(x != 0, x, pnp.where(y != 0, y, z)))
    return pnp.where((sign < 0)[..., None], -quat, quat)


def magnitude(quat: Array) -> Array:
    """The angle, from 0 to pi."""
    return 2 * pnp.arctan2(length(quat[..., :3]), pnp.abs(quat[..., 3]))


def to_matrix(quat: Array) -> Array:
    """f[..., 3, 3]."""
    x, y, z, w = parts(quat)
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
    ]
    return pnp.stack([pnp.stack(row, -1) for row in rows], -2)


def from_matrix(matrix: Array) -> Array:
    """The quaternion of a matrix, from its largest part (Markley, 2008)."""
    m = [[matrix[..., i, j] for j in range(3)] for i in range(3)]
    trace = m[0][0] + m[1][1] + m[2][2]
    forms = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        form: list[Any] = [None] * 4
        form[i], form[3] = 1 - trace + 2 * m[i][i], m[k][j] - m[j][k]
        form[j], form[k] = m[j][i] + m[i][j], m[k][i] + m[i][k]
        forms.append(pnp.stack(form, -1))
    forms.append(pnp.stack([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 1 + trace], -1))
    choice = pnp.argmax(pnp.stack([m[0][0], m[1][1], m[2][2], trace], -1), -1)[..., None]
    chosen = pnp.where(choice == 0, forms[0], pnp.where(choice == 1, forms[1], forms[2]))
    return normalized(pnp.where(choice == 3, forms[3], chosen))


def to_rotvec(quat: Array) -> Array:
    """The axis, with the angle as its length."""
    quat = pnp.where(quat[..., 3:] < 0, -quat, quat)
    angle = 2 * pnp.arctan2(length(quat[..., :3]), quat[..., 3])
    square = angle * angle
    small = angle <= 1e-3
    series = 2 + square / 12 + 7 * square * square / 2880
    quotient = pnp.where(small, 1, angle) / pnp.sin(pnp.where(small, 1, angle) / 2)
    return pnp.where(small, series, quotient)[..., None] * quat[..., :3]


def from_rotvec(rotvec: Array) -> Array:
    """The inverse of `to_rotvec`."""
    angle = length(rotvec)
    square = angle * angle
    small = angle <= 1e-3
    safe = pnp.where(small, 1, angle)
    scale = pnp.where(small, 0.5 - square / 48 + square * square / 3840, pnp.sin(safe / 2) / safe)
    return pnp.concatenate([scale[..., None] * rotvec, pnp.cos(angle / 2)[..., None]], -1)


def to_mrp(quat: Array) -> Array:
    """Modified Rodrigues parameters: the axis, with the length tan(angle / 4)."""
    quat = pnp.where(quat[..., 3:] < 0, -quat, quat)
    return quat[..., :3] / (1 + quat[..., 3:])


def from_mrp(mrp: Array) -> Array:
    """The inverse of `to_mrp`."""
    square = pnp.sum(mrp * mrp, -1, keepdims=True)
    return pnp.concatenate([2 * mrp, 1 - square], -1) / (1 + square)


def axes_of(name: str, seq: Any, counts: tuple[int, ...]) -> tuple[list[int], bool]:
    """The axes of a sequence, and whether they turn with the body. ValueError for a wrong sequence."""
    if not isinstance(seq, str) or len(seq) not in counts or not re.fullmatch("[xyz]+|[XYZ]+", seq):
        raise ValueError(
            f"{name}: the axes are {' to '.join(map(str, counts[::2] or counts))} letters of 'xyz' (fixed axes) or of "
            f"'XYZ' (axes of the body), got {seq!r}"
        )
    if any(first == second for first, second in pairwise(seq)):
        raise ValueError(f"{name}: consecutive axes must differ, got {seq!r}")
    return ["xyz".index(letter) for letter in seq.lower()], seq.isupper()


def from_euler(axes: list[int], intrinsic: bool, angles: Array) -> Array:
    """angles: f[..., n], one for each axis."""
    result: Any = None
    for place, axis in enumerate(axes):
        half = angles[..., place] / 2
        form: list[Any] = [pnp.zeros_like(half)] * 4
        form[axis], form[3] = pnp.sin(half), pnp.cos(half)
        quat = pnp.stack(form, -1)
        result = quat if result is None else product(result, quat) if intrinsic else product(quat, result)
    return result


def to_euler(axes: list[int], intrinsic: bool, quat: Array) -> Array:
    """Three angles (Bernardes and Viollet, 2022). If only the sum or the difference of the first and the last angle is
    determined, the last one is 0."""
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    q = parts(quat)
    if symmetric:
        a, b, c, d = q[3], q[i], q[j], q[k] * sign
    else:
        a, b, c, d = q[3] - q[j], q[i] + q[k] * sign, q[j] + q[3], q[k] * sign - q[i]
    middle = 2 * pnp.arctan2(pnp.hypot(c, d), pnp.hypot(a, b))
    half_sum, half_difference = pnp.arctan2(b, a), pnp.arctan2(d, c)
    at_zero, at_pi = pnp.abs(middle) <= 1e-7, pnp.abs(middle - np.pi) <= 1e-7
    free = at_zero | at_pi
    turned = 2 * half_difference * (1 if intrinsic else -1)
    single = pnp.where(at_zero, 2 * half_sum, turned)
    first, third = half_sum - half_difference, half_sum + half_difference
    if intrinsic:
        first, third = third, first
    first, third = pnp.where(free, single, first), pnp.where(free, 0, third)
    if not symmetric:
        middle = middle - np.pi / 2
        if intrinsic:
            first = first * sign
        else:
            third = third * sign
    angles = pnp.stack([first, middle, third], -1)
    return (angles + np.pi) % (2 * np.pi) - np.pi
