"""Parameters of functions of numpy that programs rarely give, beside NumPy."""

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("options", [{}, {"axis": 1}, {"axis": 0, "keepdims": True}])
def test_average_returns_arrays(options: dict[str, Any]) -> None:
    results = pnp.average(X, returned=True, **options)
    for got, wanted in zip(results, np.average(X, returned=True, **options), strict=True):
        assert isinstance(got, pc.Array)
        assert np.array_equal(got, wanted)


def test_einsum_takes_any_names_of_indices() -> None:
    y = np.ones((3, 2), np.float32)
    assert np.array_equal(pnp.einsum(X, ["row", "inner"], y, ["inner", "col"], ["col", "row"]), (X @ y).T)
    assert np.array_equal(pnp.einsum(X, [60, -1], [-1, 60]), X.T)
    # Without an output, the indices are in their order.
    assert np.array_equal(pnp.einsum(X, [30, 0]), X.T)
    assert np.array_equal(pnp.einsum(X, [0, 30]), X)
    with pytest.raises(TypeError, match=r"other values of one kind that can be sorted, got \[0, 'a'\]"):
        pnp.einsum(X, [0, "a"])


def test_unique_needs_a_value_to_fill_with() -> None:
    with pytest.raises(ValueError, match=r"no first element to fill 2 results with, .*give fill_value"):
        pnp.unique(np.zeros(0, np.float32), size=2)
    assert pnp.unique(np.zeros(0, np.float32), size=2, fill_value=7).tolist() == [7, 7]
