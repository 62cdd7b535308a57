"""Trees of arrays as vectors: inner products, sums, and linear operators on them."""

from collections.abc import Callable
from typing import Any

import pycompiler.numpy as pnp
from pycompiler._runtime import Array as _Array
from pycompiler._runtime import tree_flatten
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree import tree_leaves, tree_map, tree_structure
from pycompiler.lax.operands import check_arrays, weakly
from pycompiler.numpy.promotion import inexact

Array = Any
Tree = Any
Operator = Callable[[Tree], Tree]


def identity(x: Tree) -> Tree:
    """x itself: the trivial preconditioner."""
    return x


def operator_of(name: str, given: Any) -> Operator:
    """The linear function of a matrix, of an object with `@`, or of a function; None is the identity."""
    if given is None:
        return identity
    if callable(given):
        return given
    if is_array(given) or hasattr(given, "__matmul__"):
        shape = getattr(given, "shape", None)
        if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"{name}: a linear operator must be a square matrix, got the shape {tuple(shape)}")
        if isinstance(given, _Array) or is_array(given):
            return lambda x: pnp.matmul(given, x, precision="highest")
        return lambda x: given @ x
    raise TypeError(
        f"{name}: a linear operator is a function, a square matrix or an object with `@`, got {given!r} of type "
        f"{type(given).__name__}"
    )


def checked_pair(name: str, b: Tree, x0: Tree) -> tuple[Tree, Tree]:
    """The right-hand side in floating-point dtypes, and the guess in the same types."""
    leaves, structure = tree_flatten(b, None)
    check_arrays(name, *leaves)
    if not leaves:
        raise ValueError(f"{name}: b must have at least one array, got {b!r}")
    b = structure.unflatten([pnp.asarray(leaf).astype(inexact(get_aval(leaf).dtype)) for leaf in leaves])
    if x0 is None:
        return b, tree_map(pnp.zeros_like, b)
    if tree_structure(x0) != structure:
        raise ValueError(f"{name}: x0 must have the structure of b, {structure}, got {tree_structure(x0)}")
    check_arrays(name, *tree_leaves(x0))
    for mine, other in zip(tree_leaves(x0), tree_leaves(b), strict=True):
        if get_aval(mine).shape != get_aval(other).shape:
            raise ValueError(f"{name}: x0 must have the shapes of b, got {short(mine)} for {short(other)}")
    return b, tree_map(lambda mine, other: pnp.asarray(mine).astype(other.dtype), x0, b)


def as_weak_as(x: Tree, b: Tree) -> Tree:
    """x, weakly typed if b is."""
    return tree_map(lambda mine, other: weakly(mine, get_aval(other).weak_type), x, b)


def size_of(x: Tree) -> int:
    """The number of elements."""
    return sum(leaf.size for leaf in tree_leaves(x))


def dtype_of(x: Tree) -> Any:
    """The dtype to which the arrays promote."""
    return dtypes.result_type(*tree_leaves(x))[0]


def inner(x: Tree, y: Tree) -> Array:
    """The inner product, linear in y."""
    products = [pnp.vdot(a, b, precision="highest") for a, b in zip(tree_leaves(x), tree_leaves(y), strict=True)]
    return sum(products[1:], products[0])


def inner_real(x: Tree, y: Tree) -> Array:
    """The real part of the inner product."""
    return pnp.real(inner(x, y))


def norm(x: Tree) -> Array:
    """The Euclidean norm."""
    return pnp.sqrt(inner_real(x, x))


def plus(x: Tree, factor: Array, y: Tree) -> Tree:
    """x + factor * y, in the dtypes of x."""
    return tree_map(lambda a, b: (a + factor.astype(a.dtype) * b).astype(a.dtype), x, y)


def minus(x: Tree, y: Tree) -> Tree:
    """x - y."""
    return tree_map(lambda a, b: a - b, x, y)


def chosen(condition: Array, x: Tree, y: Tree) -> Tree:
    """x if the condition holds, else y."""
    return tree_map(lambda a, b: pnp.where(condition, a, b), x, y)


def raveled(x: Tree) -> Array:
    """All elements as one vector."""
    dtype = dtype_of(x)
    return pnp.concatenate([leaf.astype(dtype).reshape(-1) for leaf in tree_leaves(x)])


def unraveled(vector: Array, like: Tree) -> Tree:
    """The inverse of `raveled`, with the shapes and dtypes of `like`."""
    leaves, structure = tree_flatten(like, None)
    start, parts = 0, []
    for leaf in leaves:
        part = vector[start : start + leaf.size]
        if not dtypes.is_complex(leaf.dtype):
            part = pnp.real(part)
        parts.append(part.astype(leaf.dtype).reshape(leaf.shape))
        start += leaf.size
    return structure.unflatten(parts)
