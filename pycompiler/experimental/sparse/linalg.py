"""Linear algebra of sparse matrices: `spsolve`, a direct solver, and `lobpcg_standard`, the largest eigenvalues."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.experimental.sparse.formats import is_sparse
from pycompiler.experimental.sparse.rows import product
from pycompiler.jit.jit import jit
from pycompiler.lax import custom_linear_solve, while_loop
from pycompiler.lax.callbacks import pure_callback
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import Array

__all__ = ["lobpcg_standard", "spsolve"]


def spsolve(data: Array, indices: Array, indptr: Array, b: Array, tol: float = 1e-6, reorder: int = 1) -> Array:
    """The solution x of A x = b for a square matrix in compressed rows, and a vector b of the dtype of its elements.

    SciPy's `spsolve` computes it on the host, with its own order of elimination: `tol` and `reorder` change nothing.
    The solution for a singular matrix is nan. It can be differentiated by `data` and `b`, and mapped: then systems are
    solved one after another. Elements in columns outside do not count.

    Raises ValueError for arrays of unsuitable shapes or dtypes, and ImportError without SciPy.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> a = sparse.BCSR.fromdense(pnp.array([[2.0, 1.0], [0.0, 4.0]]))
    >>> sparse.linalg.spsolve(a.data, a.indices, a.indptr, pnp.array([4.0, 8.0]))
    Array([1., 2.], dtype=float32)
    """
    data, indices, indptr, b = _checked(data, indices, indptr, b)
    if reorder not in (0, 1, 2, 3):
        raise ValueError(f"spsolve: reorder is {reorder!r}, expected 0, 1, 2 or 3")
    float(tol)
    size = b.shape[0]
    if not size:
        return b

    def solve(transposed: bool, _: Callable[[Array], Array], right: Array) -> Array:
        wanted = ShapeDtypeStruct((size,), right.dtype)
        run = functools.partial(_solve_on_host, transposed)
        return pure_callback(run, wanted, data, indices, indptr, right, vmap_method="sequential")

    return custom_linear_solve(
        lambda x: product(data, indices, indptr, x, size=size),
        b,
        functools.partial(solve, False),
        functools.partial(solve, True),
    )


def _checked(*given: Any) -> list[Any]:
    names = ("data", "indices", "indptr", "b")
    for name, x in zip(names, given, strict=True):
        if not is_array(x) or len(get_aval(x).shape) != 1:
            shown = short(get_aval(x)) if is_array(x) else f"{x!r} of type {type(x).__name__}"
            raise ValueError(f"spsolve: {name} must be an array of one dimension, got {shown}")
    data, indices, indptr, b = map(pnp.asarray, given)
    if data.dtype != b.dtype or not dtypes.is_inexact(data.dtype):
        raise ValueError(
            f"spsolve: data is {short(get_aval(data))} and b {short(get_aval(b))}, expected one dtype, of floats or "
            "complex numbers. What to do: convert them, with .astype"
        )
    if not dtypes.is_integer(indices.dtype) or not dtypes.is_integer(indptr.dtype):
        raise ValueError(
            f"spsolve: indices are {short(get_aval(indices))} and indptr {short(get_aval(indptr))}, expected integers"
        )
    if data.shape != indices.shape or indptr.shape[0] != b.shape[0] + 1:
        raise ValueError(
            f"spsolve: data has {data.shape[0]} elements, indices {indices.shape[0]}, indptr {indptr.shape[0]} and b "
            f"{b.shape[0]}: expected as many elements as indices, and one more in indptr than in b"
        )
    return [data, indices, indptr, b]


def _solve_on_host(transposed: bool, data: Any, indices: Any, indptr: Any, b: Any) -> Any:
    try:
        sparse: Any = importlib.import_module("scipy.sparse")
        linalg: Any = importlib.import_module("scipy.sparse.linalg")
    except ImportError as error:
        raise ImportError(f"spsolve: SciPy can't be imported ({error}). What to do: pip install scipy") from error
    size = len(b)
    data, columns, starts, right = map(np.asarray, (data, indices, indptr, b))
    wide = np.result_type(data.dtype if data.dtype.kind in "fc" else np.float32, np.float32)
    rows = np.repeat(np.arange(size), np.diff(starts))
    columns, data = columns[: len(rows)], data[: len(rows)].astype(wide)
    inside = (columns >= 0) & (columns < size)
    places = (columns, rows) if transposed else (rows, columns)
    matrix = sparse.csc_matrix((data[inside], tuple(place[inside] for place in places)), shape=(size, size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a singular matrix: the result is nan
        return linalg.spsolve(matrix, right.astype(wide)).astype(right.dtype)


def lobpcg_standard(
    A: Array | Callable[[Array], Array], X: Array, m: int = 100, tol: Any = None
) -> tuple[Array, Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, their eigenvectors, and the number of iterations.

    `A` is a matrix of shape (n, n), dense or sparse, or its product with a matrix of shape (n, k); `X`, of shape
    (n, k), has the vectors to begin with, where 0 < 5 k < n. There are at most `m` iterations, of the method LOBPCG
    with an orthonormal basis. They end when the residual of each vector v is below `tol * 10 * n * (w + |A v|)`, where
    w is its eigenvalue; `tol` is the precision of the dtype, unless it is given.

    Raises ValueError for other shapes and dtypes.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> matrix = pnp.diag(pnp.arange(1.0, 21.0))
    >>> found, vectors, _ = sparse.linalg.lobpcg_standard(matrix, pnp.eye(20)[:, :3] + 0.1)
    >>> found.round(2)
    Array([20., 19., 18.], dtype=float32)
    """
    X = pnp.asarray(X)
    if X.ndim != 2 or not 0 < X.shape[1] * 5 < X.shape[0] or not dtypes.is_floating(X.dtype):
        raise ValueError(
            f"lobpcg_standard: X is {short(get_aval(X))}, expected floats of shape (n, k) with 0 < 5 k < n. What to "
            "do: for more eigenvalues, use numpy.linalg.eigh"
        )
    matrix: Any = None
    if callable(A):
        apply = A
    else:
        matrix = A if is_sparse(A) else pnp.asarray(A)
        if matrix.shape != (X.shape[0],) * 2 or matrix.dtype != X.dtype:
            raise ValueError(
                f"lobpcg_standard: A has the shape {matrix.shape} and the dtype {matrix.dtype}, expected "
                f"{(X.shape[0],) * 2} and {X.dtype}, those of X"
            )
        apply = functools.partial(_times, matrix)
    image = get_aval(apply(X))
    if image.shape != X.shape or image.dtype != X.dtype:
        raise ValueError(
            f"lobpcg_standard: A returned {short(image)} for {short(get_aval(X))}, expected the same shape and dtype"
        )
    limit = dtypes.finfo(X.dtype).eps if tol is None else tol
    return _of_function(apply, X, m, limit) if callable(A) else _of_matrix(matrix, X, m, limit)


