"""The current mesh of a thread: `set_mesh`, and meshes of types, which have no devices. Imports `mesh`.

In a program for one device (`shard_map`), the axes that it is written for are Manual.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from pycompiler._runtime import current_trace
from pycompiler.core.mesh.abstract import NO_MESH, AbstractMesh, AxisType
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.tracing import axes


def current_mesh(function: str) -> Mesh:
    """The mesh that `set_mesh` or `with mesh:` made current. Raises ValueError without one."""
    found = axes.current_mesh()
    if found is None:
        raise ValueError(f"{function}: there is no mesh here; give one, or call it in `with set_mesh(mesh):`")
    return cast(Mesh, found)


def explicit_mesh() -> Mesh | None:
    """The current mesh, if it has Explicit axes: then all results are on its devices."""
    mesh = cast("Mesh | None", axes.current_mesh())
    return mesh if mesh is not None and mesh.explicit_axes and mesh.size > 1 else None


class set_mesh:  # noqa: N801
    """Make a mesh the current one of this thread: at once, and with `with` until the block ends.

    Specs are over the current mesh. Raises ValueError for an object that is no Mesh, for a mesh with Manual axes, and
    in a traced function.
    """

    def __init__(self, mesh: Mesh | None) -> None:
        if mesh is not None and not isinstance(mesh, Mesh):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"set_mesh: takes a Mesh or None, got {mesh!r} of type {type(mesh).__name__}")
        if mesh is not None and mesh.manual_axes:
            raise ValueError(f"set_mesh: {mesh} has Manual axes; shard_map makes axes Manual")
        if current_trace() is not None:
            raise ValueError("set_mesh: a traced function has the mesh of its call: set it outside of the function")
        self._before = axes.swap_mesh(mesh), axes.swap_abstract_mesh(None)
        self._mesh = mesh

    def __enter__(self) -> Mesh | None:
        return self._mesh

    def __exit__(self, *error: object) -> None:
        mesh, abstract = self._before
        axes.swap_mesh(mesh)
        axes.swap_abstract_mesh(abstract)


def get_mesh() -> Mesh:
    """The current mesh. Without one, a mesh that has no axes. Raises ValueError in a traced function."""
    if current_trace() is not None:
        raise ValueError("get_mesh: a traced function has no devices: use sharding.get_abstract_mesh()")
    found = axes.current_mesh()
    return cast(Mesh, found) if found is not None else Mesh(np.array(None, object), ())


class use_abstract_mesh:  # noqa: N801
    """A context in which this is the current mesh of types: for example, the current mesh with other types of axes.

    Raises ValueError for an object that is no AbstractMesh, and, at the start of the block, for a mesh of another size
    than that of the current one.
    """

    def __init__(self, mesh: AbstractMesh) -> None:
        if not isinstance(mesh, AbstractMesh):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"use_abstract_mesh: takes an AbstractMesh, got {mesh!r} of type {type(mesh).__name__}")
        self.mesh = mesh

    def __enter__(self) -> None:
        now = get_abstract_mesh()
        if not now.empty and not self.mesh.empty and now.size != self.mesh.size:
            raise ValueError(
                f"use_abstract_mesh: {self.mesh} has {self.mesh.size} devices, the current mesh {now} has {now.size}"
            )
        self._before = axes.swap_abstract_mesh(self.mesh)

    def __exit__(self, *error: object) -> None:
        axes.swap_abstract_mesh(self._before)


def get_abstract_mesh() -> AbstractMesh:
    """The current mesh without its devices. Without one, a mesh that has no axes.

    In a function for one device (`shard_map`), the axes that it is written for are Manual.
    """
    found = axes.current_abstract_mesh()
    if found is None:
        mesh = axes.current_mesh()
        found = NO_MESH if mesh is None else cast(Mesh, mesh).abstract_mesh
    mesh = cast(AbstractMesh, found)
    manual = axes.manual_axes()
    if manual is None:
        return mesh
    if manual.mesh is not None:
        mesh = cast(AbstractMesh, manual.mesh)
    kinds = dict.fromkeys(manual.names, AxisType.Manual)
    if manual.names <= set(mesh.axis_names):
        return mesh.update_axis_types(kinds)
    sizes = {name: axes.size_of(name, "get_abstract_mesh") for name in manual.names}
    return AbstractMesh(tuple(cast(list[int], [*sizes.values()])), tuple(sizes), tuple(kinds.values()))
