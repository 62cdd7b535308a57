"""Products of numpy: cross, kron, matvec, vecmat."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, canonical_axis, check_arrays
from pycompiler.numpy.contraction import matmul
from pycompiler.numpy.movement import moveaxis
from pycompiler.numpy.promotion import converted
from pycompiler.primitives.linalg import rules as la

__all__ = [
    "cross",
    "kron",
    "matvec",
    "vecmat",
]


def _differ(name: str, a: Any, b: Any, what: str) -> ValueError:
    return ValueError(f"{name}: {what}: {short(get_aval(a))} and {short(get_aval(b))}")


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """The cross products of vectors of 3 (or 2, whose third is 0) elements along axisa of a and axisb of b.

    The result has the vectors along axisc. For vectors of 2 elements, it is only the third element. `axis` replaces
    axisa, axisb and axisc.

    >>> import pycompiler.numpy as pnp
    >>> pnp.cross(pnp.array([1, 0, 0]), pnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    check_arrays("cross", a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = converted("cross", a, b)
    a = moveaxis(a, canonical_axis("cross", axisa, len(get_aval(a).shape)), -1)
    b = moveaxis(b, canonical_axis("cross", axisb, len(get_aval(b).shape)), -1)
    sizes = get_aval(a).shape[-1], get_aval(b).shape[-1]
    if not set(sizes) <= {2, 3}:
        raise _differ("cross", a, b, "expects vectors of 2 or 3 elements along the axes")
    try:
        broadcast_shapes(get_aval(a).shape[:-1], get_aval(b).shape[:-1])
    except ValueError:
        raise _differ("cross", a, b, "the other dimensions do not broadcast") from None
    out = eager_jit(_cross, a, b)
    return out if sizes == (2, 2) else moveaxis(out, -1, canonical_axis("cross", axisc, len(get_aval(out).shape)))


def _cross(a: Array, b: Array) -> Array:
    batch = broadcast_shapes(get_aval(a).shape[:-1], get_aval(b).shape[:-1])

    def elements(x: Array) -> list[Array]:
        size = get_aval(x).shape[-1]
        x = broadcast_to(x, (*batch, size))
        found = [movement.index_in_dim(x, i, -1, keepdims=False) for i in range(size)]
        return found if size == 3 else [*found, movement.full_like(found[0], 0)]

    (a0, a1, a2), (b0, b1, b2) = elements(a), elements(b)
    third = lax.sub(lax.mul(a0, b1), lax.mul(a1, b0))
    if get_aval(a).shape[-1] == get_aval(b).shape[-1] == 2:
        return third
    parts = [lax.sub(lax.mul(a1, b2), lax.mul(a2, b1)), lax.sub(lax.mul(a2, b0), lax.mul(a0, b2)), third]
    return movement.concatenate([movement.expand_dims(part, (-1,)) for part in parts], len(batch))


def kron(a: Any, b: Any) -> Array:
    """The Kronecker product: each element of a times all of b, in blocks. The shorter shape is padded with ones.

    >>> import pycompiler.numpy as pnp
    >>> pnp.kron(pnp.array([1, 2]), pnp.array([1, 1]))
    Array([1, 1, 2, 2], dtype=int32)
    """
    check_arrays("kron", a, b)
    a, b = converted("kron", a, b)
    return eager_jit(_kron, a, b)


def _kron(a: Array, b: Array) -> Array:
    left, right = get_aval(a).shape, get_aval(b).shape
    rank = max(len(left), len(right))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (left, right))
    both = tuple(size for pair in zip(left, right, strict=True) for size in pair)
    wide = [
        movement.broadcast_in_dim(movement.reshape(x, shape), both, tuple(range(first, 2 * rank, 2)))
        for first, (x, shape) in enumerate(((a, left), (b, right)))
    ]
    return movement.reshape(lax.mul(*wide), tuple(m * n for m, n in zip(left, right, strict=True)))


def matvec(x1: Any, x2: Any, /) -> Array:
    """The products of matrices [..., m, n] and vectors [..., n]; leading dimensions broadcast."""
    check_arrays("matvec", x1, x2)
    left, right = get_aval(x1).shape, get_aval(x2).shape
    if len(left) < 2 or not right or left[-1] != right[-1]:
        raise _differ("matvec", x1, x2, "expects shapes [..., m, n] and [..., n]")
    x1, x2 = converted("matvec", x1, x2)
    return eager_jit(_matvec, x1, x2)


def _matvec(a: Array, v: Array) -> Array:
    if get_aval(a).ndim == 2 and get_aval(v).ndim > 1:  # one product of matrices
        return matmul(v, moveaxis(a, 0, 1))
    return movement.squeeze(matmul(a, movement.expand_dims(v, (-1,))), (-1,))


def vecmat(x1: Any, x2: Any, /) -> Array:
    """The products of (conjugated) vectors [..., n] and matrices [..., n, m]; leading dimensions broadcast."""
    check_arrays("vecmat", x1, x2)
    left, right = get_aval(x1).shape, get_aval(x2).shape
    if not left or len(right) < 2 or left[-1] != right[-2]:
        raise _differ("vecmat", x1, x2, "expects shapes [..., n] and [..., n, m]")
    x1, x2 = converted("vecmat", x1, x2)
    return eager_jit(_vecmat, x1, x2)


def _vecmat(v: Array, a: Array) -> Array:
    if get_aval(a).ndim == 2 and get_aval(v).ndim > 1:  # one product of matrices
        return matmul(la.conj(v), a)
    return movement.squeeze(matmul(movement.expand_dims(la.conj(v), (-2,)), a), (-2,))
