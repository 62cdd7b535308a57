"""The family of general eigenvalues, which are complex: eig."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import abs_
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.complex import complex_, imag
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import add, div, mul, neg
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg.factorizations import linear_solve, lu, scipy_linalg
from pycompiler.primitives.linalg.spectral import reciprocal_differences
from pycompiler.primitives.reduction import argmax
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like, sum_axes

np: Any = numpy  # its stubs leave results without a type

# eig(a, compute_left, compute_right): eigenvalues, left and right vectors, all complex. Each vector has the norm 1, and
# its largest element is real.


def _eig_shape(a: ShapedArray, *, compute_left: bool, compute_right: bool) -> tuple[ShapedArray, ...]:
    return la.shapes_of("eig", "nn->C:n" + ",C:nn" * (compute_left + compute_right), a)


def _solved(a: Value, b: Value) -> Value:
    factors, _, permutation = lu.bind(a)
    return linear_solve.bind(a, factors, permutation, b, transpose_a=0)


def _vector_change(w: Value, v: Value, change: Value) -> tuple[Value, Value]:
    """The derivatives of eigenvalues and vectors. With P = V^-1 A' V they are diag P, and U + V diag(c): here
    U = V (P / (w_j - w_i)) (Giles, 2008, section 3.1), and c keeps the norm 1 and the largest element real."""
    if get_aval(w).shape[-1] == 0:
        return w, v
    inner = la.matmul(_solved(v, change), v)
    free = la.matmul(v, mul.bind(reciprocal_differences(w), inner))
    rank = len(get_aval(v).shape)
    size = abs_.bind(v)
    place = argmax.bind(size, axis=rank - 2, index_dtype=rules.INT32)
    rows = iota.bind(dtype=rules.INT32, shape=get_aval(v).shape, dimension=rank - 2)
    greatest = eq.bind(rows, la.rows_of(place, get_aval(v).shape[-2]))

    def at_greatest(x: Value) -> Value:
        return sum_axes(select.bind(greatest, x, full_like(x, 0)), (rank - 2,))

    along = la.real_part(sum_axes(mul.bind(la.conj(v), free), (rank - 2,)))
    turn = div.bind(imag.bind(at_greatest(free)), la.real_part(at_greatest(v)))
    c = complex_.bind(neg.bind(along), neg.bind(turn))
    return la.diagonal(inner), add.bind(free, mul.bind(v, la.rows_of(c, get_aval(v).shape[-2])))


def _eig_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, compute_left: bool, compute_right: bool
) -> tuple[Any, Any]:
    if is_zero(tangents[0]):
        out = eig.bind(*primals, compute_left=compute_left, compute_right=compute_right)
        return out, tuple(map(rules.zero_tangent, out))
    w, *vectors = eig.bind(*primals, compute_left=compute_left, compute_right=True)
    right = vectors[-1]
    change = la.as_dtype(tangents[0], get_aval(w).dtype)
    w_t, right_t = _vector_change(w, right, change)
    out, out_t = [w], [w_t]
    if compute_left:
        out.append(vectors[0])
        out_t.append(_vector_change(la.conj(w), vectors[0], la.adjoint(change))[1])
    if compute_right:
        out.append(right)
        out_t.append(right_t)
    return tuple(out), tuple(out_t)


def _eig_reference(a: Any, *, compute_left: bool, compute_right: bool) -> Any:
    dtype = la.complex_dtype(a.dtype)

    def one(a: Any) -> Any:
        if not a.size:
            return (np.zeros(0, dtype), *(np.zeros((0, 0), dtype),) * (compute_left + compute_right))
        result: Any = scipy_linalg().eig(a, left=compute_left, right=compute_right)
        found: tuple[Any, ...] = result if compute_left or compute_right else (result,)
        return tuple(np.asarray(x, dtype) for x in found)

    return la.each(one, 2)(a)


def _eig_samples(rng: numpy.random.Generator) -> Iterable[Sample]:
    both = {"compute_left": True, "compute_right": True}
    for dtype in la.each_dtype():
        yield Sample((la.matrices(rng, 4, 4, dtype=dtype),), both)
    for shape in ((1, 1), (2, 3, 3)):
        yield Sample((la.matrices(rng, *shape),), both)
    yield Sample((np.zeros((0, 0), np.float32),), both)
    yield Sample((la.matrices(rng, 3, 3),), {"compute_left": False, "compute_right": True})
    yield Sample((la.matrices(rng, 3, 3),), {"compute_left": True, "compute_right": False})
    yield Sample((la.matrices(rng, 3, 3),), {"compute_left": False, "compute_right": False})


eig = Primitive(
    name="eig",
    shape_rule=_eig_shape,
    jvp=_eig_jvp,
    transpose=None,
    batch=la.batch_rule(lambda: eig),
    reference=_eig_reference,
    sampler=_eig_samples,
    multiple_results=True,
)


TABLE = (eig,)
