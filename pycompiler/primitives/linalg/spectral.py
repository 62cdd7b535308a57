"""The family of eigenvalues and singular values: eigh, svd, schur, sylvester, expm, expm_frechet.

No convergence, a nan or an infinity in the operand gives nan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from pycompiler.core.tracing.primitive import Primitive, Sample, is_undefined, is_zero
from pycompiler.core.tracing.structural import add_tangents
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import add, div, mul, neg, sub
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg.factorizations import hermitian_from, scipy_linalg
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like

np: Any = numpy  # its stubs leave results without a type

# eigh(a, lower, compute_vectors): vectors and values, or values alone, from one triangle of a.


def _eigh_shape(a: ShapedArray, *, lower: bool, compute_vectors: bool) -> tuple[ShapedArray, ...]:
    return la.shapes_of("eigh", "nn->nn,R:n" if compute_vectors else "nn->R:n", a)


def reciprocal_differences(w: Value) -> Value:
    """1 / (w[j] - w[i]) at row i and column j, 0 on the diagonal."""
    n = get_aval(w).shape[-1]
    difference = sub.bind(la.rows_of(w, n), la.columns_of(w, n))
    eye = la.eye_like(difference)
    return sub.bind(div.bind(full_like(difference, 1), add.bind(difference, eye)), eye)


def _eigh_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, lower: bool, compute_vectors: bool
) -> tuple[Any, Any]:
    # With P = V^H A' V: w' = diag P, V' = V (P / (w_j - w_i)), for distinct eigenvalues (Giles, 2008, section 3.1).
    params = {"lower": lower, "compute_vectors": True}
    if is_zero(tangents[0]):
        out = eigh.bind(*primals, **{**params, "compute_vectors": compute_vectors})
        return out, tuple(map(rules.zero_tangent, out))
    v, w = eigh.bind(*primals, **params)
    inner = la.matmul(la.matmul(la.adjoint(v), hermitian_from(tangents[0], lower)), v)
    w_t = la.diagonal(la.real_part(inner))
    if not compute_vectors:
        return (w,), (w_t,)
    scale = la.as_dtype(reciprocal_differences(w), get_aval(v).dtype)
    return (v, w), (la.matmul(v, mul.bind(scale, inner)), w_t)


def _eigh_reference(a: Any, *, lower: bool, compute_vectors: bool) -> Any:
    w, v = np.linalg.eigh(a, UPLO="L" if lower else "U")
    return (v, w) if compute_vectors else (w,)


def _eigh_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    both = {"lower": True, "compute_vectors": True}
    for dtype in la.each_dtype():
        # The phase of complex vectors is arbitrary, so the values are too large for a test of derivatives.
        scale = 1e5 if dtype.kind == "c" else 1
        yield Sample(((scale * la.hermitian(rng, 4, 4, dtype=dtype)).astype(dtype),), both)
    for shape in ((1, 1), (2, 3, 3)):
        yield Sample((la.hermitian(rng, *shape),), both)
    yield Sample((np.zeros((0, 0), np.float32),), both)
    yield Sample((la.hermitian(rng, 3, 3),), {"lower": False, "compute_vectors": True})
    yield Sample((la.hermitian(rng, 3, 3),), {"lower": True, "compute_vectors": False})


eigh = Primitive(
    name="eigh",
    shape_rule=_eigh_shape,
    jvp=_eigh_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: eigh),
    reference=_eigh_reference,
    sampler=_eigh_samples,
    multiple_results=True,
)


# svd(a, full_matrices, compute_vectors, by_qr): s, u, v^H, or s alone.


def _svd_shape(a: ShapedArray, *, full_matrices: bool, compute_vectors: bool, by_qr: bool) -> tuple[ShapedArray, ...]:
    words = "mn->R:r" if not compute_vectors else "mn->R:r,mm,nn" if full_matrices else "mn->R:r,mr,rn"
    return la.shapes_of("svd", words, a)


def _complement(change: Value, basis: Value, other: Value, s: Value) -> Value:
    """(1 - U U^H) A' V S^-1: the change out of the space that U spans."""
    moved = la.matmul(change, other)
    rest = sub.bind(moved, la.matmul(basis, la.matmul(la.adjoint(basis), moved)))
    return div.bind(rest, la.rows_of(la.as_dtype(s, get_aval(rest).dtype), get_aval(rest).shape[-2]))


