"""Values of users' own types that change (JAX's mutable hijax types), in functions that are recorded.

A type states how its values become arrays and back (`read_loval`, `new_from_loval`, `update_from_loval`), for a state,
which is a structure with the types of the arrays. An operation of a user on such values runs at once, on tracers too.
In a function that is recorded, a copy replaces a value from outside. The arrays of the copy are inputs of the graph; at
the end, they become results if they changed. They are parts of `ClosedGraph.touched` and `written`, like the values of
references; the state may change, except in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pycompiler._runtime import current_trace, swap_trace
from pycompiler.core.hooks import add_handled_type
from pycompiler.core.tracing.references import HELD, AbstractRef, Ref

__all__ = ["Copies", "Part", "is_user_value", "made", "present", "register", "state_of", "type_of", "up_to_date"]

_types: dict[type, Callable[[Any], Any]] = {}


def register(kind: type, type_of: Callable[[Any], Any]) -> None:
    """Let values of a class, whose types are given by `type_of`, be arguments and be closed over."""
    if kind not in _types:
        add_handled_type(kind)
        HELD.add(kind)
    _types[kind] = type_of


def is_user_value(x: Any) -> bool:
    """Whether a value is of a class that was registered."""
    return type(x) in _types


def type_of(x: Any) -> Any:
    """The type of such a value."""
    return _types[type(x)](x)


def _changes(x: Any) -> bool:
    return type(x) in _types and type_of(x).has_qdd


def state_of(x: Any) -> Any:
    """The state of a value, in the function that runs."""
    return present(x).cur_qdd()


def made(results: Iterable[Any]) -> None:
    """Note values that an operation made: they belong to the function that is being recorded."""
    trace: Any = current_trace()
    if trace is not None:
        for x in results:
            if type(x) in _types:
                trace.user_values.own[id(x)] = x


def present(x: Any) -> Any:
    """The value that stands for one in the function that is being recorded; any other object is returned."""
    trace: Any = current_trace()
    return x if trace is None or not _changes(x) else _in(trace, x)


def _in(trace: Any, x: Any) -> Any:
    if trace is None:
        return x
    values: Copies = trace.user_values
    if id(x) in values.own:
        return x
    found = values.copies.get(id(x))
    if found is None:
        found = values.copies[id(x)] = _Copy(trace, x, _in(trace.parent, x))
        values.own[id(found.inner)] = found.inner
    return found.inner


class Copies:
    """The values of users' own types in a function that is recorded, and the copies of values from outside."""

    __slots__ = ("copies", "own")

    def __init__(self) -> None:
        # By id, with the values: they must live as long as this object.
        self.own: dict[int, Any] = {}
        self.copies: dict[int, _Copy] = {}

    @property
    def states(self) -> list[tuple[Any, Any]]:
        """The values from outside, and their states at the beginning."""
        return [(copy.value, copy.state) for copy in self.copies.values()]

    def parts(self) -> tuple[list[tuple[Part, Any]], list[tuple[Part, Any]]]:
        """The arrays at the beginning, and those at the end of values that changed, each with its tracer."""
        touched: list[tuple[Part, Any]] = []
        written: list[tuple[Part, Any]] = []
        for copy in self.copies.values():
            touched += zip(copy.parts(copy.state, copy.starts), copy.arrays(copy.starts), strict=True)
            state = copy.inner.cur_qdd()
            ends: list[Any] = copy.kind.read_loval(state, copy.inner)
            if state != copy.state or any(a is not b for a, b in zip(ends, copy.starts, strict=True)):
                parts = copy.parts(state, ends)
                if not parts and state != copy.state:
                    raise TypeError(
                        f"a {copy.kind} loses its last array in a function that is traced, which can't be told to the "
                        "value outside. What to do: change it outside of the function"
                    )
                written += zip(parts, copy.arrays(ends), strict=True)
        return touched, written


class _Copy:
    """A value from outside, and the one that stands for it."""

    __slots__ = ("inner", "kind", "level", "starts", "state", "value")

    def __init__(self, trace: Any, value: Any, outer: Any) -> None:
        self.value = value
        self.kind = type_of(outer)
        self.state = outer.cur_qdd()
        # A graph that uses a value of another function is not kept.
        self.level = 0 if trace.parent is None else 1
        types = self.kind.lo_ty_qdd(self.state)
        kept: Sequence[Any] = ()
        if any(isinstance(aval, AbstractRef) for aval in types):
            previous = swap_trace(trace.parent)
            try:
                kept = self.kind.read_loval(self.state, outer)
            finally:
                swap_trace(previous)
        self.starts = [
            kept[i] if isinstance(aval, AbstractRef) else trace.new_start(aval) for i, aval in enumerate(types)
        ]
        self.inner = self.kind.new_from_loval(self.state, *self.starts)

    def arrays(self, los: Sequence[Any]) -> list[Any]:
        """The values that are arrays. References are left out."""
        return [x for x in los if type(x) is not Ref]

    def parts(self, state: Any, los: Sequence[Any]) -> list[Part]:
        """A part for each array of the value in a state."""
        group = _Group(self.value, self.kind, state, list(los))
        avals = self.kind.lo_ty_qdd(state)
        return [Part(group, i, avals[i], self.level) for i, x in enumerate(los) if type(x) is not Ref]


class _Group:
    """A value in a state, which is updated once all its new arrays are there."""

    __slots__ = ("kind", "new", "references", "state", "value")

    def __init__(self, value: Any, kind: Any, state: Any, los: list[Any]) -> None:
        self.value = value
        self.kind = kind
        self.state = state
        self.references = {i: x for i, x in enumerate(los) if type(x) is Ref}
        self.new: dict[int, Any] = {}

    def write(self, index: int, x: Any) -> None:
        self.new[index] = x
        count = len(self.kind.lo_ty_qdd(self.state))
        if len(self.new) + len(self.references) == count:
            found, self.new = {**self.new, **self.references}, {}
            self.kind.update_from_loval(self.state, present(self.value), *(found[i] for i in range(count)))


class Part(Ref):
    """One array of a value of a user's type, under the interface of a reference."""

    __slots__ = ("_group", "_index")

    def __init__(self, group: _Group, index: int, aval: Any, level: int) -> None:
        self._group = group
        self._index = index
        self.aval = AbstractRef(aval)
        self.level = level
        self.owned = False

    def read(self) -> Any:
        group = self._group
        return group.kind.read_loval(group.state, present(group.value))[self._index]

    def take(self) -> Any:
        return self.read()

    def write(self, value: Any, owned: bool = False) -> None:
        self._group.write(self._index, value)

    def _key(self) -> Any:
        return id(self._group.value), self._group.state, self._index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((id(self._group.value), self._index))

    def __repr__(self) -> str:
        return f"array {self._index} of a {self._group.kind}"


def up_to_date(states: Sequence[tuple[Any, Any]]) -> bool:
    """Whether values still have these states, which a graph was traced with."""
    return all(state_of(value) == state for value, state in states)
