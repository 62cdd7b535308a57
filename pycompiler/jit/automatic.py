"""`jit(f, dynamic="auto")`: finds the dimensions of the arguments that change between calls.

The first call of a structure is compiled for its sizes. If the sizes of a later call differ, the differing dimensions
become symbols, one for each group of dimensions that were equal in all calls. The program is then compiled once more,
for every size. Sizes that this program can't serve get their own compilations. `jit` imports this module and `dynamic`.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.types.aval import shaped
from pycompiler.jit.dynamic import Names, symbol_name

# The pattern of sizes, one entry for each dimension of the arguments: the number of its group, or its fixed size.
_Pattern = tuple[tuple[str, int], ...]

# The maximum for one structure. With more patterns, the sizes of the program have nothing in common.
_MOST_PATTERNS = 16

# The beginning of messages that name the user's line.
_PLACE = re.compile(r".*:\d+( \(.*\))?")


@dataclass(frozen=True, eq=False)
class _Symbolic:
    """The arguments of a program with symbols. `places` has, for each symbol, a dimension that gives its size."""

    pattern: _Pattern
    # The minimum of every symbol.
    least: int
    avals: tuple[ShapedArray, ...]
    places: tuple[tuple[str, int], ...]

    def sizes(self, sizes: Sequence[int]) -> dict[str, int]:
        return {name: sizes[place] for name, place in self.places}


@dataclass(frozen=True)
class Candidate:
    """A call that symbols may serve: the symbolic avals, and the size of each symbol. `is_known`: a program for them
    is already compiled."""

    program: _Symbolic
    sizes: dict[str, int]
    is_known: bool
    # The first dimension that differs from an earlier call: (leaf, axis, before, now).
    why: tuple[int, int, int, int] | None

    @property
    def avals(self) -> tuple[ShapedArray, ...]:
        return self.program.avals


@dataclass
class _Form:
    """The known calls of one structure. The sizes of all leaves are numbered consecutively."""

    first: tuple[int, ...]
    # Dimensions that were equal in all calls have the same number.
    groups: tuple[int, ...]
    varying: frozenset[int] = frozenset()
    # The compiled programs, and the reasons of those that could not be compiled.
    compiled: dict[_Pattern, _Symbolic] = field(default_factory=dict)
    refused: dict[tuple[_Pattern, int], str] = field(default_factory=dict)


class Automatic:
    """The known calls of one function."""

    def __init__(self) -> None:
        self._forms: Cache[_Form] = Cache(lambda: config.cache_size)
        # Programs with symbols that also serve sizes of 1.
        self._checked: weakref.WeakSet[_Symbolic] = weakref.WeakSet()
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Drop all known calls."""
        self._forms.clear()

    def candidate(self, fixed: Hashable, avals: Sequence[ShapedArray], names: Names) -> Candidate | None:
        """The symbols that may serve this call. None if it must be compiled for its own sizes."""
        key = (fixed, tuple([(aval.dtype, aval.weak_type, aval.ndim) for aval in avals]))
        sizes = tuple([size for aval in avals for size in aval.shape])
        with self._lock:
            form = self._forms.get(key)
            if form is None:
                self._forms.put(key, _Form(sizes, _split((0,) * len(sizes), sizes)))
                return None
            for program in form.compiled.values():
                if _fits(program.pattern, sizes, program.least):
                    return Candidate(program, program.sizes(sizes), True, None)
            groups = _split(form.groups, sizes)
            differing = [i for i, (one, other) in enumerate(zip(form.first, sizes, strict=True)) if one != other]
            varying = form.varying.union(differing)
            pattern = tuple([("group", groups[i]) if i in varying else ("size", size) for i, size in enumerate(sizes)])
            if not differing or len(form.compiled) + len(form.refused) >= _MOST_PATTERNS:
                return None
            for least in (1, 2):
                if (pattern, least) not in form.refused and _fits(pattern, sizes, least):
                    leaf, axis = _leaf_and_axis(avals, differing[0])
                    why = (leaf, axis, form.first[differing[0]], sizes[differing[0]])
                    program = _symbolic(pattern, avals, least, names())
                    return Candidate(program, program.sizes(sizes), False, why)
            return None

    def is_checked_at_one(self, candidate: Candidate) -> bool:
        """Whether sizes of 1 are absent or already checked: NumPy's rules for 1 (squeeze) do not hold for symbols."""
        return 1 not in candidate.sizes.values() or candidate.program in self._checked

    def checked_at_one(self, fixed: Hashable, candidate: Candidate, serves: bool) -> None:
        """Record whether the program of a candidate serves sizes of 1, or these need their own compilation."""
        form, program = self._form(fixed, candidate), candidate.program
        with self._lock:
            if serves:
                self._checked.add(program)
            elif form is not None:
                if program.pattern in form.compiled:
                    form.compiled[program.pattern] = replace(program, least=2)
                form.refused[program.pattern, 1] = "a size of 1 is a case of its own"

    def refusal(self, fixed: Hashable, avals: Sequence[ShapedArray]) -> str | None:
        """The last reason why a call of this structure was not compiled with symbols, or None."""
        key = (fixed, tuple([(aval.dtype, aval.weak_type, aval.ndim) for aval in avals]))
        form = self._forms.get(key)
        return next(reversed(form.refused.values())) if form is not None and form.refused else None

    def succeeded(self, fixed: Hashable, avals: Sequence[ShapedArray], candidate: Candidate) -> None:
        """Record that the program of a candidate is compiled."""
        form = self._form(fixed, candidate)
        sizes = tuple([size for aval in avals for size in aval.shape])
        with self._lock:
            program = candidate.program
            if form is not None and program.pattern not in form.compiled:
                form.compiled[program.pattern] = program
                form.groups = _split(form.groups, sizes)
                form.varying = form.varying.union(
                    i for i, (one, other) in enumerate(zip(form.first, sizes, strict=True)) if one != other
                )

    def failed(self, fixed: Hashable, candidate: Candidate, error: Exception) -> None:
        """Record that such a program is not possible. It is not tried again."""
        form = self._form(fixed, candidate)
        if form is not None:
            with self._lock:
                why = f"{type(error).__name__}: {_said(error)}"
                form.refused[candidate.program.pattern, candidate.program.least] = why
                if not isinstance(error, InconclusiveDimensionError):
                    # A larger minimum would not help.
                    form.refused[candidate.program.pattern, 2] = why

    def _form(self, fixed: Hashable, candidate: Candidate) -> _Form | None:
        return self._forms.get((fixed, tuple([(aval.dtype, aval.weak_type, aval.ndim) for aval in candidate.avals])))


