"""The axis environment: the names of mapped axes that are in scope in this thread, with their sizes and their traces.

`batch.map_axes` binds the name of a `vmap` while its function runs; `Primitive.bind` asks here to which trace the name
of an operation belongs. Before `trace`: traces and operations are handed on here, and not looked into. The names and
sizes are part of the key by which the runtime keeps compiled functions.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.source import user_source

Name = Hashable


class Axis(NamedTuple):
    """A mapped axis: the name that `axis_name` gave it, None without one, its size, and the axes of a mesh over which
    it is divided where shardings are constrained."""

    name: Name | None
    size: Dimension
    spmd: tuple[Name, ...] = ()


class Binding(NamedTuple):
    """What a name stands for: the size of the axis, and the `Trace` that maps it (None: it is only declared)."""

    size: Dimension
    trace: Any


class VaryingTracker:
    """Follows over which axes of a mesh each value may differ, and takes every operation that is bound meanwhile."""

    __slots__ = ()

    def bind(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply a `Primitive` to operands that differ over the same axes."""
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
def bound(name: Name | None, size: Dimension, trace: Any) -> Generator[None]:
    """The name stands for this axis, which the `Trace` maps, while the block runs."""
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
    return lookup(name, function).size


def lookup(name: Name, function: str) -> Binding:
    """What a name stands for. Raises NameError when there is none."""
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