def _svd_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, full_matrices: bool, compute_vectors: bool, by_qr: bool
) -> tuple[Any, Any]:
    # With P = U^H A' V: s' = diag P; U' and V' turn by P s_j + s_i P^H and s_i P + P^H s_j, over s_j^2 - s_i^2 (Giles,
    # 2008, section 3.3; Wan and Zhang, arXiv 1909.02659, for the phase of complex vectors).
    if is_zero(tangents[0]):
        out = svd.bind(*primals, full_matrices=full_matrices, compute_vectors=compute_vectors, by_qr=by_qr)
        return out, tuple(map(rules.zero_tangent, out))
    *_, m, n = get_aval(primals[0]).shape
    if compute_vectors and full_matrices and m != n:
        raise NotImplementedError(
            "svd: the derivative of full_matrices=True is not defined for matrices that are not square, since nothing "
            "fixes the additional vectors; pass full_matrices=False"
        )
    s, u, vh = svd.bind(*primals, full_matrices=False, compute_vectors=True, by_qr=by_qr)
    v = la.adjoint(vh)
    inner = la.matmul(la.matmul(la.adjoint(u), tangents[0]), v)
    s_t = la.diagonal(la.real_part(inner))
    if not compute_vectors:
        return (s,), (s_t,)
    k, dtype = get_aval(s).shape[-1], get_aval(inner).dtype
    rows, columns = la.rows_of(s, k), la.columns_of(s, k)
    eye = la.eye_like(rows)
    gap = mul.bind(add.bind(rows, columns), sub.bind(rows, columns))
    f = la.as_dtype(sub.bind(div.bind(full_like(gap, 1), add.bind(gap, eye)), eye), dtype)
    by_columns = mul.bind(la.as_dtype(rows, dtype), inner)
    by_rows = mul.bind(la.as_dtype(columns, dtype), inner)
    turn_u = mul.bind(f, add.bind(by_columns, la.adjoint(by_columns)))
    turn_v = mul.bind(f, add.bind(by_rows, la.adjoint(by_rows)))
    if la.is_complex(inner):
        turn_u = add.bind(turn_u, la.phase_turn(inner, rows))
    u_t, v_t = la.matmul(u, turn_u), la.matmul(v, turn_v)
    if m > n:
        u_t = add.bind(u_t, _complement(tangents[0], u, v, s))
    if n > m:
        v_t = add.bind(v_t, _complement(la.adjoint(tangents[0]), v, u, s))
    return (s, u, vh), (s_t, u_t, la.adjoint(v_t))


def _svd_reference(a: Any, *, full_matrices: bool, compute_vectors: bool, by_qr: bool) -> Any:
    def one(a: Any) -> Any:
        if not compute_vectors:
            return (np.linalg.svd(a, full_matrices=False)[1],)
        if a.size == 0:
            u, s, vh = np.linalg.svd(a, full_matrices)
            return s, np.eye(*u.shape, dtype=a.dtype), np.eye(*vh.shape, dtype=a.dtype)
        u, s, vh = scipy_linalg().svd(a, full_matrices, lapack_driver="gesvd" if by_qr else "gesdd")
        return s, u, vh

    return la.each(one, 2)(a)


def _svd_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    reduced = {"full_matrices": False, "compute_vectors": True, "by_qr": False}
    for dtype in la.each_dtype():
        # The phase of complex vectors is arbitrary, so the values are too large for a test of derivatives.
        scale = 1e5 if dtype.kind == "c" else 1
        yield Sample(((scale * la.matrices(rng, 4, 3, dtype=dtype)).astype(dtype),), reduced)
    for shape in ((3, 3), (3, 5), (1, 1), (2, 4, 3), (0, 3), (3, 0)):
        yield Sample((la.matrices(rng, *shape),), reduced)
    yield Sample((la.matrices(rng, 3, 3),), {**reduced, "full_matrices": True})
    yield Sample((la.matrices(rng, 4, 3),), {**reduced, "by_qr": True})
    yield Sample((la.matrices(rng, 3, 5),), {**reduced, "compute_vectors": False})
    # The values are too large for a test of derivatives.
    for shape in ((4, 3), (3, 5)):
        yield Sample((1e5 * la.matrices(rng, *shape),), {**reduced, "full_matrices": True})


