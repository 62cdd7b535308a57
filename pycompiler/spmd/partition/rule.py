"""The type of a partitioning rule of a family of operations, and helpers for rules. `rules`, `indexed`, `windowed` and
`stacks`, which define rules, import this module; `table` joins them.

A rule gets a context, the equation and the operands' parts, and returns the parts of the results. If it returns None,
the operands are gathered, and every device computes everything. The context is the partitioner; or, for the types of
arrays over Explicit mesh axes (`typing`), one that computes layouts alone. So a rule acts on values only through it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pycompiler.core.mesh.spec import Layout
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.spmd.partition.layouts import Part, Sizes, parts_of

Results = list[Part] | None
# The mesh's axes that divide a dimension.
Names = tuple[str, ...]


class Context(Protocol):
    """The part of the partitioner that rules use."""

    @property
    def sizes(self) -> Sizes:
        """The sizes of the mesh's axes."""
        ...

    def moved(self, part: Part, layout: Layout) -> Any:
        """The value in another layout. If it must be gathered, a remark says so; for types, it is an error."""
        ...

    def bound(self, equation: Equation, values: Sequence[Any], layouts: Sequence[Layout], **params: Any) -> list[Part]:
        """The operation on local values, with its results in these layouts."""
        ...

    def combined(self, over: Primitive, part: Part, names: Names) -> Part:
        """The parts of the devices along some axes, reduced by a collective."""
        ...

    def stacked(self, part: Part, names: Names) -> Any:
        """The values of the devices along some axes, stacked along a new first dimension."""
        ...


Rule = Callable[[Context, Equation, Sequence[Part]], Results]


def shape_of(atom: Any) -> tuple[int, ...]:
    """The shape of the whole array."""
    return atom.aval.shape


def without(layout: Layout, dims: Sequence[int]) -> Layout:
    """The layout with these dimensions undivided."""
    return tuple([() if dim in dims else names for dim, names in enumerate(layout)])


def local(shape: Sequence[int], layout: Layout, sizes: Sizes) -> tuple[int, ...]:
    """The shape of one device's part."""
    return tuple([n // parts_of(names, sizes) for n, names in zip(shape, layout, strict=True)])


class Axes:
    """The axes that already divide a dimension of the result. No axis may divide two dimensions."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def free(self, *candidates: Names) -> Names:
        """The first candidate whose axes are all free."""
        found = next((names for names in candidates if names and not self.used.intersection(names)), ())
        self.used.update(found)
        return found
