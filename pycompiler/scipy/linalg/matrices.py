"""Special matrices of scipy.linalg. Functions of vectors accept leading batch dimensions."""

from math import comb
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.dims.ranges import fixed
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import indexing, movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.linalg.arguments import inexact_arrays
from pycompiler.numpy.movement import atleast_1d, atleast_2d
from pycompiler.numpy.promotion import converted
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.shape import full
from pycompiler.primitives.sort import take_along


def block_diag(*arrs: Any) -> Array:
    """The matrix with the given matrices (vectors are rows, scalars are 1x1) along its diagonal, zeros elsewhere.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.block_diag(pnp.ones((1, 1)), 2 * pnp.ones((1, 2)))
    Array([[1., 0., 0.],
           [0., 2., 2.]], dtype=float32)
    """
    if not arrs:
        return full((1, 0), 0, dtypes.scalar_dtype(float))
    check_arrays("block_diag", *arrs)
    for i, x in enumerate(arrs):
        if len(get_aval(x).shape) > 2:
            raise ValueError(f"block_diag: argument {i} has more than 2 dimensions: {short(get_aval(x))}")
    return eager_jit(_block_diag, *converted("block_diag", *arrs))


def _block_diag(*arrays: Array) -> Array:
    xs = [atleast_2d(x) for x in arrays]
    total = sum(get_aval(x).shape[1] for x in xs)
    rows: list[Array] = []
    before = 0
    for x in xs:
        width = get_aval(x).shape[1]
        zero = cast(0, get_aval(x).dtype)
        rows.append(movement.pad(x, zero, [(0, 0, 0), (before, total - width - before, 0)]))
        before += width
    return movement.concatenate(rows, 0)


def _chosen(v: Array, places: Any) -> Array:
    """The matrix v[places] of the last dimension, for a matrix of places that does not depend on data."""
    places = np.asarray(places, np.int32)
    batch = get_aval(v).shape[:-1]
    flat = broadcast_to(places.reshape(-1), (*batch, places.size))
    return movement.reshape(take_along(v, flat, len(batch)), (*batch, *places.shape))


def _one_batch(name: str, *vectors: Array) -> list[Array]:
    try:
        batch = broadcast_shapes(*(get_aval(v).shape[:-1] for v in vectors))
    except ValueError:
        shown = " and ".join(short(get_aval(v)) for v in vectors)
        raise ArgumentError(f"{name}: leading dimensions do not broadcast: {shown}") from None
    return [broadcast_to(v, (*batch, get_aval(v).shape[-1])) for v in vectors]


def _diagonals(c: Array, r: Array, *, rising: bool) -> Array:
    """A matrix constant along diagonals (or antidiagonals), with the first column c and the first (or last) row r."""
    m, n = get_aval(c).shape[-1], get_aval(r).shape[-1]
    if m == 0 or n == 0:
        return full((*get_aval(c).shape[:-1], m, n), 0, get_aval(c).dtype)
    i, j = np.indices((fixed("toeplitz", m), fixed("toeplitz", n)))
    both = movement.concatenate([c, movement.slice_in_dim(r, 1, n, axis=-1)], len(get_aval(c).shape) - 1)
    if rising:
        return _chosen(both, i + j)
    return _chosen(both, np.where(j > i, m - 1 + j - i, i - j))


def toeplitz(c: Any, r: Any = None) -> Array:
    """The matrices with the first column c and the first row r (without its first element; by default conj(c)),
    constant along diagonals.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.toeplitz(pnp.array([1, 2, 3]))
    Array([[1, 2, 3],
           [2, 1, 2],
           [3, 2, 1]], dtype=int32)
    """
    check_arrays("toeplitz", c, *(() if r is None else (r,)))
    c = atleast_1d(c)
    c, r = converted("toeplitz", c, la.conj(c) if r is None else atleast_1d(r))
    return eager_jit(_diagonals, *_one_batch("toeplitz", c, r), rising=False)


