"""The common part of all formats: the class `JAXSparse`, the errors, and functions of one member of a batch."""

from __future__ import annotations

import abc
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pycompiler.core.tracing.interpretation import concrete_or_error
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_flatten, tree_leaves
from pycompiler.lax.operands import Array
from pycompiler.transforms.mapping import vmap

Shape = tuple[int, ...]


class SparseEfficiencyError(ValueError):
    """A layout would store so many zeros that the matrix isn't sparse any more."""


class SparseEfficiencyWarning(UserWarning):
    """An operation takes much memory or time."""


class Layout(NamedTuple):
    """The numbers of batch, sparse and dense axes, and of stored elements."""

    n_batch: int
    n_sparse: int
    n_dense: int
    nse: int


class JAXSparse(abc.ABC):
    """The base of all sparse matrices: `data`, the stored elements, `shape`, and arrays with the places of elements.

    Operations that a format does not have raise NotImplementedError.
    """

    data: Any
    shape: Shape

    # A matrix has no hash: `==` compares elements.
    __hash__ = None  # pyright: ignore[reportAssignmentType]
    # An array leaves an operator with a sparse matrix to this class.
    __array_priority__ = 200

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return get_aval(self.data).dtype

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """The number of stored elements (of one member, if there are batch axes)."""

    @property
    def size(self) -> int:
        """The number of elements of the matrix, with zeros that are not stored."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def T(self) -> Any:  # noqa: N802
        """The matrix with its axes in reverse order."""
        return self.transpose()

    @abc.abstractmethod
    def transpose(self, axes: Any = None) -> Any:
        """The matrix with its axes permuted."""

    @abc.abstractmethod
    def todense(self) -> Array:
        """The matrix as an array. Elements at one place are added."""

    @abc.abstractmethod
    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arrays, and the static data."""

    def block_until_ready(self) -> Any:
        """Wait until the arrays are computed. Returns the matrix."""
        for part in self.tree_flatten()[0]:
            part.block_until_ready()
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def described(self) -> str:
        """The layout, in the form for `repr`."""
        return f"nse={self.nse}"

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            text = f"{name}({self.dtype.name}{list(self.shape)}, {self.described()})"
        except Exception:  # a tree with other leaves than arrays
            return f"{name}(<invalid>)"
        return f"{type(self.data).__name__}[{text}]" if isinstance(self.data, Tracer) else text

    def _lacks(self, name: str) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}.{name}: this format does not have it. What to do: use BCOO, or .todense()"
        )

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum of all elements, or along axes."""
        self._lacks("sum")

    def __neg__(self) -> Any:
        self._lacks("__neg__")

    def __pos__(self) -> Any:
        self._lacks("__pos__")

    def __matmul__(self, other: Any) -> Any:
        self._lacks("__matmul__")

    def __rmatmul__(self, other: Any) -> Any:
        self._lacks("__rmatmul__")

    def __mul__(self, other: Any) -> Any:
        self._lacks("__mul__")

    def __rmul__(self, other: Any) -> Any:
        self._lacks("__rmul__")

    def __add__(self, other: Any) -> Any:
        self._lacks("__add__")

    def __radd__(self, other: Any) -> Any:
        self._lacks("__radd__")

    def __sub__(self, other: Any) -> Any:
        self._lacks("__sub__")

    def __rsub__(self, other: Any) -> Any:
        self._lacks("__rsub__")

    def __getitem__(self, item: Any) -> Any:
        self._lacks("__getitem__")


def is_sparse(x: object) -> bool:
    """Whether a value is a sparse matrix."""
    return isinstance(x, JAXSparse)


def concrete_count(name: str, nse: Any) -> int:
    """The number of stored elements as an int. Raises ConcretizationTypeError if it is traced: it is a size."""
    return concrete_or_error(operator.index, nse, f"{name} needs nse, the number of stored elements, inside of jit")


def count_stored(mat: Array, n_batch: int, n_dense: int) -> Any:
    """The number of elements that a dense array needs: the maximum over its batches of the number of nonzeros."""
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mask.ndim - n_dense, mask.ndim)))
    return mask.sum(tuple(range(n_batch, mask.ndim))).max(initial=0)


def added(place: Any, values: Any, **how: Any) -> Array:
    """An array with values added at a place, `x.at[index]`. As in a sum of NumPy, bools are added by "or"."""
    return (place.max if get_aval(values).dtype == np.bool_ else place.add)(values, **how)


def fits_batch(shape: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether axes of an array fit those of the matrix: with the same sizes, or of size 1 if members share the
    array."""
    return len(shape) == len(whole) and all(s in (1, w) for s, w in zip(shape, whole, strict=True))


def over_batches(fun: Callable[..., Any], count: int, in_axes: Any = 0) -> Callable[..., Any]:
    """`fun`, mapped `count` times over the first axis of its arguments. Arguments of size 1 there are shared."""
    for _ in range(count):
        fun = _over_batch(fun, in_axes)
    return fun


def _over_batch(fun: Callable[..., Any], in_axes: Any) -> Callable[..., Any]:
    def mapped(*args: Any) -> Any:
        entries = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        leaves, tree = tree_flatten(args)
        axes = [axis for arg, axis in zip(args, entries, strict=True) for _ in tree_leaves(arg)]
        size = max(get_aval(x).shape[0] for x, axis in zip(leaves, axes, strict=True) if axis is not None)
        given: list[Any] = []
        dims: list[int | None] = []
        for x, axis in zip(leaves, axes, strict=True):
            shared = axis is not None and size > 1 and get_aval(x).shape[0] == 1
            given.append(x[0] if shared else x)
            dims.append(None if shared else axis)
        return vmap(lambda *xs: fun(*tree.unflatten(xs)), tuple(dims))(*given)

    return mapped
