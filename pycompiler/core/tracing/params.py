"""Parameters of equations under JAX's names as well: `dimension_numbers` of a product, beside the parts of it that the
primitive takes. They are read by name only, so that `bind(**params)` gets the primitive's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# The further names of a primitive's parameters, with functions of its own parameters.
Views = Mapping[str, Callable[[Mapping[str, Any]], Any]]


class ViewedParams(dict[str, Any]):
    """The parameters of an equation. Reading finds the further names too; iteration gives the primitive's own."""

    __slots__ = ("_views",)

    def __init__(self, own: Mapping[str, Any], views: Views) -> None:
        super().__init__(own)
        self._views = views

    def __missing__(self, key: str) -> Any:
        view = self._views.get(key)
        if view is None:
            raise KeyError(key)
        return view(self)

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self._views

    def get(self, key: str, default: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            return self[key]
        except KeyError:
            return default
