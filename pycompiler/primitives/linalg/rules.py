"""Helpers of the entries over LAPACK: shapes by words of sizes, small algebra on stacks of matrices, batching.

Imports the other families; those of this folder import it. It defines no primitive. All leading dimensions are batch
dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy

from pycompiler.core.dims.ranges import smaller
from pycompiler.core.errors import ArgumentError, NotDifferentiableError
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.compare import eq, ge, select
from pycompiler.primitives.complex import conj as conj
from pycompiler.primitives.complex import real
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import add, div, mul, sub
from pycompiler.primitives.movement import concatenate
from pycompiler.primitives.movement import slice_ as slice_primitive
from pycompiler.primitives.rules import Dims, Shape, Value
from pycompiler.primitives.shape import (
    batched_at_front,
    broadcast_in_dim,
    full,
    full_like,
    permuted,
    reshaped,
    sum_axes,
)

np: Any = numpy  # its stubs leave results without a type

MATRIX_DTYPES = (rules.FLOAT32, rules.FLOAT64, rules.COMPLEX64, rules.COMPLEX128)


# Shapes


def real_dtype(dtype: rules.Dtype) -> rules.Dtype:
    """The dtype of the parts of complex numbers; a real dtype itself."""
    return np.zeros((), dtype).real.dtype


def complex_dtype(dtype: rules.Dtype) -> rules.Dtype:
    """The complex dtype with parts of this dtype; a complex dtype itself."""
    return np.result_type(dtype, np.complex64)


def _described(words: Sequence[str]) -> str:
    return " and ".join(f"[..., {', '.join(word.split(':')[-1])}]" for word in words)


def shapes_of(name: str, words: str, *avals: ShapedArray) -> tuple[ShapedArray, ...]:
    """The results by words of sizes such as "mn->mn,i:r": a word for each operand, then for each result.

    Equal letters are equal sizes; r is the smaller one of m and n, l is n - 1. A result may begin with its dtype: i
    int32, R real, C complex; otherwise it has the operands'. Raises TypeError for a dtype, ValueError for a shape.
    """
    takes, gives = (side.split(",") for side in words.split("->"))
    dtype = avals[0].dtype
    sizes: dict[str, Any] = {}
    batch: Shape | None = None
    for word, aval in zip(takes, avals, strict=True):
        prefix, _, letters = word.rpartition(":")
        if prefix == "R":
            if aval.dtype != real_dtype(dtype):
                raise TypeError(f"{name}: expects {real_dtype(dtype)} beside {short(avals[0])}, got {short(aval)}")
        elif prefix == "i":
            if aval.dtype != rules.INT32:
                raise TypeError(f"{name}: pivots and permutations are int32, got {short(aval)}")
        elif aval.dtype not in MATRIX_DTYPES:
            known = ", ".join(d.name for d in MATRIX_DTYPES)
            raise TypeError(f"{name}: takes arrays of {known}, got {short(aval)}; convert it first")
        elif aval.dtype != dtype:
            rules.check_same_dtype(name, avals[0], aval)
        rank = len(aval.shape) - len(letters)
        shown = " and ".join(map(short, avals))
        if rank < 0:
            raise ArgumentError(f"{name}: expects shapes {_described(takes)}, got {shown}")
        leading = aval.shape[:rank]
        batch = leading if batch is None else batch
        if leading != batch:
            raise ArgumentError(f"{name}: leading dimensions {batch} and {leading} differ: {shown}")
        for letter, size in zip(letters, aval.shape[rank:], strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ArgumentError(
                    f"{name}: expects shapes {_described(takes)}, got {shown} ({sizes[letter]} vs {size})"
                )
    assert batch is not None

    def size_of(letter: str) -> Any:
        if letter == "r":
            return smaller(sizes["m"], sizes["n"])
        if letter == "l":
            return sizes["n"] - 1 if sizes["n"] != 0 else 0
        return sizes[letter]

    results: list[ShapedArray] = []
    for word in gives:
        prefix, _, letters = word.rpartition(":")
        chosen = {"": dtype, "i": rules.INT32, "R": real_dtype(dtype), "C": complex_dtype(dtype)}[prefix]
        results.append(ShapedArray((*batch, *map(size_of, letters)), chosen))
    return tuple(results)


def shape_rule(name: str, words: str) -> Callable[..., Any]:
    """The shape rule of an entry with fixed words of sizes. A single result is not in a tuple."""

    def rule(*avals: ShapedArray, **_: Any) -> Any:
        first, *others = shapes_of(name, words, *avals)
        return (first, *others) if others else first

    return rule


def batch_rule(primitive: Callable[[], Primitive]) -> Callable[..., tuple[Any, Any]]:
    """The batching rule of routines with any number of leading dimensions."""

    def batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
        entry = primitive()
        out = entry.bind(*batched_at_front(args, dims), **params)
        return out, (0,) * len(out) if entry.multiple_results else 0

    return batch


def batched_columns(solve: Callable[[Value], Value], b: Value, b_dim: int) -> tuple[Value, int]:
    """Solves one system for a mapped right-hand side, as further columns. Returns the result and its dimension."""
    moved = permuted(b, [axis for axis in range(3) if axis != b_dim] + [b_dim])
    m, n, size = get_aval(moved).shape
    return reshaped(solve(reshaped(moved, (m, n * size))), (m, n, size)), 2


def solver_batch_rule(primitive: Callable[[], Primitive]) -> Callable[..., tuple[Any, Any]]:
    """The batching rule of routines `solve(*matrix, b)`, which don't solve with an unmapped matrix more than once."""
    stacked = batch_rule(primitive)

    def batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
        (*matrix, b), (*matrix_dims, b_dim) = args, dims
        if b_dim is None or len(get_aval(b).shape) != 3 or any(dim is not None for dim in matrix_dims):
            return stacked(args, dims, **params)
        return batched_columns(lambda columns: primitive().bind(*matrix, columns, **params), b, b_dim)

    return batch