def hankel(c: Any, r: Any = None) -> Array:
    """The matrices with the first column c and the last row r (without its first element; by default zeros), constant
    along antidiagonals."""
    check_arrays("hankel", c, *(() if r is None else (r,)))
    r = movement.full_like(c, 0) if r is None else r
    for what, x in (("c", c), ("r", r)):
        if not get_aval(x).shape:
            raise ValueError(f"hankel: {what} must have at least 1 dimension, got a scalar")
    return eager_jit(_diagonals, *_one_batch("hankel", *converted("hankel", c, r)), rising=True)


def _circulant(c: Array) -> Array:
    n = get_aval(c).shape[-1]
    i, j = np.indices((n, n))
    return _chosen(c, (i - j) % max(n, 1))


def circulant(c: Any) -> Array:
    """The matrices whose columns are rotations of c, each by one more element."""
    check_arrays("circulant", c)
    return eager_jit(_circulant, atleast_1d(c))


def _placed(v: Array, rows: Any, columns: Any, shape: tuple[int, int]) -> Array:
    """Zeros of a shape, with the last dimension of v at distinct places. The derivative reads only these places."""
    *batch, _ = get_aval(v).shape
    rank = len(batch)
    zeros = full((*batch, shape[0] * shape[1]), 0, get_aval(v).dtype)
    places = np.asarray(rows * shape[1] + columns, np.int32)[:, None]
    numbers = indexing.ScatterDimensionNumbers(tuple(range(rank)), (rank,), (rank,))
    mode = indexing.GatherScatterMode.PROMISE_IN_BOUNDS
    flat = indexing.scatter(zeros, places, v, numbers, unique_indices=True, mode=mode)
    return movement.reshape(flat, (*batch, *shape))


def _below(first: Array, rest: Array) -> Array:
    """The matrices with a first row and other rows. The derivative by the first row reads no other row."""
    rank = len(get_aval(first).shape)
    return movement.concatenate([movement.expand_dims(first, (rank - 1,)), rest], rank - 1)


def _leslie(f: Array, s: Array) -> Array:
    n = get_aval(f).shape[-1]
    places = np.arange(n - 1)
    return _below(f, _placed(s, places, places, (n - 1, n)))


def leslie(f: Any, s: Any) -> Array:
    """The matrices with the first row f [n] and s [n - 1] below the diagonal, n at least 2."""
    check_arrays("leslie", f, s)
    f, s = atleast_1d(f), atleast_1d(s)
    left, right = get_aval(f), get_aval(s)
    if left.shape[-1] < 2 or right.shape[-1] != left.shape[-1] - 1:
        raise ArgumentError(
            f"leslie: expects shapes [n] and [n - 1], n at least 2, got {short(left)} and {short(right)}"
        )
    return eager_jit(_leslie, *_one_batch("leslie", *converted("leslie", f, s)))


def _companion(a: Array) -> Array:
    n = get_aval(a).shape[-1] - 1
    leading = broadcast_to(movement.slice_in_dim(a, 0, 1, axis=-1), (*get_aval(a).shape[:-1], n))
    first = lax.neg(lax.div(movement.slice_in_dim(a, 1, n + 1, axis=-1), leading))
    ones = cast(np.eye(n - 1, n, dtype=bool), get_aval(a).dtype)
    return _below(first, broadcast_to(ones, (*get_aval(a).shape[:-1], n - 1, n)))


def companion(a: Any) -> Array:
    """The companion matrices of polynomials with the coefficients a [n], highest first, n at least 2."""
    (a,) = inexact_arrays("companion", a, narrow=True)
    a = atleast_1d(a)
    if get_aval(a).shape[-1] < 2:
        raise ValueError(f"companion: expects at least 2 coefficients, got {short(get_aval(a))}")
    return eager_jit(_companion, a)


def _fiedler(a: Array) -> Array:
    n = get_aval(a).shape[-1]
    return lax.abs(lax.sub(la.columns_of(a, n), la.rows_of(a, n)))


