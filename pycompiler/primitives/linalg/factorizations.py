"""The family of factorizations that solve systems: cholesky, triangular_solve, lu, linear_solve and their relatives.

Each is a library routine over LAPACK, batched over leading dimensions, row-major. A failure (a matrix that is not
positive definite or is singular) gives nan or infinities, not an error.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import add_tangents, instantiate
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import add, mul, neg, sub
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full, full_like, permuted, reshaped
from pycompiler.primitives.sort import take_along

np: Any = numpy  # its stubs leave results without a type


def scipy_linalg() -> Any:
    """scipy.linalg, for references: imported when a test needs it."""
    return importlib.import_module("scipy.linalg")


# cholesky(a): the lower factor of a matrix, from its lower triangle.


def _half_diagonal(x: Value, lower: bool = True) -> Value:
    """One triangle, with half the diagonal."""
    half = la.tril(x) if lower else la.triu(x)
    return sub.bind(half, mul.bind(la.on_diagonal(half), full_like(x, 0.5)))


def hermitian_from(x: Value, lower: bool = True) -> Value:
    """The Hermitian matrix with the given triangle. Its diagonal is real."""
    half = _half_diagonal(x, lower)
    return add.bind(half, la.adjoint(half))


def _solve(a: Value, b: Value, left: bool, lower: bool, transpose: bool, unit: bool) -> Value:
    return triangular_solve.bind(
        a,
        b,
        left_side=left,
        lower=lower,
        transpose_a=transpose,
        conjugate_a=transpose and la.is_complex(a),
        unit_diagonal=unit,
    )


def solve_left(a: Value, b: Value, *, lower: bool = True, transpose: bool = False, unit: bool = False) -> Value:
    """The solution of op(A) X = B for a triangular A; `transpose` takes the conjugate transpose."""
    return _solve(a, b, True, lower, transpose, unit)


def solve_right(a: Value, b: Value, *, lower: bool = False, transpose: bool = False, unit: bool = False) -> Value:
    """The solution of X op(A) = B for a triangular A; `transpose` takes the conjugate transpose."""
    return _solve(a, b, False, lower, transpose, unit)


def _cholesky_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    # L' = L phi(L^-1 A' L^-H), phi: the lower triangle with half the diagonal (Murray, arXiv 1602.07527).
    (factor,) = (cholesky.bind(*primals),)
    if is_zero(tangents[0]):
        return factor, rules.zero_tangent(factor)
    inner = solve_left(factor, solve_right(factor, hermitian_from(tangents[0]), lower=True, transpose=True))
    # The zeros outside of the triangle are constants: a cotangent there, which may be infinite, has no effect.
    return factor, la.tril(la.matmul(factor, _half_diagonal(inner)))


def _cholesky_reference(a: Any) -> Any:
    def one(a: Any) -> Any:
        try:
            return np.linalg.cholesky(a)
        except np.linalg.LinAlgError:
            return np.tril(np.full_like(a, np.nan))

    return la.each(one, 2)(a)


def _cholesky_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.hermitian(rng, 4, 4, dtype=dtype),), {})
    for shape in ((1, 1), (2, 3, 3)):
        yield Sample((la.hermitian(rng, *shape, dtype=rules.FLOAT32),), {})
    yield Sample((np.zeros((0, 0), np.float32),), {})
    # Not positive definite, and with large values, so that no derivative is tested.
    yield Sample((-1e5 * np.eye(3, dtype=np.float32),), {})


cholesky = Primitive(
    name="cholesky",
    shape_rule=la.shape_rule("cholesky", "nn->nn"),
    jvp=_cholesky_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: cholesky),
    reference=_cholesky_reference,
    sampler=_cholesky_samples,
)


# triangular_solve(a, b, left_side, lower, transpose_a, conjugate_a, unit_diagonal)


def _triangular_shape(a: ShapedArray, b: ShapedArray, *, left_side: bool, **_: Any) -> ShapedArray:
    return la.shapes_of("triangular_solve", "mm,mn->mn" if left_side else "nn,mn->mn", a, b)[0]


def _triangular_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    # X' = op(A)^-1 (B' - op(A') X), and likewise on the other side.
    (a, b), (a_t, b_t) = primals, tangents
    x = triangular_solve.bind(a, b, **params)
    right: Value = b_t
    if not is_zero(a_t):
        strict = 1 if params["unit_diagonal"] else 0
        change = la.tril(a_t, -strict) if params["lower"] else la.triu(a_t, strict)
        if params["transpose_a"]:
            change = la.transposed(change)
        if params["conjugate_a"]:
            change = la.conj(change)
        moved = la.matmul(change, x) if params["left_side"] else la.matmul(x, change)
        right = add_tangents(right, neg.bind(moved))
    if is_zero(right):
        return x, rules.zero_tangent(x)
    return x, triangular_solve.bind(a, right, **params)


def _triangular_transpose(ct: Value, a: Value, b: Value, **params: Any) -> tuple[None, Value]:
    return None, triangular_solve.bind(a, ct, **{**params, "transpose_a": not params["transpose_a"]})


def _triangular_reference(
    a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool
) -> Any:
    def one(a: Any, b: Any) -> Any:
        a = np.tril(a) if lower else np.triu(a)
        if unit_diagonal:
            np.fill_diagonal(a, 1)
        a = a.T if transpose_a else a
        a = np.conj(a) if conjugate_a else a
        wide = np.result_type(a.dtype, np.float64)
        a, b = a.astype(wide), b.astype(wide)
        return np.linalg.solve(a, b) if left_side else np.linalg.solve(a.T, b.T).T

    return la.each(one, 2, 2)(a, b).astype(a.dtype)


def _triangular_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    flags = {"lower": True, "transpose_a": False, "conjugate_a": False, "unit_diagonal": False}
    for dtype in la.each_dtype():
        arrays = la.matrices(rng, 3, 3, dtype=dtype), la.vectors(rng, 3, 2, dtype=dtype)
        yield Sample(arrays, {"left_side": True, **flags})
    a, b = la.matrices(rng, 3, 3), la.vectors(rng, 2, 3)
    for changes in ({}, {"lower": False}, {"transpose_a": True}, {"unit_diagonal": True, "lower": False}):
        yield Sample((a, b), {"left_side": False, **flags, **changes})
        yield Sample((a, b.T.copy()), {"left_side": True, **flags, **changes})
    yield Sample((la.matrices(rng, 2, 3, 3), la.vectors(rng, 2, 3, 4)), {"left_side": True, **flags})
    yield Sample((la.matrices(rng, 3, 3), la.vectors(rng, 3, 0)), {"left_side": True, **flags})
    yield Sample((la.matrices(rng, 0, 0), la.vectors(rng, 0, 2)), {"left_side": True, **flags})


def _triangular_batch(args: Sequence[Value], dims: rules.Dims, **params: Any) -> tuple[Value, int]:
    (a, b), (a_dim, b_dim) = args, dims
    if a_dim is None and b_dim is not None and len(get_aval(a).shape) == 2:
        # One matrix for all: the batch becomes further columns (or rows) of one system.
        if params["left_side"]:
            return la.batched_columns(lambda columns: triangular_solve.bind(a, columns, **params), b, b_dim)
        order = [b_dim] + [axis for axis in range(3) if axis != b_dim]
        moved = permuted(b, order)
        size, m, n = get_aval(moved).shape
        return reshaped(triangular_solve.bind(a, reshaped(moved, (size * m, n)), **params), (size, m, n)), 0
    return la.batch_rule(lambda: triangular_solve)(args, dims, **params)


triangular_solve = Primitive(
    name="triangular_solve",
    shape_rule=_triangular_shape,
    jvp=_triangular_jvp,
    transpose=_triangular_transpose,
    batch=_triangular_batch,
    reference=_triangular_reference,
    sampler=_triangular_samples,
)


# lu(a): both factors in one matrix, the swaps of rows, and the permutation, counted from 0.


def permuted_rows(x: Value, permutation: Value) -> Value:
    """x[permutation] of each matrix."""
    return take_along(x, la.columns_of(permutation, get_aval(x).shape[-1]), len(get_aval(x).shape) - 2)


def _lu_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Any, Any]:
    # With W = L^-1 P A' U^-1: L' = L tril(W, -1), U' = triu(W) U (de Hoog, Anderssen and Lukas, 2011). Columns and rows
    # of the identity make L and U square.
    factors, pivots, permutation = lu.bind(*primals)
    integers = (rules.zero_tangent(pivots), rules.zero_tangent(permutation))
    if is_zero(tangents[0]):
        return (factors, pivots, permutation), (rules.zero_tangent(factors), *integers)
    aval = get_aval(factors)
    *batch, m, n = aval.shape
    if m > n:
        lower = la.joined([factors, full((*batch, m, m - n), 0, aval.dtype)], -1)
    else:
        lower = la.part(factors, columns=(0, m))
    upper = la.triu(la.part(factors, rows=(0, min(m, n))))
    if m < n:
        corner = full((*batch, n, n), 1, aval.dtype)
        rest = la.part(la.on_diagonal(corner), rows=(m, n))
        upper = la.joined([upper, rest], -2)
    inner = solve_left(lower, permuted_rows(tangents[0], permutation), unit=True)
    inner = solve_right(upper, inner)
    unit_lower = add.bind(la.tril(lower, -1), la.eye_like(lower))
    change = add.bind(la.matmul(unit_lower, la.tril(inner, -1)), la.matmul(la.triu(inner), upper))
    return (factors, pivots, permutation), (change, *integers)


def _swapped(pivots: Any, size: int) -> Any:
    permutation = np.arange(size, dtype=np.int32)
    for i, j in enumerate(pivots):
        permutation[[i, j]] = permutation[[j, i]]
    return permutation


def _lu_reference(a: Any) -> Any:
    def one(a: Any) -> Any:
        if a.size == 0:
            return a, np.zeros(min(a.shape), np.int32), np.arange(a.shape[0], dtype=np.int32)
        factors, pivots = scipy_linalg().lu_factor(a)
        return factors, pivots.astype(np.int32), _swapped(pivots, a.shape[0])

    return la.each(one, 2)(a)


def _lu_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.vectors(rng, 4, 4, dtype=dtype),), {})
    for shape in ((1, 1), (3, 5), (5, 3), (2, 3, 3), (0, 0), (0, 2)):
        yield Sample((la.vectors(rng, *shape),), {})


lu = Primitive(
    name="lu",
    shape_rule=la.shape_rule("lu", "mn->mn,i:r,i:m"),
    jvp=_lu_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: lu),
    reference=_lu_reference,
    sampler=_lu_samples,
    multiple_results=True,
)


# lu_pivots_to_permutation(pivots, permutation_size)


def _permutation_shape(pivots: ShapedArray, *, permutation_size: int) -> ShapedArray:
    if pivots.dtype != rules.INT32 or not pivots.shape:
        raise TypeError(f"lu_pivots_to_permutation: pivots are a vector of int32, got {pivots}")
    if permutation_size < pivots.shape[-1]:
        raise ValueError(
            f"lu_pivots_to_permutation: permutation_size {permutation_size} is less than the {pivots.shape[-1]} pivots"
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), rules.INT32)


def _permutation_reference(pivots: Any, *, permutation_size: int) -> Any:
    def one(pivots: Any) -> Any:
        return _swapped(np.clip(pivots, 0, permutation_size - 1), permutation_size)

    return la.each(one, 1)(pivots)


def _permutation_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    yield Sample((np.array([2, 1, 3], np.int32),), {"permutation_size": 5})
    yield Sample((np.array([[1, 1], [0, 2]], np.int32),), {"permutation_size": 3})
    yield Sample((np.zeros(0, np.int32),), {"permutation_size": 2})


lu_pivots_to_permutation = Primitive(
    name="lu_pivots_to_permutation",
    shape_rule=_permutation_shape,
    jvp=None,
    transpose=None,
    batch=la.batch_rule(lambda: lu_pivots_to_permutation),
    reference=_permutation_reference,
    sampler=_permutation_samples,
)


# linear_solve(a, factors, permutation, b, transpose_a): the solution of op(A) X = B, with factors and permutation from
# lu of a. The derivative in a comes from A X = B, not from the factors.


def _linear_solve_jvp(primals: Sequence[Value], tangents: Sequence[Value], *, transpose_a: int) -> tuple[Value, Value]:
    a, factors, permutation, _ = primals
    a_t, b_t = tangents[0], tangents[3]
    x = linear_solve.bind(*primals, transpose_a=transpose_a)
    right: Value = b_t
    if not is_zero(a_t):
        change = (a_t, la.transposed(a_t), la.adjoint(a_t))[transpose_a] if transpose_a else a_t
        right = add_tangents(right, neg.bind(la.matmul(change, x)))
    if is_zero(right):
        return x, rules.zero_tangent(x)
    return x, linear_solve.bind(a, factors, permutation, right, transpose_a=transpose_a)


def _linear_solve_transpose(
    ct: Value, a: Value, factors: Value, permutation: Value, b: Value, *, transpose_a: int
) -> tuple[Value, ...]:
    if transpose_a == 2 and la.is_complex(ct):
        # The transpose of the conjugate transpose is the conjugate: op(A) X = B is A conj(X) = conj(B).
        out = la.conj(linear_solve.bind(a, factors, permutation, la.conj(ct), transpose_a=0))
    else:
        out = linear_solve.bind(a, factors, permutation, ct, transpose_a=0 if transpose_a else 1)
    return None, None, None, out


def _linear_solve_reference(a: Any, factors: Any, permutation: Any, b: Any, *, transpose_a: int) -> Any:
    wide = np.result_type(a.dtype, np.float64)
    matrix = (a, np.swapaxes(a, -1, -2), np.conj(np.swapaxes(a, -1, -2)))[transpose_a]
    return np.linalg.solve(matrix.astype(wide), b.astype(wide)).astype(a.dtype)


def _linear_solve_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    def arrays(a: Any, columns: int) -> tuple[Any, ...]:
        factors, _, permutation = _lu_reference(a)
        return a, factors, permutation, la.vectors(rng, *a.shape[:-1], columns, dtype=a.dtype)

    for dtype in la.each_dtype():
        yield Sample(arrays(la.matrices(rng, 3, 3, dtype=dtype), 2), {"transpose_a": 0})
        yield Sample(arrays(la.matrices(rng, 3, 3, dtype=dtype), 2), {"transpose_a": 1})
    yield Sample(arrays(la.matrices(rng, 2, 3, 3), 4), {"transpose_a": 2})
    yield Sample(arrays(la.matrices(rng, 0, 0), 2), {"transpose_a": 0})


linear_solve = Primitive(
    name="linear_solve",
    shape_rule=la.shape_rule("linear_solve", "nn,nn,i:n,nm->nm"),
    jvp=_linear_solve_jvp,
    transpose=_linear_solve_transpose,
    batch=la.solver_batch_rule(lambda: linear_solve),
    reference=_linear_solve_reference,
    sampler=_linear_solve_samples,
)


# tridiagonal_solve(dl, d, du, b): dl[0] and du[-1] are not read.


def _shifted(x: Value, by: int, axis: int) -> Value:
    """x shifted by one along an axis, with a zero inserted."""
    aval = get_aval(x)
    shape = list(aval.shape)
    if shape[axis] == 0:
        return x
    shape[axis] = 1
    zero = full(tuple(shape), 0, aval.dtype)
    span = (0, aval.shape[axis] - 1) if by > 0 else (1, aval.shape[axis])
    if axis == -2:
        kept = la.part(x, rows=span)
    else:
        kept = la.part(x, columns=span)
    return la.joined([zero, kept] if by > 0 else [kept, zero], axis)


def shifted_vector(x: Value, by: int) -> Value:
    shape = get_aval(x).shape
    return reshaped(_shifted(reshaped(x, (*shape[:-1], 1, shape[-1])), by, -1), shape)


def tridiagonal_product(dl: Value, d: Value, du: Value, x: Value) -> Value:
    columns = get_aval(x).shape[-1]
    spread = [la.columns_of(v, columns) for v in (dl, d, du)]
    terms = (_shifted(x, 1, -2), x, _shifted(x, -1, -2))
    low, middle, high = (mul.bind(v, term) for v, term in zip(spread, terms, strict=True))
    return add.bind(add.bind(low, middle), high)


def _tridiagonal_solve_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    *diagonals, b = primals
    *changes, right = tangents
    x = tridiagonal_solve.bind(*diagonals, b)
    if not all(map(is_zero, changes)):
        below, middle, above = map(instantiate, changes)
        right = add_tangents(right, neg.bind(tridiagonal_product(below, middle, above, x)))
    if is_zero(right):
        return x, rules.zero_tangent(x)
    return x, tridiagonal_solve.bind(*diagonals, right)


def _tridiagonal_solve_transpose(ct: Value, dl: Value, d: Value, du: Value, b: Value) -> tuple[Value, ...]:
    return None, None, None, tridiagonal_solve.bind(shifted_vector(du, 1), d, shifted_vector(dl, -1), ct)


def _tridiagonal_solve_reference(dl: Any, d: Any, du: Any, b: Any) -> Any:
    def one(dl: Any, d: Any, du: Any, b: Any) -> Any:
        if d.size == 0:
            return b
        matrix = np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1)
        wide = np.result_type(b.dtype, np.float64)
        return np.linalg.solve(matrix.astype(wide), b.astype(wide)).astype(b.dtype)

    return la.each(one, 1, 1, 1, 2)(dl, d, du, b)


def _tridiagonal_solve_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    def arrays(*shape: int, columns: int, dtype: rules.Dtype = rules.FLOAT32) -> tuple[Any, ...]:
        dl, d, du = (la.vectors(rng, *shape, dtype=dtype) for _ in range(3))
        return dl, (d + 4).astype(dtype), du, la.vectors(rng, *shape, columns, dtype=dtype)

    for dtype in la.each_dtype():
        yield Sample(arrays(5, columns=2, dtype=dtype), {})
    yield Sample(arrays(2, 3, columns=1), {})
    yield Sample(arrays(1, columns=1), {})
    yield Sample(arrays(0, columns=2), {})


tridiagonal_solve = Primitive(
    name="tridiagonal_solve",
    shape_rule=la.shape_rule("tridiagonal_solve", "n,n,n,nm->nm"),
    jvp=_tridiagonal_solve_jvp,
    transpose=_tridiagonal_solve_transpose,
    batch=la.solver_batch_rule(lambda: tridiagonal_solve),
    reference=_tridiagonal_solve_reference,
    sampler=_tridiagonal_solve_samples,
)


# cholesky_update(r, w): the upper factor of r^T r + w w^T.


def _cholesky_update_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    # S^T S = M with M' = R'^T R + R^T R' + w' w^T + w w'^T; S' = phi(S^-T M' S^-1)^T S as for cholesky.
    (r, w), (r_t, w_t) = primals, tangents
    out = cholesky_update.bind(r, w)
    if is_zero(r_t) and is_zero(w_t):
        return out, rules.zero_tangent(out)
    n = get_aval(r).shape[-1]
    upper, upper_t = la.triu(r), la.triu(instantiate(r_t))
    half = la.matmul(la.transposed(upper), upper_t)
    outer = mul.bind(la.columns_of(w, n), la.rows_of(instantiate(w_t), n))
    half = add.bind(half, outer)
    change = add.bind(half, la.transposed(half))
    inner = solve_right(out, solve_left(out, change, lower=False, transpose=True))
    return out, la.triu(la.matmul(la.transposed(_half_diagonal(inner)), la.triu(out)))


def _cholesky_update_reference(r: Any, w: Any) -> Any:
    def one(r: Any, w: Any) -> Any:
        r, w = np.triu(r), w.copy()
        for k in range(len(w)):
            norm = np.hypot(r[k, k], w[k])
            if norm == 0:
                continue
            c, s = r[k, k] / norm, w[k] / norm
            r[k], w = c * r[k] + s * w, c * w - s * r[k]
        return r

    return la.each(one, 2, 1)(r, w)


def _cholesky_update_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in (rules.FLOAT32, rules.FLOAT64):
        r = np.triu(la.matrices(rng, 4, 4, dtype=dtype)) + 3 * np.eye(4, dtype=dtype)
        yield Sample((r, la.vectors(rng, 4, dtype=dtype)), {})
    yield Sample((np.triu(la.matrices(rng, 2, 3, 3)) + 4 * np.eye(3, dtype=np.float32), la.vectors(rng, 2, 3)), {})
    yield Sample((np.zeros((0, 0), np.float32), np.zeros(0, np.float32)), {})


def _cholesky_update_shape(r: ShapedArray, w: ShapedArray) -> ShapedArray:
    rules.check_kind("cholesky_update", r, "f")
    return la.shapes_of("cholesky_update", "nn,n->nn", r, w)[0]


cholesky_update = Primitive(
    name="cholesky_update",
    shape_rule=_cholesky_update_shape,
    jvp=_cholesky_update_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: cholesky_update),
    reference=_cholesky_update_reference,
    sampler=_cholesky_update_samples,
)

TABLE = (
    cholesky,
    triangular_solve,
    lu,
    lu_pivots_to_permutation,
    linear_solve,
    tridiagonal_solve,
    cholesky_update,
)