# Algebra on stacks of matrices


def is_complex(x: Value) -> bool:
    """Whether an array has complex elements."""
    return get_aval(x).dtype.kind == "c"


def real_part(x: Value) -> Value:
    """The real part; a real array itself."""
    return real.bind(x) if is_complex(x) else x


def as_dtype(x: Value, dtype: rules.Dtype) -> Value:
    """x in another dtype."""
    return x if get_aval(x).dtype == dtype else convert.bind(x, new_dtype=dtype)


def transposed(x: Value) -> Value:
    """Each matrix transposed."""
    ndim = len(get_aval(x).shape)
    return permuted(x, (*range(ndim - 2), ndim - 1, ndim - 2))


def adjoint(x: Value) -> Value:
    """Each matrix transposed and conjugated."""
    return conj(transposed(x))


def matmul(a: Value, b: Value) -> Value:
    """The products of two stacks of matrices with equal batch dimensions."""
    rank = len(get_aval(a).shape)
    batch = tuple(range(rank - 2))
    return dot_general.bind(
        a,
        b,
        lhs_contracting=(rank - 1,),
        rhs_contracting=(rank - 2,),
        lhs_batch=batch,
        rhs_batch=batch,
        preferred_element_type=None,
    )


def _distance(shape: Shape) -> Value:
    """column - row of each element."""
    rank = len(shape)
    row, column = (iota.bind(dtype=rules.INT32, shape=shape, dimension=axis) for axis in (rank - 2, rank - 1))
    return add.bind(column, mul.bind(row, full(shape, -1, rules.INT32)))


def triu(x: Value, k: int = 0) -> Value:
    """Zero below the k-th diagonal."""
    shape = get_aval(x).shape
    return select.bind(ge.bind(_distance(shape), full(shape, k, rules.INT32)), x, full_like(x, 0))


def tril(x: Value, k: int = 0) -> Value:
    """Zero above the k-th diagonal."""
    shape = get_aval(x).shape
    return select.bind(ge.bind(_distance(shape), full(shape, k + 1, rules.INT32)), full_like(x, 0), x)


def on_diagonal(x: Value) -> Value:
    """Zero off the diagonal."""
    return triu(tril(x))


def diagonal(x: Value) -> Value:
    """The diagonals of square matrices."""
    return sum_axes(on_diagonal(x), (len(get_aval(x).shape) - 1,))


def rows_of(v: Value, count: Any) -> Value:
    """Matrices whose rows are all v: [..., n] -> [..., count, n]."""
    shape = get_aval(v).shape
    kept = (*range(len(shape) - 1), len(shape))
    return broadcast_in_dim.bind(v, shape=(*shape[:-1], count, shape[-1]), broadcast_dimensions=kept)


def columns_of(v: Value, count: Any) -> Value:
    """Matrices whose columns are all v: [..., n] -> [..., n, count]."""
    shape = get_aval(v).shape
    return broadcast_in_dim.bind(v, shape=(*shape, count), broadcast_dimensions=tuple(range(len(shape))))