def _times(matrix: Any, x: Array) -> Array:
    return matrix @ x


@functools.partial(jit, static_argnames=("m",))
def _of_matrix(matrix: Any, X: Array, m: int, tol: Any) -> tuple[Array, Array, Array]:
    return _iterated(functools.partial(_times, matrix), X, m, tol)


@functools.partial(jit, static_argnames=("apply", "m"))
def _of_function(apply: Callable[[Array], Array], X: Array, m: int, tol: Any) -> tuple[Array, Array, Array]:
    return _iterated(apply, X, m, tol)


def _iterated(apply: Callable[[Array], Array], X: Array, m: int, tol: Any) -> tuple[Array, Array, Array]:
    size, count = X.shape

    def best(basis: Array) -> tuple[Array, Array]:
        # The largest eigenvalues in the space of an orthonormal basis, and their vectors in this basis.
        small = basis.T @ apply(basis)
        values, vectors = pnp.linalg.eigh((small + small.T) / 2)
        return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]

    def residual(values: Array, vectors: Array) -> tuple[Array, Array]:
        image = apply(vectors)
        rest = image - vectors * values
        bound = tol * 10 * size * (values + pnp.linalg.norm(image, axis=0))
        return rest, pnp.all(pnp.linalg.norm(rest, axis=0) < bound)

    def step(state: Any) -> Any:
        number, _, vectors, directions, rest, _ = state
        basis = pnp.linalg.qr(pnp.concatenate([vectors, rest, directions], 1))[0]
        values, chosen = best(basis)
        # The new directions are the parts of the new vectors that the old ones do not have.
        moved = basis[:, count:] @ chosen[count:]
        vectors = pnp.linalg.qr(basis @ chosen)[0]
        rest, done = residual(values, vectors)
        return number + 1, values, vectors, moved, rest, done

    vectors = pnp.linalg.qr(X)[0]
    values, chosen = best(vectors)
    vectors = vectors @ chosen
    rest, done = residual(values, vectors)
    start = (pnp.int32(0), values, vectors, pnp.zeros_like(vectors), rest, done)
    number, values, vectors, *_ = while_loop(lambda state: (state[0] < m) & ~state[5], step, start)
    return values, vectors, number


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