svd = Primitive(
    name="svd",
    shape_rule=_svd_shape,
    jvp=_svd_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: svd),
    reference=_svd_reference,
    sampler=_svd_samples,
    multiple_results=True,
)


# schur(a, compute_vectors): t and z of a = z t z^H, or t alone.


def _schur_shape(a: ShapedArray, *, compute_vectors: bool) -> tuple[ShapedArray, ...]:
    return la.shapes_of("schur", "nn->nn,nn" if compute_vectors else "nn->nn", a)


def _schur_reference(a: Any, *, compute_vectors: bool) -> Any:
    def one(a: Any) -> Any:
        t, z = scipy_linalg().schur(a) if a.size else (a, a)
        return (t, z) if compute_vectors else (t,)

    return la.each(one, 2)(a)


def _schur_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    for dtype in la.each_dtype():
        yield Sample((la.matrices(rng, 4, 4, dtype=dtype),), {"compute_vectors": True})
    for shape in ((1, 1), (2, 3, 3), (0, 0)):
        yield Sample((la.matrices(rng, *shape),), {"compute_vectors": True})
    yield Sample((la.matrices(rng, 3, 3),), {"compute_vectors": False})


schur = Primitive(
    name="schur",
    shape_rule=_schur_shape,
    jvp=la.no_derivative("schur", "eigh or eig"),
    transpose=None,
    batch=la.batch_rule(lambda: schur),
    reference=_schur_reference,
    sampler=_schur_samples,
    multiple_results=True,
)


# sylvester(a, b, c): x of a x + x b = c. Linear in c.


def _sylvester_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    (a, b, _), (a_t, b_t, right) = primals, tangents
    x = sylvester.bind(*primals)
    if not is_zero(a_t):
        right = add_tangents(right, neg.bind(la.matmul(a_t, x)))
    if not is_zero(b_t):
        right = add_tangents(right, neg.bind(la.matmul(x, b_t)))
    return x, rules.zero_tangent(x) if is_zero(right) else sylvester.bind(a, b, right)


def _sylvester_transpose(ct: Value, a: Value, b: Value, c: Value) -> tuple[None, None, Value]:
    return None, None, sylvester.bind(la.transposed(a), la.transposed(b), ct)


def _sylvester_reference(a: Any, b: Any, c: Any) -> Any:
    def one(a: Any, b: Any, c: Any) -> Any:
        return scipy_linalg().solve_sylvester(a, b, c).astype(c.dtype) if c.size else c

    return la.each(one, 2, 2, 2)(a, b, c)


def _sylvester_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    def arrays(m: int, n: int, *batch: int, dtype: rules.Dtype = rules.FLOAT32) -> tuple[Any, ...]:
        shift = 3 * np.eye(m, dtype=dtype), 3 * np.eye(n, dtype=dtype)
        left, right = la.matrices(rng, *batch, m, m, dtype=dtype), la.matrices(rng, *batch, n, n, dtype=dtype)
        return left + shift[0], right + shift[1], la.vectors(rng, *batch, m, n, dtype=dtype)

    for dtype in la.each_dtype():
        yield Sample(arrays(3, 4, dtype=dtype), {})
    yield Sample(arrays(2, 2, 2), {})
    yield Sample(arrays(2, 0), {})


sylvester = Primitive(
    name="sylvester",
    shape_rule=la.shape_rule("sylvester", "mm,nn,mn->mn"),
    jvp=_sylvester_jvp,
    transpose=_sylvester_transpose,
    batch=la.batch_rule(lambda: sylvester),
    reference=_sylvester_reference,
    sampler=_sylvester_samples,
)