def fiedler(a: Any) -> Array:
    """The magnitudes of the differences of all pairs of elements."""
    check_arrays("fiedler", a)
    return eager_jit(_fiedler, atleast_1d(a))


def _fiedler_companion(a: Array) -> Array:
    *batch, count = get_aval(a).shape
    n = count - 1
    if n == 0:
        return full((*batch, 0, 0), 0, get_aval(a).dtype)
    leading = broadcast_to(movement.slice_in_dim(a, 0, 1, axis=-1), (*batch, n))
    monic = lax.neg(lax.div(movement.slice_in_dim(a, 1, count, axis=-1), leading))
    # Pentadiagonal (Fiedler, 2003): in rows of even numbers, quotients above and left of the diagonal, and ones at a
    # distance of two places.
    even, odd, right, left = np.arange(0, n - 1, 2), np.arange(3, n, 2), np.arange(0, n - 2, 2), np.arange(2, n, 2)
    rows = np.concatenate([[0], even, left, [1] if n > 1 else [], right, odd]).astype(int)
    columns = np.concatenate([[0], even + 1, left - 1, [0] if n > 1 else [], right + 2, odd - 2]).astype(int)
    ones = full((*batch, len(rows) - n), 1, get_aval(a).dtype)
    parts = [movement.slice_in_dim(monic, first, n, stride=2, axis=-1) for first in (1, 2) if first < n]
    values = [movement.slice_in_dim(monic, 0, 1, axis=-1), *parts, ones]
    return _placed(movement.concatenate(values, len(batch)), rows, columns, (n, n))


def fiedler_companion(a: Any) -> Array:
    """The pentadiagonal companion matrices of polynomials with the coefficients a [n], highest first."""
    (a,) = inexact_arrays("fiedler_companion", a, narrow=True)
    a = atleast_1d(a)
    if get_aval(a).shape[-1] == 0:
        raise ValueError(f"fiedler_companion: expects at least 1 coefficient, got {short(get_aval(a))}")
    return eager_jit(_fiedler_companion, a)


# A matrix with more rows fits into no memory.
_MOST_ROWS = 2**24


def _index(name: str, n: Any) -> int:
    try:
        found = n.__index__()
    except AttributeError:
        raise TypeError(f"{name}: n must be an integer, got {n!r}") from None
    if found > _MOST_ROWS:
        raise OverflowError(f"{name}: a matrix of {found} rows and columns does not fit into memory")
    return found


def _convolution(a: Array, *, n: int, mode: str) -> Array:
    m = get_aval(a).shape[-1]
    first = {"full": 0, "same": (min(m, n) - 1) // 2, "valid": min(m, n) - 1}[mode]
    rows = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}[mode]
    padded = movement.pad(a, cast(0, get_aval(a).dtype), [*[(0, 0, 0)] * (len(get_aval(a).shape) - 1), (0, 1, 0)])
    i, j = np.indices((rows, n))
    distance = i + first - j
    return _chosen(padded, np.where((distance >= 0) & (distance < m), distance, m))


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Array:
    """The matrices whose products with vectors of n elements are convolutions with a. mode: 'full', 'valid', 'same'."""
    n = _index("convolution_matrix", n)
    check_arrays("convolution_matrix", a)
    if n <= 0:
        raise ValueError(f"convolution_matrix: n must be positive, got {n}")
    if not get_aval(a).shape or get_aval(a).shape[-1] < 1:
        raise ValueError(f"convolution_matrix: expects at least 1 element, got {short(get_aval(a))}")
    if mode not in ("full", "valid", "same"):
        raise ValueError(f"convolution_matrix: mode is 'full', 'valid' or 'same', got {mode!r}")
    return eager_jit(_convolution, a, n=n, mode=mode)


# Matrices that depend only on a size: computed exactly, then rounded.


def _real(values: Any) -> Array:
    return asarray(np.asarray(values, dtypes.scalar_dtype(float)))


