"""The family of Householder reflectors: qr, geqrf, geqp3, householder_product, ormqr, hessenberg, tridiagonal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import add, sub
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg.factorizations import linear_solve, lu, scipy_linalg, solve_right
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full
from pycompiler.primitives.sort import take_along

np: Any = numpy  # its stubs leave results without a type

# qr(a, pivoting, full_matrices): q, r and with pivoting the permutation of columns.


def _qr_shape(a: ShapedArray, *, pivoting: bool, full_matrices: bool) -> tuple[ShapedArray, ...]:
    words = "mn->mm,mn" if full_matrices else "mn->mr,rn"
    return la.shapes_of("qr", words + ",i:n" if pivoting else words, a)


def _thin_change(q: Value, r: Value, change: Value) -> tuple[Value, Value]:
    """The derivatives of q and r if a has at least as many rows as columns. C = A' R^-1, and W is the part of Q^H C
    that is antisymmetric below the diagonal: Q' = C + Q (W - Q^H C), R' = (Q^H C - W) R (Townsend, 2018)."""
    scaled = solve_right(r, change)
    inner = la.matmul(la.adjoint(q), scaled)
    below = la.tril(inner, -1)
    turning = sub.bind(below, la.adjoint(below))
    if la.is_complex(inner):
        turning = add.bind(turning, la.on_diagonal(la.imaginary_only(inner)))
    q_t = add.bind(la.matmul(q, sub.bind(turning, inner)), scaled)
    return q_t, la.matmul(sub.bind(inner, turning), r)


def _completed(q: Value, q_t: Value, n: int) -> Value:
    """The derivative of the columns that complete q[:, :n], as Householder reflectors choose them (arXiv 2409.13374,
    equations 32 and 33)."""
    m = get_aval(q).shape[-1]
    thin, rest = la.part(q, columns=(0, n)), la.part(q, columns=(n, m))
    upper, lower = la.part(thin, rows=(0, n)), la.part(thin, rows=(n, m))
    upper_t, lower_t = la.part(q_t, rows=(0, n)), la.part(q_t, rows=(n, m))
    shifted = sub.bind(upper, la.eye_like(upper))
    factors, _, permutation = lu.bind(shifted)
    # z = lower shifted^-1
    z_adjoint = linear_solve.bind(shifted, factors, permutation, la.adjoint(lower), transpose_a=2)
    z = la.adjoint(z_adjoint)
    basis = add.bind(thin, la.matmul(rest, z))
    change = sub.bind(lower_t, la.matmul(z, upper_t))
    return sub.bind(la.matmul(q_t, z_adjoint), la.matmul(basis, la.adjoint(change)))


def _qr_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, pivoting: bool, full_matrices: bool
) -> tuple[Any, Any]:
    (a,), (change,) = primals, tangents
    out = qr.bind(a, pivoting=pivoting, full_matrices=full_matrices)
    if is_zero(change):
        return out, tuple(map(rules.zero_tangent, out))
    q, r = out[:2]
    *batch, m, n = get_aval(a).shape
    integers = tuple(rules.zero_tangent(p) for p in out[2:])
    if pivoting:
        change = take_along(change, la.rows_of(out[2], m), len(batch) + 1)
    if m < n:
        # A = Q [R1 R2]: the square part determines q, then R2 = Q^H A2.
        q_t, left_t = _thin_change(q, la.part(r, columns=(0, m)), la.part(change, columns=(0, m)))
        a2 = la.matmul(q, la.part(r, columns=(m, n)))
        right_t = add.bind(la.matmul(la.adjoint(q_t), a2), la.matmul(la.adjoint(q), la.part(change, columns=(m, n))))
        return out, (q_t, la.triu(la.joined([left_t, right_t], -1)), *integers)
    q_t, r_t = _thin_change(la.part(q, columns=(0, n)), la.part(r, rows=(0, n)), change)
    if full_matrices and m != n:
        q_t = la.joined([q_t, _completed(q, q_t, n)], -1)
        r_t = la.joined([r_t, full((*batch, m - n, n), 0, get_aval(a).dtype)], -2)
    # As of cholesky: a cotangent at the constant zeros of R has no effect.
    return out, (q_t, la.triu(r_t), *integers)


def _qr_reference(a: Any, *, pivoting: bool, full_matrices: bool) -> Any:
    def one(a: Any) -> Any:
        m, n = a.shape
        if a.size == 0:
            k = m if full_matrices else 0
            found = (np.eye(m, k, dtype=a.dtype), np.zeros((k, n), a.dtype), np.arange(n, dtype=np.int32))
            return found if pivoting else found[:2]
        found = scipy_linalg().qr(a, mode="full" if full_matrices else "economic", pivoting=pivoting)
        return (*found[:2], found[2].astype(np.int32)) if pivoting else tuple(found)

    return la.each(one, 2)(a)


def _qr_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    reduced = {"pivoting": False, "full_matrices": False}
    for dtype in la.each_dtype():
        yield Sample((la.matrices(rng, 4, 3, dtype=dtype),), reduced)
    for shape in ((3, 3), (3, 5), (1, 1), (2, 4, 3), (0, 3), (3, 0)):
        yield Sample((la.matrices(rng, *shape),), reduced)
    for shape in ((4, 3), (3, 5), (3, 0)):
        yield Sample((la.matrices(rng, *shape),), {"pivoting": False, "full_matrices": True})
    yield Sample((la.matrices(rng, 4, 3),), {"pivoting": True, "full_matrices": False})
    yield Sample((la.matrices(rng, 2, 4, 4),), {"pivoting": True, "full_matrices": True})


qr = Primitive(
    name="qr",
    shape_rule=_qr_shape,
    jvp=_qr_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: qr),
    reference=_qr_reference,
    sampler=_qr_samples,
    multiple_results=True,
)


# geqrf(a) and geqp3(a): R above reflectors, their scalar factors, and the permutation of columns.


def _raw(a: Any, pivoting: bool) -> tuple[Any, ...]:
    lapack = scipy_linalg().lapack
    k = min(a.shape)
    if a.size == 0:
        return a, np.zeros(k, a.dtype), np.arange(a.shape[1], dtype=np.int32)
    name = "geqp3" if pivoting else "geqrf"
    function = lapack.get_lapack_funcs(name, (a,))
    if pivoting:
        factors, pivots, taus, *_ = function(a)
        return factors, taus, (pivots - 1).astype(np.int32)
    factors, taus, *_ = function(a)
    return factors, taus, None


def _geqrf_reference(a: Any) -> Any:
    def one(a: Any) -> Any:
        return _raw(a, False)[:2]

    return la.each(one, 2)(a)


def _geqp3_reference(a: Any) -> Any:
    def one(a: Any) -> Any:
        return _raw(a, True)

    return la.each(one, 2)(a)


def _reflector_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.matrices(rng, 4, 3, dtype=dtype),), {})
    for shape in ((3, 5), (1, 1), (2, 3, 3), (0, 2), (2, 0)):
        yield Sample((la.matrices(rng, *shape),), {})


geqrf = Primitive(
    name="geqrf",
    shape_rule=la.shape_rule("geqrf", "mn->mn,r"),
    jvp=la.no_derivative("geqrf", "qr"),
    transpose=None,
    batch=la.batch_rule(lambda: geqrf),
    reference=_geqrf_reference,
    sampler=_reflector_samples,
    multiple_results=True,
)

geqp3 = Primitive(
    name="geqp3",
    shape_rule=la.shape_rule("geqp3", "mn->mn,r,i:n"),
    jvp=la.no_derivative("geqp3", "qr"),
    transpose=None,
    batch=la.batch_rule(lambda: geqp3),
    reference=_geqp3_reference,
    sampler=_reflector_samples,
    multiple_results=True,
)


# householder_product(a, taus): the first columns of the product of the reflectors.


def _householder_shape(a: ShapedArray, taus: ShapedArray) -> ShapedArray:
    (result,) = la.shapes_of("householder_product", "mn,k->mn", a, taus)
    m, n, k = *a.shape[-2:], taus.shape[-1]
    if not k <= n <= m:
        raise ValueError(
            f"householder_product: expects at most as many taus as columns, and columns as rows, got {short(a)} and "
            f"{short(taus)}"
        )
    return result


def _explicit(a: Any, taus: Any, size: int) -> Any:
    """The product of all reflectors, a square matrix."""
    q = np.eye(size, dtype=a.dtype)
    for i, tau in enumerate(taus):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]]).astype(a.dtype)
        q = q - tau * np.outer(q @ v, np.conj(v))
    return q


def _householder_reference(a: Any, taus: Any) -> Any:
    def one(a: Any, taus: Any) -> Any:
        return _explicit(a, taus, a.shape[0])[:, : a.shape[1]]

    return la.each(one, 2, 1)(a, taus).astype(a.dtype)


def _raw_sample(rng: numpy.random.Generator, *shape: int, dtype: rules.Dtype = rules.FLOAT32) -> tuple[Any, Any]:
    return _geqrf_reference(la.matrices(rng, *shape, dtype=dtype))


def _householder_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample(_raw_sample(rng, 4, 3, dtype=dtype), {})
    for shape in ((1, 1), (2, 3, 3), (3, 0)):
        yield Sample(_raw_sample(rng, *shape), {})


householder_product = Primitive(
    name="householder_product",
    shape_rule=_householder_shape,
    jvp=la.no_derivative("householder_product", "qr"),
    transpose=None,
    batch=la.batch_rule(lambda: householder_product),
    reference=_householder_reference,
    sampler=_householder_samples,
)


# ormqr(a, taus, c, left, transpose): op(Q) C or C op(Q). Linear in c.


def _ormqr_shape(a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool, transpose: bool) -> ShapedArray:
    (result,) = la.shapes_of("ormqr", "mq,k,mn->mn" if left else "nq,k,mn->mn", a, taus, c)
    if not (taus.shape[-1] <= a.shape[-1] and taus.shape[-1] <= a.shape[-2]):
        raise ValueError(f"ormqr: more taus than columns or rows: {short(a)} and {short(taus)}")
    return result


def _ormqr_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    a, taus, c = primals
    out = ormqr.bind(a, taus, c, **params)
    if not (is_zero(tangents[0]) and is_zero(tangents[1])):
        la.refuse_derivative("ormqr", "qr")
    if is_zero(tangents[2]):
        return out, rules.zero_tangent(out)
    return out, ormqr.bind(a, taus, tangents[2], **params)


def _ormqr_transpose(ct: Value, a: Value, taus: Value, c: Value, *, left: bool, transpose: bool) -> Any:
    # The transpose of op(Q) C is op(Q)^T: the conjugate of the adjoint.
    back = ormqr.bind(a, taus, la.conj(ct), left=left, transpose=not transpose)
    return None, None, la.conj(back)


def _ormqr_reference(a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    def one(a: Any, taus: Any, c: Any) -> Any:
        q = _explicit(a, taus, a.shape[0])
        q = np.conj(q.T) if transpose else q
        return q @ c if left else c @ q

    return la.each(one, 2, 1, 2)(a, taus, c).astype(c.dtype)


def _ormqr_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        arrays = (*_raw_sample(rng, 4, 3, dtype=dtype), la.vectors(rng, 4, 2, dtype=dtype))
        yield Sample(arrays, {"left": True, "transpose": False})
        yield Sample(arrays, {"left": True, "transpose": True})
    yield Sample((*_raw_sample(rng, 4, 3), la.vectors(rng, 2, 4)), {"left": False, "transpose": False})
    yield Sample((*_raw_sample(rng, 2, 3, 3), la.vectors(rng, 2, 2, 3)), {"left": False, "transpose": True})
    yield Sample((*_raw_sample(rng, 3, 3), la.vectors(rng, 3, 0)), {"left": True, "transpose": False})


ormqr = Primitive(
    name="ormqr",
    shape_rule=_ormqr_shape,
    jvp=_ormqr_jvp,
    transpose=_ormqr_transpose,
    batch=la.batch_rule(lambda: ormqr),
    reference=_ormqr_reference,
    sampler=_ormqr_samples,
)


# hessenberg(a), tridiagonal(a, lower): LAPACK's compact forms.


def _hessenberg_reference(a: Any) -> Any:
    def one(a: Any) -> Any:
        if a.size == 0:
            return a, np.zeros(0, a.dtype)
        lapack = scipy_linalg().lapack
        factors, taus, *_ = lapack.get_lapack_funcs("gehrd", (a,))(a)
        return factors, taus

    return la.each(one, 2)(a)


def _square_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.matrices(rng, 4, 4, dtype=dtype),), {})
    for shape in ((1, 1), (2, 3, 3), (0, 0)):
        yield Sample((la.matrices(rng, *shape),), {})


hessenberg = Primitive(
    name="hessenberg",
    shape_rule=la.shape_rule("hessenberg", "nn->nn,l"),
    jvp=la.no_derivative("hessenberg", "eig"),
    transpose=None,
    batch=la.batch_rule(lambda: hessenberg),
    reference=_hessenberg_reference,
    sampler=_square_samples,
    multiple_results=True,
)


def _tridiagonal_shape(a: ShapedArray, *, lower: bool) -> tuple[ShapedArray, ...]:
    return la.shapes_of("tridiagonal", "nn->nn,R:n,R:l,l", a)


def _tridiagonal_reference(a: Any, *, lower: bool) -> Any:
    def one(a: Any) -> Any:
        real = la.real_dtype(a.dtype)
        if a.size == 0:
            return a, np.zeros(0, real), np.zeros(0, real), np.zeros(0, a.dtype)
        lapack = scipy_linalg().lapack
        function = lapack.get_lapack_funcs("hetrd" if a.dtype.kind == "c" else "sytrd", (a,))
        return function(a, lower=lower)[:4]

    return la.each(one, 2)(a)


def _tridiagonal_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.hermitian(rng, 4, 4, dtype=dtype),), {"lower": True})
    for shape in ((1, 1), (2, 3, 3)):
        yield Sample((la.hermitian(rng, *shape),), {"lower": False})


tridiagonal = Primitive(
    name="tridiagonal",
    shape_rule=_tridiagonal_shape,
    jvp=la.no_derivative("tridiagonal", "eigh"),
    transpose=None,
    batch=la.batch_rule(lambda: tridiagonal),
    reference=_tridiagonal_reference,
    sampler=_tridiagonal_samples,
    multiple_results=True,
)

TABLE = (qr, geqrf, geqp3, householder_product, ormqr, hessenberg, tridiagonal)
