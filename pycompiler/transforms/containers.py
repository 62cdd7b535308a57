"""Containers of arrays whose static data has the shape of the whole, such as sparse matrices, under `vmap`.

The arrays of a container lose the mapped axis, while its static data stays the same. So `vmap` gives the function a
container of the shape of one member, and adds the mapped axis to the containers in the results.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import tree_leaves, tree_map
from pycompiler.primitives.shape import reshaped

# The class of a container -> a function `(container, shape)` to the container of the same arrays with another shape.
# Its attribute `n_batch` counts the leading axes over which it can be mapped; all of its arrays have these.
containers: dict[type, Callable[[Any, tuple[int, ...]], Any]] = {}


def is_container(x: Any) -> bool:
    """Whether a value is one of the registered containers."""
    return type(x) in containers


def mapped_containers(tree: Any, dims: Sequence[int | None]) -> list[tuple[Any, int | None]]:
    """Each container in the tree with the axis over which it is mapped; `dims` has the axes of all leaves of the tree.

    Raises ValueError for an axis that is no batch axis.
    """
    found: list[tuple[Any, int | None]] = []
    at = 0
    for part in tree_leaves(tree, is_container):
        count = len(tree_leaves(part)) if is_container(part) else 1
        if is_container(part):
            dim = dims[at] if count else None
            if dim is not None and not 0 <= dim < part.n_batch:
                raise ValueError(
                    f"vmap: in_axes maps axis {dim} of {part!r}, which has {part.n_batch} batch axes; only these, "
                    "which come first, can be mapped"
                )
            found.append((part, dim))
        at += count
    return found


def with_members(fun: Callable[..., Any], axes: Sequence[int | None]) -> Callable[..., Any]:
    """`fun`, for containers whose arrays have lost these axes."""

    @functools.wraps(fun)
    def of_members(*args: Any, **kwargs: Any) -> Any:
        places = iter(axes)

        def member(part: Any) -> Any:
            axis = next(places) if is_container(part) else None
            if axis is None:
                return part
            return containers[type(part)](part, part.shape[:axis] + part.shape[axis + 1 :])

        args, kwargs = tree_map(member, (args, kwargs), is_leaf=is_container)
        return fun(*args, **kwargs)

    return of_members


def shared_by_members(
    tree: Any, leaves: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], list[int | None]]:
    """The leaves and their axes. All members share an array of a container if its axis has the size 1, and that of the
    container has not. Such an array loses the axis and is not mapped."""
    given, mapped = list(leaves), list(dims)
    at = 0
    for part in tree_leaves(tree, is_container):
        count = len(tree_leaves(part)) if is_container(part) else 1
        for place in range(at, at + count) if is_container(part) else ():
            dim = mapped[place]
            if dim is None:
                continue
            shape = get_aval(given[place]).shape
            if shape[dim] == 1 != part.shape[dim]:
                given[place] = reshaped(given[place], shape[:dim] + shape[dim + 1 :])
                mapped[place] = None
        at += count
    return given, mapped


def stacked(tree: Any, axes: Sequence[int | None], size: Any) -> Any:
    """The tree of results. The arrays of its containers have got an axis, so the containers get the axis in their
    shapes.

    Raises ValueError for an axis behind their batch axes.
    """
    at = 0

    def whole(part: Any) -> Any:
        nonlocal at
        axis = axes[at]
        at += len(tree_leaves(part)) if is_container(part) else 1
        if axis is None or not is_container(part):
            return part
        # The arrays have their new axis already, so `n_batch` counts it.
        if not 0 <= axis < part.n_batch:
            raise ValueError(
                f"vmap: out_axes puts the mapped axis of {part!r} at {axis}, behind its {part.n_batch - 1} batch axes; "
                "these come first"
            )
        return containers[type(part)](part, (*part.shape[:axis], size, *part.shape[axis:]))

    return tree_map(whole, tree, is_leaf=is_container)
