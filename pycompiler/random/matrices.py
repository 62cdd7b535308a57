"""Distributions that need decompositions: normal vectors with a covariance, orthogonal matrices.

The algorithms are JAX's, and the numbers equal JAX's, except for signs that a decomposition does not determine.
"""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg, movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, broadcasts, canonical_shape, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import contraction
from pycompiler.numpy.diagonals import diagonal
from pycompiler.numpy.promotion import inexact
from pycompiler.random.arguments import Dtype, check_key, float_dtype, inexact_dtype
from pycompiler.random.containers import for_keys
from pycompiler.random.continuous import normal_numbers
from pycompiler.random.streams import normal_of

Shape = tuple[int, ...]
_METHODS = ("cholesky", "eigh", "svd")


def _columns_scaled(x: Array, scale: Array) -> Array:
    """The columns of the matrices, each multiplied by one number."""
    scale = movement.expand_dims(scale, (len(get_aval(scale).shape) - 1,))
    return lax.mul(x, broadcast_to(scale, get_aval(x).shape))


def _factor(covariance: Array, method: str) -> Array:
    """A matrix whose product with its transpose is the covariance."""
    if method == "cholesky":
        return linalg.cholesky(covariance)
    if method == "eigh":
        vectors, values = linalg.eigh(covariance)
        return _columns_scaled(vectors, lax.sqrt(values))
    u, s, _ = linalg.svd(covariance)
    return _columns_scaled(u, lax.sqrt(s))


def _multivariate_normal(key: Array, mean: Array, cov: Array, *, shape: Shape, dtype: Dtype, method: str) -> Array:
    size = get_aval(mean).shape[-1]
    factor = _factor(cov, method)
    drawn = cast(normal_of(key, (*shape, size), dtype), get_aval(factor).dtype)
    if len(get_aval(factor).shape) == 2:
        moved = contraction.matmul(drawn, movement.transpose(factor, (1, 0)))
    else:
        moved = contraction.matmul(factor, movement.expand_dims(drawn, (len(shape) + 1,)))
        moved = movement.squeeze(moved, (len(shape) + 1,))
    return lax.add(broadcast_to(mean, get_aval(moved).shape), moved)


@for_keys
def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Array:
    """Vectors of the normal distribution with a mean [..., n] and a covariance [..., n, n]; `shape` does not include n.

    The method factors the covariance: 'cholesky', or, for singular covariances, 'eigh' or 'svd'. Raises
    ValueError for another method and for shapes that do not fit; TypeError for a dtype that is not a float.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import random
    >>> random.multivariate_normal(random.key(0), pnp.zeros(2), pnp.eye(2)).shape
    (2,)
    """
    check_key("multivariate_normal", key)
    check_arrays("multivariate_normal", mean, cov)
    if method not in _METHODS:
        raise ValueError(f"multivariate_normal: the method must be one of {', '.join(_METHODS)}, got {method!r}")
    common = inexact(dtypes.result_type(mean, cov)[0])
    mean, cov = cast(mean, common), cast(cov, common)
    wanted = common if dtype is None else float_dtype("multivariate_normal", dtype)
    of_mean, of_cov = get_aval(mean).shape, get_aval(cov).shape
    if not of_mean or len(of_cov) < 2 or of_cov[-2:] != (of_mean[-1], of_mean[-1]):
        shown = f"{short(get_aval(mean))} and {short(get_aval(cov))}"
        raise ValueError(f"multivariate_normal: takes a mean [..., n] and a covariance [..., n, n], got {shown}")
    batch = broadcast_shapes(of_mean[:-1], of_cov[:-2])
    size = batch if shape is None else canonical_shape("multivariate_normal", shape)
    if not broadcasts(batch, size):
        raise ArgumentError(f"multivariate_normal: parameters of shape {batch} do not broadcast to the shape {size}")
    return divided(
        "multivariate_normal",
        eager_jit(_multivariate_normal, key, mean, cov, shape=size, dtype=wanted, method=method),
        out_sharding,
    )


def orthonormal(x: Any) -> Array:
    """Orthonormal columns from matrices of normal numbers, uniformly distributed; for use inside other functions.

    The result is the factor q, with signs that make the decomposition unique: Mezzadri, "How to generate random
    matrices from the classical compact groups" (2007).
    """
    q, r = linalg.qr(x, full_matrices=False)[:2]
    return _columns_scaled(q, lax.sign(diagonal(r, 0, -2, -1)))


def _orthogonal(key: Array, *, rows: int, columns: int, shape: Shape, dtype: Dtype) -> Array:
    drawn = normal_numbers(key, (*shape, max(rows, columns), min(rows, columns)), dtype)
    q = orthonormal(drawn)
    rank = len(shape) + 2
    return movement.transpose(q, (*range(rank - 2), rank - 1, rank - 2)) if rows < columns else q


@for_keys
def orthogonal(
    key: Any, n: int, shape: Any = (), dtype: Any = None, m: int | None = None, *, out_sharding: Any = None
) -> Array:
    """Matrices [*shape, n, m] with orthonormal columns (rows, if n < m), uniformly distributed; m defaults to n. With a
    complex dtype they are unitary."""
    check_key("orthogonal", key)
    rows, columns = canonical_shape("orthogonal", (n, n if m is None else m))
    size, wanted = canonical_shape("orthogonal", shape), inexact_dtype("orthogonal", dtype)
    return divided(
        "orthogonal", eager_jit(_orthogonal, key, rows=rows, columns=columns, shape=size, dtype=wanted), out_sharding
    )
