"""The axis environment: the names of mapped axes that are in scope in this thread, with their sizes and their traces.

`batch.map_axes` binds the name of a `vmap` while its function runs; `Primitive.bind` asks here which trace an operation
over a name belongs to. The names and sizes are part of the key by which the runtime keeps compiled functions.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pycompiler.core.config.config import config
from pycompiler.core.source import user_source

if TYPE_CHECKING:
    from pycompiler.core.dims.dims import Dimension
    from pycompiler.core.tracing.primitive import Primitive
    from pycompiler.core.tracing.trace import Trace

Name = Hashable


class Axis(NamedTuple):
    """A mapped axis: the name that `axis_name` gave it, None without one, its size, and the axes of a mesh over which
    it is divided where shardings are constrained."""

    name: Name | None
    size: Dimension
    spmd: tuple[Name, ...] = ()


class Binding(NamedTuple):
    """What a name stands for: the size of the axis, and the trace that maps it (None: it is only declared)."""

    size: Dimension
    trace: Trace | None


class VaryingTracker:
    """Follows over which axes of a mesh each value may differ, and takes every operation that is bound meanwhile."""

    __slots__ = ()

    def bind(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply an operation to operands that differ over the same axes."""
        raise NotImplementedError

    def same(self, x: Any, as_: Any) -> None:
        """A new tracer differs over the axes over which another value does."""
        raise NotImplementedError


class Manual(NamedTuple):
    """The axes of a mesh over which a function is written for one device.

    `varying`: values that are equal everywhere are told from those that differ, which derivatives then rely on;
    `tracker` is there while the user's function is traced.
    """

    names: frozenset[Name]
    varying: bool
    tracker: VaryingTracker | None


class _Scope(threading.local):
    def __init__(self) -> None:
        # The innermost binding of each name, the outermost name first.
        self.bindings: dict[Name, Binding] = {}
        # The axis of the batch trace whose rule is running.
        self.mapping: Axis | None = None
        # The axes of the mesh whose program for one device is being traced or transformed.
        self.manual: Manual | None = None
        # The mesh that set_mesh made the current one.
        self.mesh: Hashable = None


_scope = _Scope()


class NamesAxes:
    """What a parameter of a primitive must be for the names that it holds to be found: a graph."""

    __slots__ = ()

    @property
    def axis_names(self) -> frozenset[Name]:
        """The names that occur free in it."""
        raise NotImplementedError


@contextlib.contextmanager
def bound(name: Name | None, size: Dimension, trace: Trace | None) -> Generator[None]:
    """The name stands for this axis while the block runs."""
    if name is None:
        yield
        return
    inner = {other: binding for other, binding in _scope.bindings.items() if other != name}
    with _bindings({**inner, name: Binding(size, trace)}):
        yield


@contextlib.contextmanager
def unbound() -> Generator[None]:
    """No name is in scope while the block runs: what is compiled there serves every scope."""
    before, _scope.manual = _scope.manual, None
    try:
        with _bindings({}):
            yield
    finally:
        _scope.manual = before


@contextlib.contextmanager
def _bindings(bindings: dict[Name, Binding]) -> Generator[None]:
    before, _scope.bindings = _scope.bindings, bindings
    with config.scope(_key()):
        try:
            yield
        finally:
            _scope.bindings = before


def _key() -> tuple[Hashable, ...]:
    """What compiled functions depend on."""
    names: tuple[Hashable, ...] = tuple([(name, binding.size) for name, binding in _scope.bindings.items()])
    manual = _scope.manual
    if manual is not None:
        names = (*names, (manual.names, manual.varying, manual.tracker is not None))
    return names if _scope.mesh is None else (*names, _scope.mesh)


@contextlib.contextmanager
def manual(sizes: Mapping[Any, int], varying: bool, tracker: VaryingTracker | None) -> Generator[None]:
    """The axes of a mesh are in scope while the block runs: operations over them stay what they are."""
    inner = {other: binding for other, binding in _scope.bindings.items() if other not in sizes}
    before, _scope.manual = _scope.manual, Manual(frozenset(sizes), varying, tracker)
    try:
        with _bindings({**inner, **{name: Binding(size, None) for name, size in sizes.items()}}):
            yield
    finally:
        _scope.manual = before


def manual_axes() -> Manual | None:
    """The axes of the mesh whose program for one device is being traced or transformed."""
    return _scope.manual


def varying_tracker() -> VaryingTracker | None:
    """What follows values over the axes of a mesh, if anything does."""
    manual = _scope.manual
    return None if manual is None else manual.tracker


def swap_mesh(mesh: Hashable) -> Hashable:
    """Make a mesh this thread's current one; gives the one before back."""
    before, _scope.mesh = _scope.mesh, mesh
    config.set_scope(_key())
    return before


def current_mesh() -> Hashable:
    """The mesh that `swap_mesh` made the current one."""
    return _scope.mesh


def in_scope() -> Mapping[Name, Binding]:
    """The names that are bound in this thread."""
    return _scope.bindings


def size_of(name: Name, function: str) -> Dimension:
    """The size of a named axis. Raises NameError when there is none."""
    return _lookup(name, function).size


def _lookup(name: Name, function: str) -> Binding:
    binding = _scope.bindings.get(name)
    if binding is None:
        source = user_source()
        where = f"{source.describe()}\n" if source else ""
        names = ", ".join(map(repr, _scope.bindings)) or "none"
        raise NameError(
            f"{where}{function}: there is no axis named {name!r} here; the names in scope are: {names}.\n"
            f"What to do: call it in a function that is mapped by vmap(..., axis_name={name!r})."
        )
    return binding


# Whose rule is running.


def swap_mapping(axis: Axis | None) -> Axis | None:
    """Make `axis` the one whose batching rule is running in this thread; gives the one before back."""
    before, _scope.mapping = _scope.mapping, axis
    return before


def mapping() -> Axis | None:
    """The axis of the batch trace whose rule is running: what rules map inside of graphs is the same axis."""
    return _scope.mapping


def mapping_spmd() -> tuple[Name, ...]:
    """The axes of a mesh over which the axis is divided whose rule is running."""
    return () if _scope.mapping is None else _scope.mapping.spmd


def signature() -> Hashable:
    """What a transformed graph with free names depends on, beside its arguments."""
    return (*_key(), _scope.mapping)


# Dispatch.


def names_of(primitive: Primitive, params: Mapping[str, Any]) -> frozenset[Name]:
    """The axis names that an operation is over: its own, or those free in the graphs that it holds."""
    if primitive.axis_names is not None:
        return frozenset(primitive.axis_names(**params))
    names: frozenset[Name] = frozenset()
    for value in params.values():
        for part in value if type(value) is tuple else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(part, NamesAxes):
                names |= part.axis_names
    return names


def newest(primitive: Primitive, params: Mapping[str, Any], trace: Trace | None) -> Trace | None:
    """The newest of `trace` and the traces of the axes that the operation is over. Raises NameError for a name that is
    not in scope."""
    if not _scope.bindings and primitive.axis_names is None:
        return trace
    for name in names_of(primitive, params):
        other = _lookup(name, primitive.name).trace
        if other is not None and (trace is None or other.level > trace.level):
            trace = other
    return trace
