"""Types in a function for one device: the axes of the mesh along which a value varies. The meshes are those of
`abstract`.

`ShapedArray` does not contain these axes: a tracker has them while the function is traced (`primitives.spmd.varying`).
`TypeOnDevice` shows both to the user.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.axes import Name, varying_tracker


class ManualAxisType:
    """`varying`: the Manual axes of a mesh along which a value varies. Compared by value.

    `unreduced` and `reduced` are empty: such types are not supported.
    """

    __slots__ = ("varying",)

    varying: frozenset[Name]
    unreduced: frozenset[Name] = frozenset()
    reduced: frozenset[Name] = frozenset()

    def __init__(self, *, varying: frozenset[Name] = frozenset()) -> None:
        object.__setattr__(self, "varying", frozenset(varying))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a ManualAxisType does not change: make another one, with {name}=...")

    def invarying(self, mesh: Any) -> frozenset[Name]:
        """The Manual axes of a mesh along which the value is equal."""
        return frozenset(mesh.manual_axes) - self.varying

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ManualAxisType) and self.varying == other.varying

    def __hash__(self) -> int:
        return hash(self.varying)

    def __repr__(self) -> str:
        return f"ManualAxisType(varying={{{', '.join(map(repr, sorted(self.varying, key=str)))}}})"


class TypeOnDevice:
    """The aval of a value in a function for one device, with `mat`. It has the attributes of the aval and equals it."""

    __slots__ = ("aval", "mat")

    def __init__(self, aval: ShapedArray, varying: frozenset[Name]) -> None:
        self.aval = aval
        self.mat = ManualAxisType(varying=varying)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        return ShapedArray

    def __getattr__(self, name: str) -> Any:
        return getattr(self.aval, name)

    def __eq__(self, other: object) -> bool:
        return self.aval == (other.aval if type(other) is TypeOnDevice else other)

    def __hash__(self) -> int:
        return hash(self.aval)

    def __str__(self) -> str:
        return str(self.aval)

    def __repr__(self) -> str:
        return repr(self.aval)


_EVERYWHERE = ManualAxisType()


def _of_aval(_: ShapedArray) -> ManualAxisType:
    """Outside of functions for one device no value varies."""
    if varying_tracker() is not None:
        raise AttributeError("in a function for one device, typeof(x).mat tells along which axes x varies")
    return _EVERYWHERE


setattr(ShapedArray, "mat", property(_of_aval))  # noqa: B010
