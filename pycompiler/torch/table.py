"""The table of ATen's operations: for each, a composition of `lax` and `numpy`.

Each family's file has a `Family` of entries, and `aten` joins them. An entry is called with an `Out`, the description
of the wanted result, and the arguments of the operation, which are tracers, numbers, dimensions, and lists of them. It
returns the result, or a tuple for an operation with several. If an entry can't express a call, it raises
NotImplementedError, and the operation stays with torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath, ours, result_dtype
from pycompiler.torch.sizes import Sizes

__all__ = ["Bound", "Check", "Entry", "Family", "Out", "cast", "conj", "floats", "times"]

Entry = Callable[..., Any]


@dataclass
class Bound:
    """Indices of an operation along an axis."""

    node: torch.fx.Node
    axis: int
    index: Any
    size: Any
    negative: bool

    def state(self) -> Any:
        """Three numbers: whether an index is out of bounds, this index, and the size."""
        # A comparison in int64, of which every index and size is one.
        index, size = cast(self.index, np.dtype(np.int64)), cast(self.size, np.dtype(np.int64))
        least = -size if self.negative else pnp.zeros((), np.int64)
        largest, smallest = pnp.max(index, initial=-1), pnp.min(index, initial=0)
        outside = (largest >= size) | (smallest < least)
        return pnp.stack([cast(outside, np.dtype(np.int64)), pnp.where(largest >= size, largest, smallest), size])

    def error(self, index: int, size: int) -> Exception:
        text = f"index {index} is out of bounds for dimension {self.axis} with size {size}"
        return IndexError(_at_its_line(self.node, text))


@dataclass
class Check:
    """A condition on the data of an operation, and what it means that it does not hold."""

    node: torch.fx.Node
    holds: Any
    why: str

    def state(self) -> Any:
        """Three numbers, as a Bound has them: the first says whether the condition does not hold."""
        return pnp.stack([cast(~self.holds, np.dtype(np.int64)), *[pnp.zeros((), np.int64)] * 2])

    def error(self, index: int, size: int) -> Exception:
        return RuntimeError(_at_its_line(self.node, self.why))


def _at_its_line(node: torch.fx.Node, text: str) -> str:
    """A message about an operation, with the line of the program."""
    name = getattr(node.target, "_opname", str(node.target))
    lines = [line.strip() for line in (node.stack_trace or "").splitlines() if line.strip().startswith("File ")]
    return f"{name}: {text}" + (f" ({lines[-1]})" if lines else "")


class Out:
    """The wanted result of a node: torch has computed its shape and dtype."""

    def __init__(
        self, node: torch.fx.Node, sizes: Sizes, key: Callable[[], Any], bounds: list[Bound | Check] | None = None
    ) -> None:
        self.node = node
        # Where the bounds of indices and checks of data are noted, which the program's results show. None inside loops
        # and branches.
        self.bounds = bounds
        self.sizes = sizes
        # A key of `random` for only this operation.
        self.key = key
        self.value: Any = node.meta.get("val")

    def _first(self) -> Any:
        return self.value[0] if isinstance(self.value, (tuple, list)) else self.value

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the result, or of the first of several."""
        return ours(self._first().dtype)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the result, or of the first of several."""
        return self.sizes.shape(self._first().shape)

    @property
    def compute(self) -> np.dtype[Any]:
        """The dtype in which the result is computed."""
        return opmath(self.dtype)

    def argument(self, number: int) -> Any:
        """The value that torch has for an argument: a fake tensor, a number, a list."""
        given = self.node.args[number]
        return torch.fx.map_arg(given, lambda node: node.meta["val"])

    def require_within(self, index: Any, size: Any, axis: int = 0, negative: bool = False) -> None:
        """Note that indices must be within an axis of this size; with `negative`, they may count from its end."""
        if self.bounds is not None and hasattr(index, "dtype"):
            self.bounds.append(Bound(self.node, axis, index, size, negative))

    def require(self, holds: Any, why: str) -> None:
        """Note a condition on the data: if an element of `holds` is false, the call is a RuntimeError that says why."""
        if self.bounds is not None:
            self.bounds.append(Check(self.node, pnp.all(holds), why))

    def common(self, *numbers: int) -> np.dtype[Any]:
        """The common dtype of some of the arguments."""
        return result_dtype(*[self.argument(number) for number in numbers])


class Family:
    """The entries of one file, by names of `torch.ops.aten`: "add" is for all overloads, "add.Tensor" for one. Names of
    other operations have a prefix, as "prims::fma"."""

    def __init__(self) -> None:
        self.entries: dict[Any, Entry] = {}
        # By full names, for operations of other packages: they are registered when the package is imported.
        self.of_packages: dict[str, Entry] = {}

    def __call__(self, *names: str) -> Callable[[Entry], Entry]:
        def enter(function: Entry) -> Entry:
            for name in names:
                self.add(name, function)
            return function

        return enter

    def of_package(self, name: str) -> Callable[[Entry], Entry]:
        """Enter a function for an operation of another package: "package::operation"."""

        def enter(function: Entry) -> Entry:
            assert name not in self.of_packages, f"{name} has two entries"
            self.of_packages[name] = function
            return function

        return enter

    def add(self, name: str, function: Entry) -> None:
        """Enter a function for one operation."""
        namespace, _, name = name.rpartition("::")
        packet, _, overload = name.partition(".")
        target = getattr(getattr(torch.ops, namespace or "aten"), packet)
        target = getattr(target, overload) if overload else target
        assert target not in self.entries, f"{name} has two entries"
        self.entries[target] = function


def cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """An array or a number as an array of this dtype, converted as torch does."""
    if not hasattr(x, "dtype"):
        if isinstance(x, complex) and dtype.kind != "c":
            x = x.real
        return lax.full((), x, dtype)
    if x.dtype == dtype:
        return x
    if dtype.kind in "iu" and dtype.itemsize < 4 + (dtype.kind == "u") and floats(x.dtype):
        # Torch converts floats to a wider signed integer, of which the low bits stay: -1.0 is 255 as uint8.
        x = lax.convert_element_type(x, np.dtype(np.int64 if dtype.itemsize == 4 else np.int32))
    return lax.convert_element_type(x, dtype)


def times(x: Any, number: Any) -> Any:
    """A product with a number, which only a call may know."""
    return x if isinstance(number, (int, float)) and number == 1 else x * cast(number, x.dtype)


def conj(x: Any) -> Any:
    """The conjugate; of real numbers themselves."""
    return lax.conj(x) if x.dtype.kind == "c" else x


def floats(dtype: np.dtype[Any]) -> bool:
    """Whether it is a float or a complex dtype; ml_dtypes' have the kind V."""
    return dtype.kind not in "biu"
