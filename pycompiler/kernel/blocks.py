"""The blocks of a kernel's arrays: `BlockSpec`, `GridSpec`, and the plan for one array. `calls` imports this module."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.source import function_location
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short


@dataclass(frozen=True)
class Blocked:
    """A dimension in blocks of this size: the index map gives the number of the block. An integer means the same."""

    block_size: int


@dataclass(frozen=True)
class Element:
    """A dimension in blocks of this size, which may overlap: the index map gives the first element.

    `padding` has the numbers of elements before and after the array. They are zero.
    """

    block_size: int
    padding: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Squeezed:
    """A dimension along which a block has one element. The block does not have the dimension. None means the same."""


squeezed = Squeezed()


class RevisitMode(enum.Enum):
    """The programs that may visit a block of an output again: the next ones, or any. Here, any may."""

    IMMEDIATE = "immediate"
    ANY = "any"


@dataclass(frozen=True)
class Buffered:
    """The number of copies of a block in fast memory, for a device that copies blocks ahead. A CPU does not: it changes
    nothing."""

    buffer_count: int
    use_lookahead: bool = False
    revisit: RevisitMode | None = None


class MemoryRef(ShapeDtypeStruct):
    """The type of a scratch array in a memory: `inner_aval` has its shape and dtype."""

    __slots__ = ("memory_space",)

    memory_space: Memory

    def __init__(self, inner_aval: Any, memory_space: Memory) -> None:
        super().__init__(inner_aval.shape, inner_aval.dtype)
        object.__setattr__(self, "memory_space", memory_space)


class Memory:
    """The base of enumerations of memories. A call of a member returns the type of a scratch array."""

    def from_type(self, type: Any) -> MemoryRef:
        """The type of a scratch array with the shape and dtype of `type`."""
        return MemoryRef(type, self)

    def __call__(self, shape: Sequence[int], dtype: Any) -> MemoryRef:
        return MemoryRef(ShapeDtypeStruct(shape, dtype), self)


class MemorySpace(Memory, enum.Enum):
    """The memory of a block or of scratch arrays. A CPU has one memory, so all names mean the same.

    A call of a member returns the type of a scratch array.

    >>> from pycompiler import kernel
    >>> kernel.MemorySpace.ANY((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    ANY = "any"
    DEFAULT = "default"
    HOST = "host"


ANY = MemorySpace.ANY
HOST = MemorySpace.HOST


@dataclass(frozen=True)
class BlockSpec:
    """The block of an array that one program accesses.

    `block_shape` has the size of the block in each dimension of the array: an integer, `Element`, or None for one
    element whose dimension the block does not have. Without it, the block is the array. `index_map` takes the index in
    the grid, and returns the number of the block in each dimension. Without it, the numbers are zeros.
    `memory_space` and `pipeline_mode` change nothing on a CPU.
    """

    block_shape: Sequence[Any] | None = None
    index_map: Callable[..., Any] | None = None
    memory_space: Any = field(kw_only=True, default=None)
    pipeline_mode: Buffered | None = None

    replace = replace

    def __post_init__(self) -> None:
        if self.block_shape is not None and not isinstance(self.block_shape, Sequence):
            raise TypeError(f"BlockSpec: block_shape must be a tuple or None, got {self.block_shape!r}")
        if self.index_map is not None and not callable(self.index_map):
            raise TypeError(
                f"BlockSpec: index_map must be a function of the index in the grid, got {self.index_map!r}. What to "
                "do: give the block's shape first, BlockSpec(block_shape, index_map)"
            )
        if self.memory_space is not None and not isinstance(self.memory_space, Memory):
            raise ValueError(
                f"BlockSpec: memory_space is {self.memory_space!r} of type {type(self.memory_space).__name__}, "
                "expected None or a MemorySpace: a CPU has one memory"
            )
        if self.pipeline_mode is not None and not isinstance(self.pipeline_mode, Buffered):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"BlockSpec: pipeline_mode is {self.pipeline_mode!r}, expected None or a Buffered")


class NoBlockSpec:
    """The spec of a whole array: `no_block_spec`."""

    def __repr__(self) -> str:
        return "no_block_spec"


no_block_spec = NoBlockSpec()
BlockDim = Element | Squeezed | Blocked


@dataclass(frozen=True)
class GridSpec:
    """The arguments `grid`, `in_specs`, `out_specs` and `scratch_shapes` of `kernel_call`, in one object."""

    grid: Any = ()
    in_specs: Any = None
    out_specs: Any = None
    scratch_shapes: Any = ()

    # The number of first arguments that index maps read.
    num_scalar_prefetch = 0


@dataclass(frozen=True, init=False)
class PrefetchScalarGridSpec(GridSpec):
    """A `GridSpec` for kernels whose first arguments decide on the blocks of the others.

    Index maps take the index in the grid and references to the first `num_scalar_prefetch` arguments. The kernel gets
    references to these arguments, too, whole and first. `in_specs` has the specs of the other arguments.
    """

    num_scalar_prefetch: int

    def __init__(
        self,
        num_scalar_prefetch: int,
        grid: Any = (),
        in_specs: Any = None,
        out_specs: Any = None,
        scratch_shapes: Any = (),
    ) -> None:
        super().__init__(grid, in_specs, out_specs, scratch_shapes)
        object.__setattr__(self, "num_scalar_prefetch", num_scalar_prefetch)


class Blocks(NamedTuple):
    """The blocks of one array."""

    # For messages: "in_specs[0]".
    what: str
    shape: tuple[int, ...]
    # The size of a block in each dimension; 0 is one element, whose dimension the block does not have.
    sizes: tuple[int, ...]
    # The number of elements of one step of the index map.
    steps: tuple[int, ...]
    # Zeros before and after the array.
    padding: tuple[tuple[int, int], ...]
    index_map: Callable[..., Any] | None

    @property
    def padded(self) -> tuple[int, ...]:
        """The shape of the array with its padding: whole blocks."""
        return tuple([low + size + high for size, (low, high) in zip(self.shape, self.padding, strict=True)])

    def indices(self, index: Sequence[Any], scalars: Sequence[Any] = ()) -> list[Any]:
        """The index map's results for an index in the grid, and references to prefetched scalars."""
        if self.index_map is None:
            return [0] * len(self.shape)
        why = f"the grid has {len(index)} dimensions"
        why += f", and {len(scalars)} arguments are prefetched scalars" if scalars else ""
        check_arguments(f"the index map of {self.what}", self.index_map, (*index, *scalars), why)
        found = self.index_map(*index, *scalars)
        where = f"kernel_call: the index map of {self.what}, {function_location(self.index_map)},"
        numbers: list[Any] = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(numbers) != len(self.shape):
            raise ArgumentError(
                f"{where} returned {len(numbers)} indices, expected {len(self.shape)}: one for each dimension of the "
                f"array, whose shape is {self.shape}"
            )
        for number in numbers:
            aval = get_aval(number) if is_array(number) else None
            if aval is None or aval.shape or not dtypes.is_integer(aval.dtype):
                shown = repr(number) if aval is None else short(aval)
                raise ArgumentError(f"{where} returned {shown}, expected integers without dimensions")
        return numbers

    def check_inside(self, dim: int, lowest: int, highest: int) -> None:
        """Raise ArgumentError if the blocks from one index to another leave the array along a dimension."""
        size = max(self.sizes[dim], 1)
        last = (self.padded[dim] - size) // self.steps[dim]
        if lowest < 0 or highest > last:
            what = "blocks" if self.steps[dim] == size else "elements"
            raise ArgumentError(
                f"kernel_call: the index map of {self.what} gives {lowest if lowest < 0 else highest} along dimension "
                f"{dim}, expected from 0 to {last}: the array of shape {self.shape} has {last + 1} {what} there, of "
                f"{size}. What to do: change the grid or the index map"
            )


def check_arguments(what: str, function: Callable[..., Any], given: Sequence[Any], why: str, **named: Any) -> None:
    """Raise TypeError if a function of the user does not accept the arguments that `kernel_call` gives it."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a callable without a signature
        return
    try:
        signature.bind(*given, **named)
    except TypeError as error:
        count = len(given) + len(named)
        raise TypeError(
            f"kernel_call: {what}, {function_location(function)}, takes {signature}, and gets {count} arguments: {why} "
            f"({error})"
        ) from None


def blocks_of(what: str, shape: tuple[int, ...], spec: BlockSpec | None) -> Blocks:
    """The blocks that a spec makes of an array of this shape. Raises ArgumentError for sizes that do not fit it."""
    given = shape if spec is None or spec.block_shape is None else tuple(spec.block_shape)
    if len(given) != len(shape):
        raise ArgumentError(
            f"kernel_call: {what} has the block shape {given}, and the array has the shape {shape}: expected "
            f"{len(shape)} sizes. What to do: None is the size of a dimension that the block does not have"
        )
    sizes: list[int] = []
    steps: list[int] = []
    padding: list[tuple[int, int]] = []
    for dim, (entry, whole) in enumerate(zip(given, shape, strict=True)):
        if not isinstance(whole, int):
            raise ArgumentError(f"kernel_call: {what}: dimension {dim} of {shape} is a symbol, expected a known size")
        size, low, high = 0, 0, 0
        if isinstance(entry, Element):
            size, (low, high) = entry.block_size, entry.padding
        elif entry is not None and not isinstance(entry, Squeezed):
            size = entry.block_size if isinstance(entry, Blocked) else as_index(f"kernel_call: {what}", "a size", entry)
            high = -whole % max(size, 1)
        if (entry is not None and not isinstance(entry, Squeezed) and size < 1) or low < 0 or high < 0:
            raise ArgumentError(
                f"kernel_call: {what} has {entry!r} for dimension {dim} of {shape}, expected a positive size"
            )
        if size > low + whole + high:
            raise ArgumentError(
                f"kernel_call: {what} has {entry!r} for dimension {dim} of {shape}, expected at most "
                f"{low + whole + high} elements"
            )
        sizes.append(size)
        steps.append(1 if isinstance(entry, Element) else max(size, 1))
        padding.append((low, high))
    index_map = None if spec is None else spec.index_map
    return Blocks(what, shape, tuple(sizes), tuple(steps), tuple(padding), index_map)
