"""The rules of `sparsify`: the meaning of an equation of a graph for sparse operands. One table for each format.

A rule gets the equation, its operands and the known places without duplicates, and returns the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.tracing.evaluate import bound
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.trace import Tracer
from pycompiler.experimental.sparse import bcoo_parts, bcoo_shapes
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcoo_places import bcoo_sum_duplicates
from pycompiler.experimental.sparse.bcoo_products import bcoo_dot_general, bcoo_multiply_dense, bcoo_multiply_sparse
from pycompiler.experimental.sparse.bcsr import BCSR, bcsr_broadcast_in_dim, bcsr_concatenate, bcsr_dot_general
from pycompiler.experimental.sparse.formats import is_sparse
from pycompiler.lax.operands import Array

Unique = dict[int, tuple[Any, Any]]
Rule = Callable[[Equation, list[Any], Unique], Any]

# Functions with f(0) != 0, and comparisons: they would store all elements.
_DENSE = """
    acos acosh bessel_i0e cos cosh eq erfc exp exp2 ge gt is_finite le lgamma log logistic lt ne not pow rsqrt xor
"""
DENSIFYING = frozenset(_DENSE.split())
# f(0) = 0 and f(x + y) = f(x) + f(y).
_LINEAR = ("imag", "neg", "optimization_barrier", "real", "stop_gradient")
# f(0) = 0.
_ZERO = """
    abs asin asinh atan atanh bessel_i1e cbrt ceil convert erf erf_inv expm1 floor log1p reduce_precision round sign sin
    sinh sqrt tan tanh
"""
KEEPING = frozenset((*_LINEAR, *_ZERO.split()))


class Spread:
    """The result of broadcasting an array, dense or sparse. It is computed only if it is needed."""

    def __init__(self, value: Any, equation: Equation) -> None:
        self.value = value
        self._equation = equation
        self._array: Any = None
        params = equation.params
        self.shape, dims = tuple(params["shape"]), tuple(params["broadcast_dimensions"])
        sizes = [1] * len(self.shape)
        for dim, size in zip(dims, value.shape if is_sparse(value) else np.shape(value), strict=True):
            sizes[dim] = size
        self._sizes = sizes

    def array(self) -> Any:
        """The whole array."""
        if self._array is None:
            self._array = self._spread(self.shape) if is_sparse(self.value) else bound(self._equation, [self.value])
        return self._array

    def compact(self) -> Any:
        """An array that NumPy's rules broadcast to the result."""
        if is_sparse(self.value):
            return self._spread(self._sizes)
        return self.value if not np.shape(self.value) else lax.reshape(self.value, self._sizes)

    def _spread(self, shape: Sequence[int]) -> Any:
        spread: Any = bcsr_broadcast_in_dim if isinstance(self.value, BCSR) else bcoo_shapes.bcoo_broadcast_in_dim
        return spread(self.value, shape=shape, broadcast_dimensions=self._equation.params["broadcast_dimensions"])


def is_sparse_operand(x: Any) -> bool:
    """Whether an operand is sparse, or the result of broadcasting a sparse array."""
    return is_sparse(x.value if isinstance(x, Spread) else x)


def whole(x: Any) -> Any:
    """An operand as an array, dense or sparse."""
    return x.array() if isinstance(x, Spread) else x


def _compact(x: Any) -> Any:
    return x.compact() if isinstance(x, Spread) else x


def deduplicated(mat: Any, unique: Unique) -> Any:
    """The matrix without duplicates. Matrices at the same places stay at the same places."""
    if mat.unique_indices:
        return mat
    if isinstance(mat, BCSR):
        sums = mat.sum_duplicates(nse=mat.nse, remove_zeros=False)
        rows = unique.setdefault(id(mat.indices), (mat.indices, (sums.indices, sums.indptr)))[1]
        return BCSR((sums.data, *rows), shape=mat.shape, indices_sorted=True, unique_indices=True)
    out = bcoo_sum_duplicates(mat, mat.nse)
    places = unique.setdefault(id(mat.indices), (mat.indices, out.indices))[1]
    return BCOO.tree_unflatten(out.tree_flatten()[1], (out.data, places))


