"""`ShapeDtypeStruct`, a shape and dtype in the place of an array, and objects like it. Imports `sharding`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.dims import dims
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.contexts import current_mesh, get_abstract_mesh
from pycompiler.core.mesh.layout import Format, row_major, sharding_of
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.mesh.typed import with_type
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.references import HELD
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import Elementless, get_aval, is_array
from pycompiler.core.types.tree import tree_flatten

_PYTHON: tuple[type, ...] = (bool, int, float, complex)


class ShapeDtypeStruct(Elementless):
    """A shape and dtype in the place of an array: the result of `eval_shape`, an argument of it, `make_jaxpr`, `lower`.

    `sharding` is the sharding of the array; a PartitionSpec refers to the current mesh. A ShapeDtypeStruct does not
    change, and is hashable. With `is_ref`, it stands for a mutable array (`new_ref`). Raises TypeError if `sharding` is
    no sharding, ValueError if it can't divide the shape.

    >>> import pycompiler as pc
    >>> pc.ShapeDtypeStruct((3, 4), "float32").update(shape=(5,))
    ShapeDtypeStruct(shape=(5,), dtype=float32)
    """

    __slots__ = ("_given", "dtype", "is_ref", "manual_axis_type", "shape", "weak_type")

    shape: tuple[Any, ...]
    dtype: dtypes.DType
    weak_type: bool
    is_ref: bool

    def __init__(
        self,
        shape: Iterable[dims.Dimension],
        dtype: object,
        *,
        sharding: Sharding | PartitionSpec | Format | None = None,
        weak_type: bool = False,
        manual_axis_type: None = None,
        is_ref: bool = False,
    ) -> None:
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be given")
        if manual_axis_type is not None:
            raise ValueError(f"ShapeDtypeStruct: manual_axis_type must be None, got {manual_axis_type!r}")
        sharding = sharding_of("ShapeDtypeStruct", sharding, of_array=True)
        if sharding is not None and not isinstance(sharding, (Sharding, PartitionSpec)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"ShapeDtypeStruct: sharding must be a Sharding, a PartitionSpec or None, got {sharding!r} of type "
                f"{type(sharding).__name__}"
            )
        values = {
            "shape": tuple(shape),
            # Python's types become those of NumPy. They are narrowed when they are traced.
            "dtype": np.dtype(dtype) if isinstance(dtype, type) and dtype in _PYTHON else dtypes.as_dtype(dtype),
            "weak_type": weak_type,
            "manual_axis_type": None,
            "is_ref": bool(is_ref),
            "_given": sharding,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if isinstance(sharding, Sharding):
            sharding.check_compatible_aval(self.shape)

    @classmethod
    def like(cls, x: Any) -> ShapeDtypeStruct:
        """The struct of an array, or of an object with a shape and a dtype. A committed `x` passes on its sharding."""
        if isinstance(x, ShapeDtypeStruct):
            return x
        found = described(x)
        aval = get_aval(x if found is None else found)
        sharding = getattr(x, "sharding", None) if getattr(x, "committed", not isinstance(x, Array)) else None
        sharding = sharding if isinstance(sharding, (Sharding, PartitionSpec)) else aval.explicit_sharding
        return cls(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)

    @property
    def aval(self) -> ShapedArray:
        """The aval that it stands for: 64-bit types are narrowed unless `enable_x64`."""
        aval = ShapedArray(self.shape, dtypes.canonicalize(self.dtype), self.weak_type)
        return aval if self.sharding is None else with_type(aval, self.sharding)

    @property
    def sharding(self) -> Sharding | None:
        """The sharding of the array. Raises TypeError for a spec without a current mesh."""
        given: Sharding | PartitionSpec | None = getattr(self, "_given")  # noqa: B009
        if isinstance(given, PartitionSpec):
            abstract = get_abstract_mesh()
            if abstract.empty:
                raise ArgumentError(
                    f"ShapeDtypeStruct: sharding: there is no mesh here for {given}; give a NamedSharding, or ask for "
                    "it in `with set_mesh(mesh):`"
                )
            known = axes.current_mesh() is not None
            return NamedSharding(current_mesh("ShapeDtypeStruct: sharding") if known else abstract, given)
        return given

    @property
    def format(self) -> Format:
        """The layout of the array, row-major, and its sharding; without a sharding, no layout."""
        found = self.sharding
        return Format() if found is None else row_major(len(self.shape), found)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return dims.dim_product(self.shape)

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """A copy with another `shape`, `dtype`, `sharding` or `weak_type`. Raises TypeError for another name."""
        now: dict[str, Any] = {
            "shape": self.shape,
            "dtype": self.dtype,
            "sharding": self._key()[2],
            "weak_type": self.weak_type,
            "is_ref": self.is_ref,
        }
        return ShapeDtypeStruct(**{**now, **changes})

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ShapeDtypeStruct without axes")
        return self.shape[0]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ShapeDtypeStruct does not change: make another one by update({name}=...)")

    def __reduce__(self) -> Any:
        return _made, self._key()

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, getattr(self, "_given"), self.weak_type, self.is_ref  # noqa: B009

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(("ShapeDtypeStruct", self._key()))

    def __repr__(self) -> str:
        given = self._key()[2]
        where = "" if given is None else f", sharding={given!r}"
        weak = ", weak_type=True" if self.weak_type else ""
        ref = ", is_ref=True" if self.is_ref else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{where}{weak}{ref})"


def _made(shape: Any, dtype: Any, sharding: Any, weak_type: bool, is_ref: bool) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(shape, dtype, sharding=sharding, weak_type=weak_type, is_ref=is_ref)


def described(x: Any) -> ShapeDtypeStruct | None:
    """The struct of an object with a shape and a dtype that is no array. None for arrays and for other objects."""
    if is_array(x) or isinstance(x, type) or type(x) in HELD:
        return None
    shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
    if shape is None or dtype is None:
        return None
    try:
        return ShapeDtypeStruct(tuple(shape), dtype, weak_type=bool(getattr(x, "weak_type", False)))
    except (TypeError, ValueError):
        return None


def with_described(tree: Any) -> Any:
    """A tree of arguments whose types alone matter, with structs in place of objects with a shape and a dtype."""
    leaves, treedef = tree_flatten(tree)
    found = [described(leaf) for leaf in leaves]
    if all(leaf is None for leaf in found):
        return tree
    return treedef.unflatten([leaf if known is None else known for leaf, known in zip(leaves, found, strict=True)])


def shapes_of(avals: Iterable[ShapedArray]) -> list[ShapeDtypeStruct]:
    """The structs of results."""
    return [
        ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=aval.explicit_sharding)
        for aval in avals
    ]


__all__ = ["ShapeDtypeStruct", "described", "shapes_of", "with_described"]