# expm(a, max_squarings) and expm_frechet(a, e, max_squarings), its derivative at a in the direction e. Linear in e.


def _expm_shape(a: ShapedArray, *, max_squarings: int) -> ShapedArray:
    return la.shapes_of("expm", "nn->nn", a)[0]


def _expm_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    out = expm.bind(*primals, **params)
    if is_zero(tangents[0]):
        return out, rules.zero_tangent(out)
    return out, expm_frechet.bind(primals[0], tangents[0], **params)


def _expm_reference(a: Any, *, max_squarings: int) -> Any:
    def one(a: Any) -> Any:
        return scipy_linalg().expm(a)

    return la.each(one, 2)(a).astype(a.dtype)


def _expm_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    params = {"max_squarings": 16}
    for dtype in la.each_dtype():
        for scale in (0.001, 0.05, 0.3, 1.0, 6.0):
            x = la.vectors(rng, 3, 3, dtype=dtype)
            if scale > 1:  # needs squarings; a unitary exponential is well-conditioned
                x = x - np.conj(x.T)
            yield Sample(((scale * x / np.abs(x).sum(0).max()).astype(dtype),), params)
    yield Sample((la.vectors(rng, 2, 2, 2),), params)
    yield Sample((la.vectors(rng, 1, 1),), params)
    yield Sample((np.zeros((0, 0), np.float32),), params)


expm = Primitive(
    name="expm",
    shape_rule=_expm_shape,
    jvp=_expm_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: expm),
    reference=_expm_reference,
    sampler=_expm_samples,
)


def _frechet_shape(a: ShapedArray, e: ShapedArray, *, max_squarings: int) -> ShapedArray:
    return la.shapes_of("expm_frechet", "nn,nn->nn", a, e)[0]


def _block(diagonal: Value, corner: Value) -> Value:
    """[[diagonal, corner], [0, diagonal]]."""
    top = la.joined([diagonal, corner], -1)
    return la.joined([top, la.joined([full_like(diagonal, 0), diagonal], -1)], -2)


def _frechet_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    (a, e), (a_t, e_t) = primals, tangents
    out = expm_frechet.bind(a, e, **params)
    total: Value = e_t if is_zero(e_t) else expm_frechet.bind(a, e_t, **params)
    if not is_zero(a_t):
        # It is the corner of the derivative at [[a, e], [0, a]] in the direction [[a', 0], [0, a']].
        n = get_aval(a).shape[-1]
        change = _block(a_t, full_like(a_t, 0))
        second = expm_frechet.bind(_block(a, e), change, **params)
        total = add_tangents(total, la.part(second, rows=(0, n), columns=(n, 2 * n)))
    return out, rules.zero_tangent(out) if is_zero(total) else total


def _frechet_transpose(ct: Value, a: Value, e: Value, **params: Any) -> tuple[None, Value]:
    assert is_undefined(e)
    return None, expm_frechet.bind(la.transposed(a), ct, **params)


def _frechet_reference(a: Any, e: Any, *, max_squarings: int) -> Any:
    def one(a: Any, e: Any) -> Any:
        return scipy_linalg().expm_frechet(a, e, compute_expm=False) if a.size else a

    wide = np.result_type(a.dtype, np.float64)
    return la.each(one, 2, 2)(a.astype(wide), e.astype(wide)).astype(a.dtype)


def _frechet_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    params = {"max_squarings": 16}
    for dtype in la.each_dtype():
        yield Sample((la.vectors(rng, 3, 3, dtype=dtype), la.vectors(rng, 3, 3, dtype=dtype)), params)
    yield Sample((la.vectors(rng, 2, 2, 2), 100 * la.vectors(rng, 2, 2, 2)), params)
    yield Sample((np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32)), params)


expm_frechet = Primitive(
    name="expm_frechet",
    shape_rule=_frechet_shape,
    jvp=_frechet_jvp,
    transpose=_frechet_transpose,
    batch=la.batch_rule(lambda: expm_frechet),
    reference=_frechet_reference,
    sampler=_frechet_samples,
)

TABLE = (eigh, svd, schur, sylvester, expm, expm_frechet)