def eye_like(x: Value) -> Value:
    """Identities of the shape and dtype of a stack of matrices."""
    return on_diagonal(full_like(x, 1))


def part(x: Value, rows: tuple[int, int] | None = None, columns: tuple[int, int] | None = None) -> Value:
    """Some rows (from, to) and columns of each matrix."""
    shape = get_aval(x).shape
    low, high = [0] * len(shape), list(shape)
    for axis, span in ((-2, rows), (-1, columns)):
        if span is not None:
            low[axis], high[axis] = span
    if tuple(high) == shape and not any(low):
        return x
    strides = (1,) * len(shape)
    return slice_primitive.bind(x, start_indices=tuple(low), limit_indices=tuple(high), strides=strides)


def joined(xs: Sequence[Value], axis: int) -> Value:
    """Matrices side by side (axis -1) or one below the other (-2)."""
    return concatenate.bind(*xs, dimension=len(get_aval(xs[0]).shape) + axis)


def imaginary_only(x: Value) -> Value:
    """x without its real part, as a complex array."""
    half = full_like(x, 0.5)
    return mul.bind(half, sub.bind(x, conj(x)))


def phase_turn(inner: Value, s: Value) -> Value:
    """i Im(P_jj) / s_j on the diagonal, 0 where s_j is 0. The columns of s hold s_j."""
    s = as_dtype(s, get_aval(inner).dtype)
    zero = eq.bind(s, full_like(s, 0))
    turn = div.bind(on_diagonal(imaginary_only(inner)), select.bind(zero, full_like(s, 1), s))
    return select.bind(zero, full_like(turn, 0), turn)


# Undefined derivatives


def refuse_derivative(name: str, instead: str) -> NoReturn:
    """Raises the NotDifferentiableError of a compact form."""
    raise NotDifferentiableError(f"{name}: no derivative is defined for it; use {instead}, which has one")


def no_derivative(name: str, instead: str) -> Callable[..., Any]:
    """The jvp rule of a compact form, which has no derivative: it raises the error."""

    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **_: Any) -> NoReturn:
        refuse_derivative(name, instead)

    return jvp


# References and samples


def each(function: Callable[..., Any], *tails: int) -> Callable[..., Any]:
    """A function of single matrices applied to stacks. `tails` are the numbers of dimensions of single arguments. The
    result is an array or a tuple. For an empty stack, a stack of ones determines the shapes."""

    def apply(*arrays: Any, **params: Any) -> Any:
        batch = arrays[0].shape[: arrays[0].ndim - tails[0]]
        count = math.prod(batch)
        flat = [x.reshape((count, *x.shape[len(batch) :])) for x in arrays]
        results = [function(*ones, **params) for ones in zip(*flat, strict=True)]
        if not isinstance(results[0], tuple):
            return np.stack(results).reshape((*batch, *np.shape(results[0])))
        return tuple(np.stack(r).reshape((*batch, *np.shape(r[0]))) for r in zip(*results, strict=True))

    return apply


def matrices(rng: numpy.random.Generator, *shape: int, dtype: rules.Dtype = rules.FLOAT32) -> Any:
    """A stack of ordinary, well-conditioned matrices: random ones, with the diagonal raised."""
    x = rng.normal(size=shape)
    if dtype.kind == "c":
        x = x + 1j * rng.normal(size=shape)
    return (x + 2 * np.eye(*shape[-2:])).astype(dtype)


def hermitian(rng: numpy.random.Generator, *shape: int, dtype: rules.Dtype = rules.FLOAT32) -> Any:
    """A stack of Hermitian matrices with eigenvalues well apart."""
    n = shape[-1]
    q = np.linalg.qr(matrices(rng, *shape, dtype=dtype).astype(complex_dtype(np.dtype(np.float64))))[0]
    x = (q * (np.arange(n) + 1.0)) @ np.conj(np.swapaxes(q, -1, -2))
    x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2
    return (x if dtype.kind == "c" else x.real).astype(dtype)


def vectors(rng: numpy.random.Generator, *shape: int, dtype: rules.Dtype = rules.FLOAT32) -> Any:
    """Random numbers."""
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.kind == "c" else x).astype(dtype)


def each_dtype(first: rules.Dtype = rules.FLOAT32) -> Iterable[rules.Dtype]:
    """The dtypes of samples, `first` first."""
    return (first, *(d for d in MATRIX_DTYPES if d != first))
