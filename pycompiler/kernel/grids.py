"""The grid of a kernel: the numbers of programs, and the names of dimensions. `traces` imports this module."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.kernel.blocks import GridSpec, no_block_spec
from pycompiler.kernel.independence import ARBITRARY, PARALLEL


class Grid(NamedTuple):
    """The numbers of programs along each dimension, and the names of the dimensions (None: without a name).

    `sizes` has None, and `counts` the traced value, of a number that is not known while the program is traced.
    """

    sizes: tuple[Any, ...]
    names: tuple[Hashable, ...]
    counts: tuple[Any, ...]

    def axes(self, index: Sequence[Any]) -> dict[Hashable, tuple[int, Any]]:
        """The size and the index of this program along each dimension with a name."""
        entries = zip(self.names, self.sizes, index, strict=False)
        return {name: (size, place) for name, size, place in entries if name is not None}


def joined(given: GridSpec | None, others: GridSpec) -> GridSpec:
    """A `grid_spec`, or the four arguments in its place. Raises ArgumentError if both are given."""
    if given is None:
        return others
    if not isinstance(given, GridSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"kernel_call: grid_spec is {given!r}, expected a GridSpec")
    specs = (others.in_specs, others.out_specs)
    if any(spec is not None and spec is not no_block_spec for spec in specs) or (
        (others.grid, others.scratch_shapes) != ((), ())
    ):
        raise ArgumentError(
            "kernel_call: grid_spec is given beside grid, in_specs, out_specs or scratch_shapes, which it has, "
            "too. What to do: give either"
        )
    return given


def grid_of(given: Any, interpret: bool) -> Grid:
    """A grid from an integer or a sequence of integers and of pairs (name, integer). With `interpret`, an integer may
    be traced."""
    entries = tuple(given) if isinstance(given, Sequence) else (given,)
    pairs = [entry if isinstance(entry, tuple) and len(entry) == 2 else (None, entry) for entry in entries]
    for name, size in pairs:
        if isinstance(size, Tracer) and not (interpret and name is None and is_scalar_integer(size)):
            raise ArgumentError(
                f"kernel_call: grid is {given!r}, and {size!r} has no value while the program is traced. What to do: "
                "give interpret=True and no name; or give the largest number of programs, pass the number as an "
                "argument, and write the body below `when`"
            )
    counts = [
        size if isinstance(size, Tracer) else as_index("kernel_call", "a size of grid", size) for _, size in pairs
    ]
    sizes = tuple([None if isinstance(size, Tracer) else size for size in counts])
    if any(size is not None and (not isinstance(size, int) or size < 0) for size in sizes):
        raise ArgumentError(
            f"kernel_call: grid is {given!r}, expected numbers of programs, from 0, or pairs of a name and a number"
        )
    names = tuple([name for name, _ in pairs])
    known = [name for name in names if name is not None]
    if len(set(known)) != len(known):
        raise ArgumentError(f"kernel_call: grid is {given!r}, and a name occurs twice")
    return Grid(sizes, names, tuple(counts))


def is_scalar_integer(x: Any) -> bool:
    """Whether an array is one integer."""
    aval = get_aval(x)
    return not aval.shape and dtypes.is_integer(aval.dtype)


def semantics_of(given: Sequence[Any] | None, grid: tuple[int, ...]) -> tuple[str, ...] | None:
    """The semantics of each dimension: names, or members of an enumeration with such values."""
    if given is None:
        return None
    names = tuple([getattr(name, "value", name) for name in given])
    if len(names) != len(grid) or any(name not in (PARALLEL, ARBITRARY) for name in names):
        raise ArgumentError(
            f"kernel_call: dimension_semantics is {given!r}, expected {len(grid)} names: {PARALLEL!r} or {ARBITRARY!r} "
            f"for each dimension of the grid {grid}"
        )
    return names
