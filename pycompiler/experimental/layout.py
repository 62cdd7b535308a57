"""Layouts of arrays in memory, with a sharding. All arrays here are row-major: `Layout` describes no other."""

from __future__ import annotations

from typing import Any

from pycompiler.core.mesh.layout import Auto, Format, Layout
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten
from pycompiler.lax.names import nearest_name

__all__ = ["Format", "Layout", "with_layout_constraint"]


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """`x`, a tree of arrays, with these layouts in memory. `layouts` is a tree of Layouts, a prefix of `x`.

    Raises ValueError for a layout of another rank than its array, and for one that is not row-major.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.layout import Layout, with_layout_constraint
    >>> with_layout_constraint(pnp.ones((1, 2)), Layout((0, 1)))
    Array([[1., 1.]], dtype=float32)
    """
    leaves, _ = tree_flatten(x)
    for leaf, layout in zip(leaves, prefix_leaves(layouts, x), strict=True):
        if isinstance(layout, Auto):
            continue
        if not isinstance(layout, Layout):
            raise TypeError(f"with_layout_constraint: takes Layouts, got {layout!r} of type {type(layout).__name__}")
        aval = get_aval(leaf)
        layout.check_compatible_aval(aval.shape)
        if layout.major_to_minor != tuple(range(len(aval.shape))) or layout.tiling:
            raise ValueError(
                f"with_layout_constraint: arrays are row-major here, {short(aval)} can't have {layout}. What to do: "
                "transpose it"
            )
    return x


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
