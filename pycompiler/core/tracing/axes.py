"""The axis environment: the names of mapped axes that are in scope in this thread, with their sizes and their traces.

`batch.map_axes` binds the name of a `vmap` while its function runs. `Primitive.bind` looks up the trace of an
operation's names here. `trace` imports this module, so traces and operations are opaque here. The names and sizes are
part of the key by which the runtime keeps compiled functions.
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
    """A mapped axis: its `axis_name` or None, and its size. `spmd` has the mesh axes that divide it in constraints of
    shardings. `explicit` has the Explicit axes that divide the mapped dimensions of the arguments, with their abstract
    mesh."""

    name: Name | None
    size: Dimension
    spmd: tuple[Name, ...] = ()
    explicit: tuple[tuple[Name, ...], Any] = ((), None)


class Binding(NamedTuple):
    """The binding of a name: the size of the axis, and the `Trace` that maps it (None: the name is only declared).
    `index` is the index along the axis, if it is a value of the function that is traced: for the grid of a kernel."""

    size: Dimension
    trace: Any
    index: Any = None


class VaryingTracker:
    """Tracks the mesh axes along which each value may differ. While it is active, every bound operation goes to it."""

    __slots__ = ()

    def bind(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Apply a `Primitive` to operands that vary along the same axes."""
        raise NotImplementedError

    def type_of(self, x: Any) -> Any:
        """The aval of a value, with the axes along which it varies."""
        raise NotImplementedError

    def same(self, x: Any, as_: Any) -> None:
        """Make a new tracer vary along the same axes as another value."""
        raise NotImplementedError


class Manual(NamedTuple):
    """The axes of a mesh for which a function is written as the program of one device.

    `varying` has the axes along which varying values are distinguished from values that are equal everywhere.
    Derivatives rely on this. `tracker` is set while the user's function is traced. `mesh` is the mesh without its
    devices, if it is known.
    """

    names: frozenset[Name]
    varying: frozenset[Name]
    tracker: VaryingTracker | None
    mesh: Any


class _Scope(threading.local):
    def __init__(self) -> None:
        # The innermost binding of each name. The outermost name comes first.
        self.bindings: dict[Name, Binding] = {}
        # The axis of the batch trace whose rule runs.
        self.mapping: Axis | None = None
        # The mesh axes of the program for one device that is being traced or transformed.
        self.manual: Manual | None = None
        # The current mesh, from set_mesh, and the mesh of types in its place (None: the same, without its devices).
        self.mesh: Hashable = None
        self.abstract_mesh: Hashable = None


_scope = _Scope()


class NamesAxes:
    """The base class for parameters of primitives whose axis names can be found: graphs."""

    __slots__ = ()

    @property
    def axis_names(self) -> frozenset[Name]:
        """The free names in it."""
        raise NotImplementedError


@contextlib.contextmanager
def bound(name: Name | None, size: Dimension, trace: Any) -> Generator[None]:
    """A context in which the name stands for this axis, which the `Trace` maps."""
    if name is None:
        yield
        return
    inner = {other: binding for other, binding in _scope.bindings.items() if other != name}
    with _bindings({**inner, name: Binding(size, trace)}):
        yield


@contextlib.contextmanager
def indexed(indices: Mapping[Name, tuple[int, Any]]) -> Generator[None]:
    """A context in which each name has a size and an index, a value of the function that is traced."""
    inner = {other: binding for other, binding in _scope.bindings.items() if other not in indices}
    with _bindings({**inner, **{name: Binding(size, None, index) for name, (size, index) in indices.items()}}):
        yield


@contextlib.contextmanager
def unbound() -> Generator[None]:
    """A context without any names in scope: code compiled there serves every scope."""
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
    """The part of the scope that compiled functions depend on."""
    names: tuple[Hashable, ...] = tuple([(name, binding.size) for name, binding in _scope.bindings.items()])
    manual = _scope.manual
    if manual is not None:
        names = (*names, (manual.names, manual.varying, manual.tracker is not None, manual.mesh))
    if _scope.abstract_mesh is not None:
        return (*names, _scope.mesh, _scope.abstract_mesh)
    return names if _scope.mesh is None else (*names, _scope.mesh)


@contextlib.contextmanager
def manual(
    sizes: Mapping[Any, int], varying: bool, tracker: VaryingTracker | None, mesh: Any = None
) -> Generator[None]:
    """A context with the axes of a mesh in scope. Operations over these axes stay as they are. The axes of a program
    for one device that this one is a part of stay in scope."""
    inner = {other: binding for other, binding in _scope.bindings.items() if other not in sizes}
    before = _scope.manual
    names = frozenset(sizes)
    tracked: frozenset[Name] = names if varying else frozenset()
    if before is None:
        _scope.manual = Manual(names, tracked, tracker, mesh)
    else:
        known = before.mesh if mesh is None else mesh
        _scope.manual = Manual(before.names | names, (before.varying - names) | tracked, tracker, known)
    try:
        with _bindings({**inner, **{name: Binding(size, None) for name, size in sizes.items()}}):
            yield
    finally:
        _scope.manual = before


def manual_axes() -> Manual | None:
    """The mesh axes of the program for one device that is being traced or transformed."""
    return _scope.manual


def is_undivided(name: Name) -> bool:
    """Whether the name is that of a mesh axis over which the program for one device is not mapped. A function inside of
    the program may be mapped over it."""
    manual = _scope.manual
    return (
        manual is not None and manual.mesh is not None and name in manual.mesh.axis_names and name not in manual.names
    )


def varying_tracker() -> VaryingTracker | None:
    """The active tracker of values over the axes of a mesh, or None."""
    manual = _scope.manual
    return None if manual is None else manual.tracker


def swap_mesh(mesh: Hashable) -> Hashable:
    """Make a mesh this thread's current one. Returns the previous one."""
    before, _scope.mesh = _scope.mesh, mesh
    config.set_scope(_key())
    return before


def current_mesh() -> Hashable:
    """The current mesh, set by `swap_mesh`."""
    return _scope.mesh


def swap_abstract_mesh(mesh: Hashable) -> Hashable:
    """Make an abstract mesh this thread's mesh of types. None: that of the current mesh. Returns the previous one."""
    before, _scope.abstract_mesh = _scope.abstract_mesh, mesh
    config.set_scope(_key())
    return before


def current_abstract_mesh() -> Hashable:
    """The mesh of types that was set in place of the current mesh's, or None."""
    return _scope.abstract_mesh


def in_scope() -> Mapping[Name, Binding]:
    """The bound names of this thread."""
    return _scope.bindings


def size_of(name: Name, function: str) -> Dimension:
    """The size of a named axis. Raises NameError for an unbound name."""
    return lookup(name, function).size


def lookup(name: Name, function: str) -> Binding:
    """The binding of a name. Raises NameError for an unbound name."""
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


# The axis whose batching rule runs.


def swap_mapping(axis: Axis | None) -> Axis | None:
    """Set the axis whose batching rule runs in this thread. Returns the previous one."""
    before, _scope.mapping = _scope.mapping, axis
    return before


def mapping() -> Axis | None:
    """The axis of the batch trace whose rule runs. If the rule maps graphs, it maps the same axis."""
    return _scope.mapping


def mapping_spmd() -> tuple[Name, ...]:
    """The mesh axes that divide the axis whose rule runs."""
    return () if _scope.mapping is None else _scope.mapping.spmd


def signature() -> Hashable:
    """The state, besides its arguments, that a transformed graph with free names depends on."""
    return (*_key(), _scope.mapping)