def hilbert(n: int) -> Array:
    """1 / (i + j + 1).

    >>> from pycompiler.scipy import linalg
    >>> linalg.hilbert(2)
    Array([[1.        , 0.5       ],
           [0.5       , 0.33333334]], dtype=float32)
    """
    i, j = np.indices((_index("hilbert", n),) * 2)
    return _real(1 / (i + j + 1))


def invhilbert(n: int) -> Array:
    """The inverse of hilbert(n)."""
    n = _index("invhilbert", n)

    def element(i: int, j: int) -> float:
        sizes = comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(i + j, i) ** 2
        return float((-1) ** (i + j) * (i + j + 1) * sizes)

    return _real(np.array([element(i, j) for i in range(n) for j in range(n)], float).reshape(n, n))


def _kinds(name: str, kind: str | None) -> str:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise ValueError(f"{name}: kind is 'symmetric', 'lower' or 'upper', got {kind!r}")
    return kind or "symmetric"


def _pascal(name: str, n: int, kind: str | None, sign: int) -> Any:
    n = _index(name, n)
    kind = _kinds(name, kind)
    lower = [[sign ** (i - j) * comb(i, j) if j <= i else 0 for j in range(n)] for i in range(n)]
    upper = [list(column) for column in zip(*lower, strict=True)]
    if kind != "symmetric":
        return np.array(lower if kind == "lower" else upper, float).reshape(n, n)
    left, right = (lower, upper) if sign == 1 else (upper, lower)
    product = [[float(sum(left[i][k] * right[k][j] for k in range(n))) for j in range(n)] for i in range(n)]
    return np.array(product, float).reshape(n, n)


def pascal(n: int, kind: str | None = None) -> Array:
    """Binomial coefficients, float32: 'symmetric' (the product of the two triangles), 'lower' or 'upper'."""
    return asarray(_pascal("pascal", n, kind, 1).astype(np.float32))


def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of pascal(n, kind)."""
    return _real(_pascal("invpascal", n, kind, -1))


def helmert(n: int, full: bool = False) -> Array:
    """The rows of Helmert's matrix [n - 1, n], orthogonal to each other and to ones; with `full`, also a row of
    ones."""
    n = _index("helmert", n)
    if n < 1:
        raise ValueError(f"helmert: n must be positive, got {n}")
    i, j = np.indices((n, n))
    size = np.sqrt(np.maximum(i * (i + 1.0), 1))
    rows = np.where(j < i, 1 / size, np.where(j == i, -i / size, 0.0))
    rows[0] = 1 / np.sqrt(n)
    return _real(rows if full else rows[1:])


def hadamard(n: int, dtype: Any = int) -> Array:
    """Hadamard's matrix of ones and minus ones by Sylvester's construction; n is a power of 2."""
    n = _index("hadamard", n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n must be a power of 2, got {n}")
    rows = np.ones((1, 1), int)
    while len(rows) < n:
        rows = np.block([[rows, rows], [rows, -rows]])
    return asarray(rows.astype(dtypes.canonicalize_requested(dtype, "hadamard")))


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """The matrix of the discrete Fourier transform: exp(-2 pi i j k / n), over sqrt(n) or n by scale 'sqrtn' or 'n'."""
    n = _index("dft", n)
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"dft: scale is None, 'sqrtn' or 'n', got {scale!r}")
    wanted = dtypes.scalar_dtype(complex) if dtype is None else dtypes.canonicalize_requested(dtype, "dft")
    if wanted.kind != "c":
        raise ValueError(f"dft: dtype must be complex, got {wanted}")
    i, j = np.indices((n, n))
    # Angles are reduced to one turn first, so that they are exact.
    rows = np.exp(-2j * np.pi * ((i * j) % max(n, 1)) / max(n, 1))
    rows = rows / {None: 1, "sqrtn": np.sqrt(n), "n": n}[scale] if n else rows
    return asarray(rows.astype(wanted))
