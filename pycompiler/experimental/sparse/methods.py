"""The methods and operators of BCOO and BCSR that other files of this folder define. Importing it attaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.types.aval import is_array
from pycompiler.experimental.sparse import bcoo_places, bcoo_shapes
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcsr import BCSR
from pycompiler.experimental.sparse.formats import JAXSparse
from pycompiler.experimental.sparse.transform import sparsify


def _fromdense(
    mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32, n_dense: int = 0, n_batch: int = 0
) -> BCOO:
    """The array of a dense one; see `bcoo_fromdense`."""
    return bcoo_places.bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)


def _from_scipy_sparse(mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0) -> BCOO:
    """The array of a matrix of scipy.sparse."""
    if n_dense or n_batch:
        raise NotImplementedError(f"BCOO.from_scipy_sparse: n_dense and n_batch must be 0, got {n_dense} and {n_batch}")
    entries = mat.tocoo()
    places = np.stack([entries.row, entries.col], axis=1).astype(index_dtype or np.int32)
    return BCOO((pnp.asarray(entries.data), pnp.asarray(places)), shape=mat.shape)


def _update_layout(
    self: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> BCOO:
    """The array with other numbers of batch and dense axes; see `bcoo_update_layout`."""
    return bcoo_places.bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)


def _sum_duplicates(self: BCOO, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
    """The array with at most one element at a place, in lexicographic order, by default without zeros.

    `nse` is the number of elements that it stores, by default as many as needed; inside `jit` it must be given. With
    `remove_zeros`, the places depend on the data, so derivatives at elements that are 0 are wrong.
    """
    return (bcoo_places.eliminate_zeros if remove_zeros else bcoo_places.bcoo_sum_duplicates)(self, nse)


def _transpose(self: BCOO, axes: Sequence[int] | None = None) -> BCOO:
    """The array with its axes permuted, by default reversed; see `bcoo_transpose`."""
    return bcoo_shapes.bcoo_transpose(self, permutation=list(range(self.ndim))[::-1] if axes is None else list(axes))


def _sum(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The sum of all elements, or a sparse array of sums along axes."""
    return sparsify(lambda x: x.sum(*args, **kwargs))(self)


def _reshape(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in another shape; see `bcoo_reshape`."""
    return sparsify(lambda x: x.reshape(*args, **kwargs))(self)


def _astype(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The array with elements of another dtype."""
    return sparsify(lambda x: x.astype(*args, **kwargs))(self)


def _getitem(self: Any, idx: Any) -> Any:
    return sparsify(lambda x: x[idx])(self)


def _iter(self: BCOO) -> Iterator[Any]:
    return (_getitem(self, i) for i in range(self.shape[0]))


def _power(self: BCOO, exponent: Any) -> Any:
    known = as_index("power", "exponent", exponent) if is_array(exponent) else exponent
    if isinstance(known, int) and known <= 0:
        raise NotImplementedError(
            f"sparse rule for power is not implemented for the exponent {known}, because it would result in dense "
            "output. What to do: sparse.todense(x) makes an argument dense"
        )
    return sparsify(lambda x: pnp.power(x, exponent))(self)


def _binary(function: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[[Any, Any], Any]:
    """An operator. It leaves operands that are no arrays to the other side."""

    def applied(self: Any, other: Any) -> Any:
        if not isinstance(other, JAXSparse) and not is_array(other):
            try:
                other = pnp.asarray(other)
            except TypeError:
                return NotImplemented
        return sparsify(function)(*((other, self) if reflected else (self, other)))

    return applied


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: sparsify(function)(self)


_ARITHMETIC = {"matmul": pnp.matmul, "mul": pnp.multiply, "truediv": pnp.divide, "add": pnp.add, "sub": pnp.subtract}
_COMPARISONS = {
    "gt": pnp.greater,
    "ge": pnp.greater_equal,
    "lt": pnp.less,
    "le": pnp.less_equal,
    "eq": pnp.equal,
    "ne": pnp.not_equal,
}
_OPERATORS: dict[str, Callable[..., Any]] = {
    "__abs__": _unary(pnp.abs),
    "__neg__": _unary(pnp.negative),
    "__pos__": _unary(pnp.positive),
    **{f"__{name}__": _binary(fun) for name, fun in _ARITHMETIC.items()},
    **{f"__r{name}__": _binary(fun, True) for name, fun in _ARITHMETIC.items()},
    **{f"__{name}__": _binary(fun) for name, fun in _COMPARISONS.items()},
    "__pow__": _power,
    "__rpow__": _binary(pnp.power, True),
    "__getitem__": _getitem,
    "__iter__": _iter,
}
_METHODS: dict[str, Callable[..., Any]] = {
    "update_layout": _update_layout,
    "sum_duplicates": _sum_duplicates,
    "sort_indices": wraps(bcoo_places.bcoo_sort_indices)(lambda self: bcoo_places.bcoo_sort_indices(self)),
    "todense": wraps(bcoo_places.bcoo_todense)(lambda self: bcoo_places.bcoo_todense(self)),
    "transpose": _transpose,
    "sum": _sum,
    "reshape": _reshape,
    "astype": _astype,
}


# BCSR defines its other methods itself, such as `todense`.
_OF_BCSR = (
    *("__abs__", "__neg__", "__pos__", "__pow__", "__getitem__", "__truediv__"),
    *(f"__{side}{name}__" for name in ("matmul", "mul", "add", "sub") for side in ("", "r")),
)


def _attach(kind: type, name: str, value: Any) -> None:
    if callable(value):
        value.__name__ = name
        value.__qualname__ = f"{kind.__name__}.{name}"
    setattr(kind, name, value)


for _name, _function in {**_OPERATORS, **_METHODS}.items():
    _attach(BCOO, _name, _function)
for _name in _OF_BCSR:
    setattr(BCSR, _name, _OPERATORS[_name])
for _name in ("sum", "reshape", "astype"):
    _attach(BCSR, _name, _METHODS[_name])
_attach(BCSR, "transpose", lambda self, axes=None: sparsify(lambda x: x.transpose(axes))(self))
BCOO.__hash__ = None  # pyright: ignore[reportAttributeAccessIssue]
BCOO.fromdense = staticmethod(_fromdense)  # pyright: ignore[reportAttributeAccessIssue]
BCOO.from_scipy_sparse = staticmethod(_from_scipy_sparse)  # pyright: ignore[reportAttributeAccessIssue]
