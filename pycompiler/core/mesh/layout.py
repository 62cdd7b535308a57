"""Layouts of arrays in memory, with a sharding (`Format`). All arrays here are row-major; no other layout is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.sharding import Sharding


class Auto:
    def __repr__(self) -> str:
        return "AUTO"


@dataclass(frozen=True, init=False)
class Layout:
    """The order of the dimensions in memory, from the slowest to the fastest.

    `Layout.AUTO` leaves the choice to the compiler, which chooses row-major.
    """

    major_to_minor: tuple[int, ...]
    tiling: tuple[tuple[int, ...], ...] | None
    sub_byte_element_size_in_bits: int

    AUTO: ClassVar[Any] = Auto()

    def __init__(
        self,
        major_to_minor: Sequence[int],
        tiling: Sequence[Sequence[int]] | None = None,
        sub_byte_element_size_in_bits: int = 0,
    ) -> None:
        object.__setattr__(self, "major_to_minor", tuple(major_to_minor))
        object.__setattr__(self, "tiling", None if tiling is None else tuple(map(tuple, tiling)))
        object.__setattr__(self, "sub_byte_element_size_in_bits", sub_byte_element_size_in_bits)

    def update(self, **kwargs: Any) -> Layout:
        """The layout with other fields."""
        return replace(self, **kwargs)

    def check_compatible_aval(self, aval_shape: Sequence[Any]) -> None:
        """Raise ValueError unless arrays of this shape can have the layout."""
        if len(self.major_to_minor) != len(aval_shape):
            raise ValueError(
                "Layout: the length of major_to_minor and the rank of the value should match, got major_to_minor="
                f"{self.major_to_minor} and shape={tuple(aval_shape)}"
            )


@dataclass(frozen=True)
class Format:
    """A layout and a sharding. Raises ValueError for a layout without a sharding, TypeError for other objects.

    >>> import pycompiler as pc
    >>> from pycompiler.experimental.layout import Format, Layout
    >>> Format(Layout((0, 1)), pc.sharding.SingleDeviceSharding(pc.devices()[0])).layout.major_to_minor
    (0, 1)
    """

    layout: Any = None
    sharding: Any = None

    def __post_init__(self) -> None:
        layout, sharding = self.layout, self.sharding
        if not (layout is None or isinstance(layout, (Layout, Auto))):
            raise TypeError(
                f"Format: the layout is a Layout, Layout.AUTO or None, got {layout!r} of type {type(layout).__name__}"
            )
        if not (sharding is None or isinstance(sharding, Sharding)):
            raise TypeError(
                f"Format: the sharding is a Sharding or None, got {sharding!r} of type {type(sharding).__name__}"
            )
        if isinstance(layout, Layout) and sharding is None:
            raise ValueError(f"Format: a concrete layout, {layout}, needs a concrete sharding, got None")


def row_major(ndim: int, sharding: Sharding) -> Format:
    """The format of an array of this rank with this sharding."""
    return Format(Layout(range(ndim)), sharding)


def sharding_of(function: str, place: Any, of_array: bool = False) -> Any:
    """The sharding of a Format; any other placement unchanged. Raises ValueError for a layout that is not row-major,
    and for `Layout.AUTO` if the Format is that of an array (`of_array`)."""
    if not isinstance(place, Format):
        return place
    layout = place.layout
    if of_array and isinstance(layout, Auto):
        raise ArgumentError(
            f"{function}: got {place}, whose layout is not decided. What to do: give a Layout, or the sharding alone"
        )
    if isinstance(layout, Layout) and (
        layout.tiling or layout.major_to_minor != tuple(range(len(layout.major_to_minor)))
    ):
        raise ValueError(f"{function}: arrays are row-major here, got {layout}. What to do: transpose the array")
    return place.sharding