def _said(error: Exception) -> str:
    """The line of an error with the fact. It follows the line of the place, and precedes the source."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(" ") and not _PLACE.fullmatch(line)]
    return (told or lines or [""])[0].strip()


def _split(groups: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    """Groups of dimensions, divided where sizes differ."""
    numbers: dict[tuple[int, int], int] = {}
    return tuple([numbers.setdefault(pair, len(numbers)) for pair in zip(groups, sizes, strict=True)])


def _fits(pattern: _Pattern, sizes: Sequence[int], least: int) -> bool:
    """Whether the program of a pattern serves these sizes."""
    of_group: dict[int, int] = {}
    for (kind, number), size in zip(pattern, sizes, strict=True):
        if kind == "size" and number != size:
            return False
        if kind == "group" and (size < least or of_group.setdefault(number, size) != size):
            return False
    return True


def _leaf_and_axis(avals: Sequence[ShapedArray], number: int) -> tuple[int, int]:
    """The leaf and the axis of a dimension, from its number among the dimensions of all leaves."""
    leaf = 0
    while number >= avals[leaf].ndim:
        number -= avals[leaf].ndim
        leaf += 1
    return leaf, number


def _symbolic(pattern: _Pattern, avals: Sequence[ShapedArray], least: int, names: Sequence[str]) -> _Symbolic:
    symbols: dict[int, Dim] = {}
    places: dict[str, int] = {}
    shapes: list[list[Any]] = [[] for _ in avals]
    for index, (kind, number) in enumerate(pattern):
        leaf, axis = _leaf_and_axis(avals, index)
        if kind == "group" and number not in symbols:
            name = symbol_name(names[leaf], axis, list(places))
            symbols[number] = Dim(name, min=least)
            places[name] = index
        shapes[leaf].append(symbols[number] if kind == "group" else number)
    made = [shaped(shape, aval.dtype, aval.weak_type) for shape, aval in zip(shapes, avals, strict=True)]
    return _Symbolic(pattern, least, tuple(made), tuple(places.items()))
