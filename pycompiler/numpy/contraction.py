"""Products of matrices and of arrays of any rank, down to dot_general."""

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.core.dims import broadcast_shapes
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax import reduction as reduce
from pycompiler.lax.operands import Array, broadcast_to, canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.numpy.promotion import converted, requested, widened


def _product(name: str, a: Array, b: Array, contract: Any, batch: Any, preferred: Any = None) -> Array:
    """dot_general in the dtype that the two promote to; bools are counted, then compared with 0."""
    a, b = converted(name, a, b)
    if get_aval(a).dtype == dtypes.bool_:
        counts = reduce.dot_general(cast(a, dtypes.int32), cast(b, dtypes.int32), (contract, batch))
        return lax.ne(counts, 0)
    return reduce.dot_general(a, b, (contract, batch), preferred_element_type=requested(name, preferred))


def _differ(name: str, a: Any, b: Any, first: Any, second: Any) -> ValueError:
    return ValueError(
        f"{name}: contracting dimensions differ: {short(get_aval(a))} @ {short(get_aval(b))} ({first} vs {second})"
    )


def _of_arrays(name: str, a: Any, b: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    check_arrays(name, a, b)
    return get_aval(a).shape, get_aval(b).shape


def matmul(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The matrix product; of stacks of matrices one for each, their leading dimensions broadcast.

    A vector stands for a row on the left and a column on the right, and its dimension goes. Every product is of full
    precision. ValueError where the inner dimensions differ or the leading ones do not broadcast.
    """
    left, right = _of_arrays("matmul", a, b)
    if not left or not right:
        raise ValueError(f"matmul: takes no scalars, got {short(get_aval(a))} and {short(get_aval(b))}; use *")
    inner = 0 if len(right) == 1 else len(right) - 2
    if left[-1] != right[inner]:
        raise _differ("matmul", a, b, left[-1], right[inner])
    if len(right) <= 2:
        return _product("matmul", a, b, ((len(left) - 1,), (inner,)), ((), ()), preferred_element_type)
    try:
        batch = broadcast_shapes(left[:-2], right[:-2])
    except ValueError:
        raise ValueError(
            f"matmul: leading dimensions do not broadcast: {short(get_aval(a))} @ {short(get_aval(b))}"
        ) from None
    rank = len(batch)
    a = a if len(left) == 1 else broadcast_to(a, (*batch, *left[-2:]))
    b = broadcast_to(b, (*batch, *right[-2:]))
    if len(left) == 1:
        # No batch on the left: the free dimensions of b, in their order, are the result.
        return _product("matmul", a, b, ((0,), (rank,)), ((), ()), preferred_element_type)
    axes = tuple(range(rank))
    return _product("matmul", a, b, ((rank + 1,), (rank,)), (axes, axes), preferred_element_type)


def dot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product over the last dimension of a and the last but one (or only) of b; with a scalar the plain product."""
    left, right = _of_arrays("dot", a, b)
    if not left or not right:
        return _product("dot", a, b, ((), ()), ((), ()), preferred_element_type)
    inner = 0 if len(right) == 1 else len(right) - 2
    if left[-1] != right[inner]:
        raise _differ("dot", a, b, left[-1], right[inner])
    return _product("dot", a, b, ((len(left) - 1,), (inner,)), ((), ()), preferred_element_type)


def vdot(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product of two arrays taken as vectors."""
    left, right = _of_arrays("vdot", a, b)
    a, b = (movement.reshape(x, (int(np.prod(shape)),)) for x, shape in ((a, left), (b, right)))
    return dot(a, b, preferred_element_type=preferred_element_type)


def inner(a: Any, b: Any, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product over the last dimensions of both."""
    left, right = _of_arrays("inner", a, b)
    if not left or not right:
        return _product("inner", a, b, ((), ()), ((), ()), preferred_element_type)
    if left[-1] != right[-1]:
        raise _differ("inner", a, b, left[-1], right[-1])
    return _product("inner", a, b, ((len(left) - 1,), (len(right) - 1,)), ((), ()), preferred_element_type)


def outer(a: Any, b: Any, out: None = None) -> Array:
    """The products of all pairs of elements, a matrix."""
    left, right = _of_arrays("outer", a, b)
    a, b = (movement.reshape(x, (int(np.prod(shape)),)) for x, shape in ((a, left), (b, right)))
    return _product("outer", a, b, ((), ()), ((), ()))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The products of vectors that lie along an axis of both; the other dimensions broadcast."""
    left, right = _of_arrays("vecdot", x1, x2)
    first, second = canonical_axis("vecdot", axis, len(left)), canonical_axis("vecdot", axis, len(right))
    if left[first] != right[second]:
        raise _differ("vecdot", x1, x2, left[first], right[second])
    shape = broadcast_shapes(left, right)
    axis = canonical_axis("vecdot", axis, len(shape))
    batch = tuple(i for i in range(len(shape)) if i != axis)
    x1, x2 = broadcast_to(x1, shape), broadcast_to(x2, shape)
    return _product("vecdot", x1, x2, ((axis,), (axis,)), (batch, batch), preferred_element_type)


def tensordot(a: Any, b: Any, axes: Any = 2, *, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product over `axes`: so many last ones of a and first ones of b, or a pair of sequences of axes."""
    left, right = _of_arrays("tensordot", a, b)
    if isinstance(axes, int):
        if not 0 <= axes <= min(len(left), len(right)):
            raise ValueError(f"tensordot: {axes} axes are more than {short(get_aval(a))} or {short(get_aval(b))} has")
        pair: Any = (tuple(range(len(left) - axes, len(left))), tuple(range(axes)))
    else:
        pair = (
            canonical_axes("tensordot", axes[0], len(left)),
            canonical_axes("tensordot", axes[1], len(right)),
        )
    if len(pair[0]) != len(pair[1]):
        raise ValueError(
            f"tensordot: axes {axes} name {len(pair[0])} of the first array and {len(pair[1])} of the second"
        )
    for i, j in zip(*pair, strict=True):
        if left[i] != right[j]:
            raise _differ("tensordot", a, b, left[i], right[j])
    return _product("tensordot", a, b, pair, ((), ()), preferred_element_type)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: None = None) -> Array:
    """The sum of a diagonal."""
    if out is not None:
        raise TypeError("trace: arrays never change, so there is no out=")
    check_arrays("trace", a)
    ndim = len(get_aval(a).shape)
    axes = canonical_axes("trace", (axis1, axis2), ndim)
    x = cast(a, requested("trace", dtype)) if dtype is not None else a
    kind = get_aval(x).dtype
    if dtype is None and (kind == dtypes.bool_ or dtypes.is_integer(kind)):
        x = cast(x, widened(kind))
    return reduce.reduce_sum(_on_diagonal(x, axes, offset), axes)


def _on_diagonal(x: Array, axes: Sequence[int], offset: int = 0) -> Array:
    """x with zeros off the diagonal of two axes."""
    aval = get_aval(x)
    first, second = (movement.broadcasted_iota(np.int32, aval.shape, axis) for axis in axes)
    return lax.select(lax.eq(lax.add(first, offset), second), x, cast(0, aval.dtype))


# einsum: each operand first loses the indices that nothing else has, then operands are contracted from left to right.


def _parse(subscripts: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The indices of each operand and of the result, an ellipsis spelled out in unused letters."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum: {subscripts!r} has {len(terms)} operands, {len(ranks)} were given")
    unused = [letter for letter in ascii_letters if letter not in text]
    longest = max(
        rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(terms, ranks, strict=True)
    )
    dots = "".join(unused[: max(longest, 0)])
    spelled: list[str] = []
    for term, rank in zip(terms, ranks, strict=True):
        missing = rank - len(term.replace("...", ""))
        if "..." in term and missing >= 0:
            term = term.replace("...", dots[len(dots) - missing :])
        if len(term) != rank or not all(letter in ascii_letters for letter in term):
            raise ValueError(f"einsum: {term!r} of {subscripts!r} does not name the {rank} dimensions of its operand")
        spelled.append(term)
    if arrow:
        output = output.replace("...", dots)
    else:
        counts = {letter: "".join(spelled).count(letter) for letter in sorted(set("".join(spelled)))}
        output = dots + "".join(letter for letter, count in counts.items() if count == 1 and letter not in dots)
    for letter in output:
        if output.count(letter) > 1 or letter not in "".join(spelled):
            raise ValueError(
                f"einsum: the index {letter!r} of the result of {subscripts!r} is not one of an operand, once"
            )
    return spelled, output


def _without_repeats(x: Array, term: str) -> tuple[Array, str]:
    """The diagonal over indices that occur twice in a term."""
    for letter in sorted(set(term)):
        while term.count(letter) > 1:
            first, second = term.index(letter), term.rindex(letter)
            shape = get_aval(x).shape
            if shape[first] != shape[second]:
                raise ValueError(f"einsum: the index {letter!r} has sizes {shape[first]} and {shape[second]}")
            x = reduce.reduce_sum(_on_diagonal(x, (first, second)), (second,))
            term = term[:second] + term[second + 1 :]
    return x, term


def _summed(x: Array, term: str, kept: str) -> tuple[Array, str]:
    """x summed over the indices that are not kept."""
    axes = tuple(axis for axis, letter in enumerate(term) if letter not in kept)
    if not axes:
        return x, term
    return reduce.reduce_sum(x, axes), "".join(letter for letter in term if letter in kept)


def _pair(a: Array, left: str, b: Array, right: str, kept: str, subscripts: str) -> tuple[Array, str]:
    """Two operands contracted over the indices that both have and nothing later needs."""
    sizes = dict(zip(left, get_aval(a).shape, strict=True))
    for letter, size in zip(right, get_aval(b).shape, strict=True):
        known = sizes.get(letter, size)
        if known != size and 1 not in (known, size):
            raise ValueError(
                f"einsum: the index {letter!r} of {subscripts!r} has sizes {known} and {size}: {short(get_aval(a))}, "
                f"{short(get_aval(b))}"
            )
        if known != size:
            # A size of 1 broadcasts: drop it from its side.
            if size == 1:
                b, right = movement.squeeze(b, (right.index(letter),)), right.replace(letter, "")
            else:
                a, left = movement.squeeze(a, (left.index(letter),)), left.replace(letter, "")
    (a, left), (b, right) = _summed(a, left, kept + right), _summed(b, right, kept + left)
    batch = [letter for letter in left if letter in right and letter in kept]
    contract = [letter for letter in left if letter in right and letter not in kept]
    numbers = [
        tuple(tuple(term.index(letter) for letter in letters) for term in (left, right))
        for letters in (contract, batch)
    ]
    rest = "".join(letter for letter in left + right if not (letter in left and letter in right))
    return reduce.dot_general(a, b, tuple(numbers)), "".join(batch) + rest  # pyright: ignore[reportArgumentType]


def einsum(subscripts: str, /, *operands: Any, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """Sums of products by Einstein's convention: `einsum('ij,jk->ik', a, b)`. Without `->` the indices that occur
    once are kept, in alphabetical order. ValueError where the indices do not fit the operands."""
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum: the first argument is the string of subscripts, got {subscripts!r}")
    check_arrays("einsum", *operands)
    arrays = converted("einsum", *operands)
    terms, output = _parse(subscripts, [len(get_aval(x).shape) for x in arrays])
    boolean = get_aval(arrays[0]).dtype == dtypes.bool_
    if boolean:
        arrays = [cast(x, dtypes.int32) for x in arrays]
    pairs = [_without_repeats(x, term) for x, term in zip(arrays, terms, strict=True)]
    result, term = pairs[0]
    for position, (x, other) in enumerate(pairs[1:], start=2):
        kept = output + "".join(later for _, later in pairs[position:])
        result, term = _pair(result, term, x, other, kept, subscripts)
    result, term = _summed(result, term, output)
    order = tuple(term.index(letter) for letter in output)
    if order != tuple(range(len(order))):
        result = movement.transpose(result, order)
    if boolean:
        return lax.ne(result, 0)
    wanted = requested("einsum", preferred_element_type)
    return result if wanted is None else cast(result, wanted)
