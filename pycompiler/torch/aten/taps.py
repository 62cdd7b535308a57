"""Weighted sums of a few elements along an axis: interpolation, and pooling to a given size.

Only these elements count: a product with a matrix would multiply all others by 0, which is nan for an infinite one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.torch.table import cast

__all__ = ["Taps"]

# At most this number of elements is summed by an expression, more by a reduction.
_TERMS = 8


@dataclass
class Taps:
    """For each result (rows), the places of the elements in the axis, their weights, and the mask of those that count.
    The others fill the rows."""

    places: np.ndarray[Any, Any]
    weights: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]

    @staticmethod
    def of_windows(starts: Any, ends: Any, weights: Any = None) -> Taps:
        """The elements between starts and ends. Without weights, their mean."""
        starts, ends = np.asarray(starts)[:, None], np.asarray(ends)[:, None]
        places = starts + np.arange(max((ends - starts).max(initial=0), 1))
        counts = places < ends
        places = np.minimum(places, np.maximum(ends - 1, 0))
        if weights is None:
            weights = 1 / np.maximum(ends - starts, 1) * np.ones(places.shape)
        else:
            weights = np.take_along_axis(weights, places, axis=1)
        return Taps(places, np.where(counts, weights, 0), counts)

    def matrix(self, size: int) -> np.ndarray[Any, Any]:
        """The weight of each element of an axis for each result."""
        made = np.zeros((len(self.places), size))
        np.add.at(made, (np.arange(len(made))[:, None], self.places), self.weights)
        return made

    def transposed(self, size: int) -> Taps:
        """For each element of an axis, the results in which it counts."""
        results, numbers = np.nonzero(self.counts)
        elements, weights = self.places[results, numbers], self.weights[results, numbers]
        order = np.argsort(elements, kind="stable")
        often = np.bincount(elements, minlength=size)
        made = [np.zeros((size, max(often.max(initial=0), 1)), dtype) for dtype in (np.int64, np.float64)]
        counts = np.arange(made[0].shape[1]) < often[:, None]
        made[0][counts], made[1][counts] = results[order], weights[order]
        return Taps(made[0], made[1], counts)

    def along(self, x: Any, axis: int) -> Any:
        """The sums for each line of an axis."""
        number = self.places.shape[1]
        if number > _TERMS:
            rows = pnp.take(x, self.places, axis=axis)
            return pnp.sum(self._weighted(rows, self.weights, self.counts, x.ndim - 1 - axis), axis=axis + 1)
        made: Any = None
        for tap in range(number):
            part = pnp.take(x, self.places[:, tap], axis=axis)
            part = self._weighted(part, self.weights[:, tap], self.counts[:, tap], x.ndim - 1 - axis)
            made = part if made is None else made + part
        return made

    def _weighted(self, x: Any, weights: Any, counts: Any, after: int) -> Any:
        """Elements with weights along the axes before the last `after`."""
        shape = (*weights.shape, *(1,) * after)
        made = x * cast(pnp.asarray(weights.reshape(shape)), x.dtype)
        return made if counts.all() else pnp.where(pnp.asarray(counts.reshape(shape)), made, 0)
