"""From the concrete shapes of a call's arguments to the sizes of the symbols, by a plan made once for each signature.

Every dimension of every argument is checked against its symbols, and every symbol against its bounds. Imports `dims`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from pycompiler.core.dims import polynomial
from pycompiler.core.dims.dims import (
    Dim,
    Dimension,
    Shape,
    Symbol,
    decidedly_equal,
    is_at_least,
    is_multiple,
    show_shape,
)

__all__ = ["SizePlan", "check_symbolic", "size_plan", "solve", "symbols_of"]

# The name of an argument, by its position among the flat arguments.
Names = Callable[[int], str]


def _numbered(index: int) -> str:
    return f"argument {index}"


def symbols_of(avals: Iterable[Any]) -> tuple[Symbol, ...]:
    """The symbols in the shapes of avals, by name. Raises ValueError when two symbols of one name have different
    bounds."""
    found: dict[str, Symbol] = {}
    for aval in avals:
        for dim in aval.shape:
            if isinstance(dim, Dim):
                polynomial.merge(found, {symbol.name: symbol for symbol in dim.symbols()})
    return tuple([symbol for _, symbol in sorted(found.items())])


class _Step(NamedTuple):
    """A dimension that gives a symbol's size: a factor of the symbol's unit, plus a rest that is known before."""

    symbol: Symbol
    argument: int
    axis: int
    factor: int
    rest: Dimension


class SizePlan:
    """A plan that computes the sizes of symbols from concrete shapes. Raises ValueError for a symbol that the shapes
    don't determine."""

    __slots__ = ("_checks", "_ranks", "_shapes", "_steps", "symbols")

    def __init__(self, avals: Sequence[Any], names: Names = _numbered) -> None:
        self.symbols = symbols_of(avals)
        self._shapes: list[Shape] = [aval.shape for aval in avals]
        self._ranks = [len(shape) for shape in self._shapes]
        self._steps: list[_Step] = []
        places = [(i, axis, dim) for i, shape in enumerate(self._shapes) for axis, dim in enumerate(shape)]
        self._find_steps([(i, axis, dim) for i, axis, dim in places if isinstance(dim, Dim)], names)
        used = {(step.argument, step.axis) for step in self._steps}
        self._checks = [place for place in places if (place[0], place[1]) not in used]

    def _find_steps(self, places: list[tuple[int, int, Dim]], names: Names) -> None:
        # Plain symbols first: messages about them are the plainest.
        places = sorted(places, key=lambda place: place[2].symbol() is None)
        known: set[str] = set()
        found = True
        while found:
            found = False
            for argument, axis, dim in places:
                unknown = [symbol for symbol in dim.symbols() if symbol.name not in known]
                if len(unknown) == 1:
                    linear = dim.linear_in(unknown[0])
                    if linear is not None:
                        self._steps.append(_Step(unknown[0], argument, axis, *linear))
                        known.add(unknown[0].name)
                        found = True
        for symbol in self.symbols:
            if symbol.name not in known:
                where = [f"{names(i)} has {d} on axis {a}" for i, a, d in places if symbol in d.symbols()]
                raise ValueError(
                    f"the size of {symbol.name} does not follow from the shapes of the arguments: {', '.join(where)}. "
                    f"A symbol must be the size of some argument's axis, or stand in one as in 2*{symbol.name} + 1"
                )

    def solve(self, shapes: Sequence[Sequence[int]], names: Names = _numbered) -> dict[str, int]:
        """The size of each symbol, in the order of their names. Raises ValueError for shapes that do not fit."""
        sizes: dict[str, int] = {}
        for index, (shape, rank) in enumerate(zip(shapes, self._ranks, strict=True)):
            if len(shape) != rank:
                raise ValueError(
                    f"{names(index)} has {len(shape)} dimensions, {show_shape(shape)}; expected {rank}, "
                    f"{show_shape(self._shapes[index])}"
                )
        for symbol, argument, axis, factor, rest in self._steps:
            given = shapes[argument][axis]
            size = given - (rest if isinstance(rest, int) else rest.evaluate(sizes))
            units, left = divmod(size, factor)
            size = units * symbol.multiple_of
            if left or not symbol.holds(size):
                self._refuse(symbol, argument, axis, given, names)
            sizes[symbol.name] = size
        for argument, axis, dim in self._checks:
            given = shapes[argument][axis]
            expected = dim if isinstance(dim, int) else dim.evaluate(sizes)
            if given != expected:
                self._differ(argument, axis, given, sizes, names)
        return sizes if len(sizes) < 2 else {symbol.name: sizes[symbol.name] for symbol in self.symbols}

    def _refuse(self, symbol: Symbol, argument: int, axis: int, given: int, names: Names) -> NoReturn:
        dim = self._shapes[argument][axis]
        equals = "" if str(dim) == symbol.name else f" = {dim}"
        raise ValueError(
            f"axis {axis} of {names(argument)} is {given}{equals}, but {symbol.name} must be {symbol.described()}: "
            f"it is {symbol!r}"
        )

    def _differ(self, argument: int, axis: int, given: int, sizes: dict[str, int], names: Names) -> NoReturn:
        dim = self._shapes[argument][axis]
        place = f"axis {axis} of {names(argument)}"
        if isinstance(dim, int):
            raise ValueError(f"{place} is {given}, expected {dim}")
        known = " and ".join(
            f"{step.symbol.name} is {sizes[step.symbol.name]} by axis {step.axis} of {names(step.argument)}"
            for step in self._steps
            if step.symbol in dim.symbols()
        )
        if dim.symbol() is not None:
            raise ValueError(f"{known}, but {given} by {place}")
        raise ValueError(f"{place} is {given}, expected {dim} = {dim.evaluate(sizes)}: {known}")


def check_symbolic(avals: Sequence[Any], shapes: Sequence[Shape], names: Names) -> None:
    """Check that shapes with symbols of another function fit these avals, at every size.

    Raises ValueError, or InconclusiveDimensionError if the bounds of their symbols leave it open.
    """
    known: dict[Symbol, Dimension] = {}
    for index, (aval, shape) in enumerate(zip(avals, shapes, strict=True)):
        for axis, (dim, size) in enumerate(zip(aval.shape, shape, strict=True)):
            symbol = dim.symbol() if isinstance(dim, Dim) else None
            if symbol is None:
                continue
            fits = is_multiple(size, symbol.multiple_of) and is_at_least(size, symbol.min)
            if not fits or (symbol.max is not None and not is_at_least(symbol.max, size)):
                raise ValueError(
                    f"axis {axis} of {names(index)} is {size}, but {symbol.name} must be {symbol.described()}: it is "
                    f"{symbol!r}"
                )
            if not decidedly_equal(size, known.setdefault(symbol, size)):
                raise ValueError(f"{symbol.name} is {known[symbol]}, but {size} by axis {axis} of {names(index)}")


@functools.lru_cache(maxsize=1 << 10)
def size_plan(avals: tuple[Any, ...]) -> SizePlan:
    """The plan of a signature, cached."""
    return SizePlan(avals)


def solve(avals: Sequence[Any], shapes: Sequence[Sequence[int]], names: Names = _numbered) -> dict[str, int]:
    """The sizes of the symbols in `avals`, given the concrete shapes. Raises ValueError for shapes that do not fit."""
    return size_plan(tuple(avals)).solve(shapes, names)