def _aligned(given: list[Any], unique: Unique) -> list[Any]:
    """Two matrices at the same places, if one of them was made from the other without duplicates.

    Products of matrices at other places have an element for each pair.
    """
    if len(given) != 2 or type(given[0]) is not type(given[1]) or not is_sparse(given[0]):
        return given
    x, y = given
    if x.indices is y.indices:
        return given
    known = [_places(unique.get(id(mat.indices), (None, None))[1]) for mat in given]
    if known[0] is y.indices or known[1] is x.indices:
        return [deduplicated(mat, unique) for mat in given]
    return given


def _places(known: Any) -> Any:
    """The indices of an entry of the known places: with a BCSR's come the starts of its rows."""
    return known[0] if isinstance(known, tuple) else known


def _linear(equation: Equation, given: list[Any], unique: Unique) -> Any:
    (mat,) = given
    out = bound(equation, [mat.data])
    # `optimization_barrier` gives a list.
    return [mat.with_data(out[0])] if equation.primitive.multiple_results else mat.with_data(out)


def _elementwise(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return _linear(equation, [deduplicated(given[0], unique)], unique)


def _dense_name(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return given[0].with_data(bound(equation, [given[0].data]))


def _add(equation: Equation, given: list[Any], unique: Unique) -> Any:
    if all(map(is_sparse_operand, given)):
        return _sum(*_aligned(list(map(whole, given)), unique))
    x, y = (whole(x) if is_sparse_operand(x) else x for x in given)
    mat, dense = (x, y) if is_sparse(x) else (y, x)
    if isinstance(dense, Spread):
        raise NotImplementedError(
            f"sparse rule for add is not implemented for {mat!r} and an array that is broadcast to its shape, because "
            "it would result in dense output. What to do: sparse.todense(x) makes an argument dense"
        )
    return mat.todense() + dense


def _sum(x: BCOO, y: BCOO) -> BCOO:
    if x.shape != y.shape:
        raise NotImplementedError(f"sparse rule for add is not implemented for different shapes: {x!r} and {y!r}")
    if x.indices is y.indices and x.data.shape == y.data.shape:
        return x.with_data(x.data + y.data)
    if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
        raise NotImplementedError(
            f"sparse rule for add is not implemented for different numbers of batch or dense axes: {x!r} and {y!r}. "
            "What to do: update_layout"
        )
    axis = x.n_batch
    parts: list[Array] = []
    for left, right in ((x.data, y.data), (x.indices, y.indices)):
        batch = np.broadcast_shapes(left.shape[:axis], right.shape[:axis])
        parts.append(pnp.concatenate([pnp.broadcast_to(p, (*batch, *p.shape[axis:])) for p in (left, right)], axis))
    return BCOO((parts[0], parts[1]), shape=x.shape)


def _subtract(equation: Equation, given: list[Any], unique: Unique) -> Any:
    x, y = given
    if not (is_sparse(x) and is_sparse(y)):
        raise NotImplementedError(
            "sparse rule for sub is not implemented for a sparse and a dense array. What to do: sparse.todense(x) "
            "makes an argument dense"
        )
    return _sum(*_aligned([x, y.with_data(-y.data)], unique))


def _multiply(equation: Equation, given: list[Any], unique: Unique) -> Any:
    if not all(map(is_sparse_operand, given)):
        x, y = given
        mat, dense = (x, y) if is_sparse_operand(x) else (y, x)
        mat = whole(mat)
        return mat.with_data(bcoo_multiply_dense(mat, _compact(dense)))
    x, y = _aligned(list(map(_compact, given)), unique)
    if x.indices is y.indices and x.data.shape == y.data.shape:
        x, y = deduplicated(x, unique), deduplicated(y, unique)
        return x.with_data(x.data * y.data)
    return bcoo_multiply_sparse(x, y)


def _divide(equation: Equation, given: list[Any], unique: Unique) -> Any:
    x, y = given
    if is_sparse_operand(y):
        raise NotImplementedError(
            "sparse rule for div is not implemented for a sparse divisor, because it would result in dense output. "
            "What to do: sparse.todense(x) makes an argument dense"
        )
    x, dense = whole(x), _compact(y)
    if not np.shape(dense):
        return x.with_data(lax.div(x.data, pnp.asarray(dense, x.dtype)))
    # 1 / y at places outside is 0, and not nan.
    return x.with_data(bcoo_multiply_dense(x, 1 / dense).astype(x.dtype))


def _of_bools(rule: Rule) -> Rule:
    """The rule of an operation on bits. For bools only, it is arithmetic."""

    def checked(equation: Equation, given: list[Any], unique: Unique) -> Any:
        if equation.outputs[0].aval.dtype != np.bool_:
            raise NotImplementedError(
                f"sparse rule for {equation.primitive.name} is not implemented for integers. What to do: "
                "sparse.todense(x) makes an argument dense"
            )
        return rule(equation, given, unique)

    return checked


def _not_equal(equation: Equation, given: list[Any], unique: Unique) -> Any:
    """`x != 0`, the conversion to bools."""
    x, y = map(_compact, given)
    if is_sparse(y) or isinstance(y, Tracer) or np.any(y):
        raise NotImplementedError(
            "sparse rule for ne is not implemented because it would result in dense output. What to do: "
            "sparse.todense(x) makes an argument dense"
        )
    x = deduplicated(x, unique)
    return x.with_data(x.data != 0)


def _complex(equation: Equation, given: list[Any], unique: Unique) -> Any:
    x, y = given
    if not (is_sparse(x) and is_sparse(y) and x.indices is y.indices):
        raise NotImplementedError("sparse rule for complex is not implemented for parts at different places")
    return x.with_data(lax.complex(x.data, y.data))


def _reduce_sum(equation: Equation, given: list[Any], unique: Unique) -> Any:
    out = bcoo_parts.bcoo_reduce_sum(given[0], axes=equation.params["axes"])
    return out if out.shape else out.data.sum(dtype=out.dtype)


def _reshape(equation: Equation, given: list[Any], unique: Unique) -> Any:
    (mat,) = given
    sizes = tuple(equation.params["new_sizes"])
    without = [size for size in mat.shape if size != 1]
    if without == [size for size in sizes if size != 1]:
        # Axes of size 1 are added or removed. The other axes keep their order.
        dropped = _missing_ones(mat.shape, sizes)
        if dropped is not None:
            return bcoo_shapes.bcoo_squeeze(mat, dimensions=dropped)
        new = _missing_ones(sizes, mat.shape)
        if new is not None:
            kept = [axis for axis in range(len(sizes)) if axis not in new]
            return bcoo_shapes.bcoo_broadcast_in_dim(mat, shape=sizes, broadcast_dimensions=kept)
    return bcoo_shapes.bcoo_reshape(mat, new_sizes=sizes)


def _missing_ones(shape: tuple[int, ...], fewer: tuple[int, ...]) -> list[int] | None:
    """The axes of size 1 whose removal turns the first shape into the second; None if there are no such axes."""
    missing: list[int] = []
    rest = list(fewer)
    for axis, size in enumerate(shape):
        if rest and rest[0] == size:
            rest.pop(0)
        elif size == 1:
            missing.append(axis)
        else:
            return None
    return missing if not rest and missing else None


def _transpose(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return bcoo_shapes.bcoo_transpose(given[0], permutation=equation.params["permutation"])


def _slice(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return bcoo_parts.bcoo_slice(given[0], **equation.params)


def _dynamic_slice(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return bcoo_parts.bcoo_dynamic_slice(given[0], given[1:], equation.params["slice_sizes"])


def _gather(equation: Equation, given: list[Any], unique: Unique) -> Any:
    params = equation.params
    operand, *columns = given
    if not is_sparse(operand) or params["mode"] not in ("clip", "promise_in_bounds"):
        raise NotImplementedError(
            f"sparse rule for gather is not implemented for sparse indices or the mode {params['mode']!r}"
        )
    names = (
        *("offset_dims", "collapsed_slice_dims", "start_index_map"),
        *("operand_batching_dims", "start_indices_batching_dims"),
    )
    numbers = lax.GatherDimensionNumbers(**{name: tuple(params[name]) for name in names})
    return bcoo_parts.gather(operand, pnp.stack(columns, -1), numbers, params["slice_sizes"])


def _numbers(params: Any) -> Any:
    contract = (params["lhs_contracting"], params["rhs_contracting"])
    return (contract, (params["lhs_batch"], params["rhs_batch"]))


def _dot_general(product: Callable[..., Any], equation: Equation, given: list[Any], unique: Unique) -> Any:
    params = equation.params
    return product(
        *given,
        dimension_numbers=_numbers(params),
        preferred_element_type=params["preferred_element_type"],
    )


def _convolve(equation: Equation, given: list[Any], unique: Unique) -> Any:
    params = equation.params
    lhs, rhs = given
    names = (
        *("window_strides", "lhs_dilation", "rhs_dilation", "feature_group_count", "batch_group_count"),
        "preferred_element_type",
    )
    specs = [params[name] for name in ("lhs_spec", "rhs_spec", "out_spec")]
    return bcoo_parts.bcoo_conv_general_dilated(
        lhs,
        rhs,
        padding=list(zip(params["low"], params["high"], strict=True)),
        dimension_numbers=lax.ConvDimensionNumbers(*specs),
        **{name: params[name] for name in names},
    )


def _concatenate(join: Callable[..., Any], equation: Equation, given: list[Any], unique: Unique) -> Any:
    return join(given, dimension=equation.params["dimension"])


def _reverse(equation: Equation, given: list[Any], unique: Unique) -> Any:
    return bcoo_shapes.bcoo_rev(given[0], equation.params["dimensions"])


def _of_bcoo(equation: Equation, given: list[Any], unique: Unique) -> Any:
    """A rule for BCSR by that for BCOO; its result becomes BCSR again. Matrices at the same places stay there."""
    same: dict[tuple[int, int], tuple[BCSR, BCOO]] = {}
    operands: list[Any] = []
    name = equation.primitive.name
    if name == "ne" or (name in ("and", "mul") and all(isinstance(x, BCSR) for x in given)):
        given = [deduplicated(x, unique) if isinstance(x, BCSR) else x for x in given]
    for x in _aligned(given, unique):
        if isinstance(x, BCSR):
            first, as_bcoo = same.setdefault((id(x.indices), id(x.indptr)), (x, _as_bcoo(x)))
            operands.append(as_bcoo if x is first else as_bcoo.with_data(x.data))
        else:
            operands.append(x)
    out = BCOO_RULES[equation.primitive.name](equation, operands, unique)
    for mat, as_bcoo in same.values():
        if isinstance(out, BCOO) and out.indices is as_bcoo.indices and out.shape == mat.shape:
            return mat.with_data(out.data)
    return BCSR.from_bcoo(out) if isinstance(out, BCOO) and out.n_sparse == 2 else out


def _as_bcoo(mat: BCSR) -> BCOO:
    out = mat.to_bcoo()
    return BCOO((out.data, out.indices), shape=out.shape, unique_indices=mat.unique_indices)


_SHARED: dict[str, Rule] = {
    **dict.fromkeys(_LINEAR, _linear),
    **dict.fromkeys(_ZERO.split(), _elementwise),
    "complex": _complex,
    "name": _dense_name,
}
# These rules accept `Spread`s.
OF_SPREAD = frozenset(("add", "and", "div", "mul", "ne", "or"))
BCOO_RULES: dict[str, Rule] = {
    **_SHARED,
    "add": _add,
    "and": _of_bools(_multiply),
    "concatenate": partial(_concatenate, bcoo_shapes.bcoo_concatenate),
    "conv_general_dilated": _convolve,
    "div": _divide,
    "dot_general": partial(_dot_general, bcoo_dot_general),
    "dynamic_slice": _dynamic_slice,
    "gather": _gather,
    "mul": _multiply,
    "ne": _not_equal,
    "or": _of_bools(_add),
    "reduce_sum": _reduce_sum,
    "reshape": _reshape,
    "reverse": _reverse,
    "slice": _slice,
    "sub": _subtract,
    "transpose": _transpose,
}
BCSR_RULES: dict[str, Rule] = {
    **dict.fromkeys(BCOO_RULES, _of_bcoo),
    **_SHARED,
    "concatenate": partial(_concatenate, bcsr_concatenate),
    "dot_general": partial(_dot_general, bcsr_dot_general),
}
