"""Sorts and top_k of single lines that are long enough for threads to share them."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64", "float16"])
def test_threads_share_the_sort_of_a_long_line(dtype):
    """The line is divided into parts by selected elements; -0 and nan take another way."""
    rng = np.random.default_rng(0)
    count = (1 << 17) + 77
    if np.dtype(dtype).kind == "f":
        x = rng.standard_normal(count).astype(dtype)
        special = x.copy()
        special[rng.integers(0, count, 900)] = np.nan
        special[rng.integers(0, count, 900)] = -0.0
        special[rng.integers(0, count, 900)] = np.inf
        lines = [x, special, np.full_like(x, 3)]
    else:
        info = np.iinfo(dtype)
        lines = [rng.integers(info.min, info.max, count, dtype), rng.integers(0, 50, count).astype(dtype)]
    with pc.enable_x64(True):
        for line in lines:
            np.testing.assert_array_equal(np.asarray(pnp.sort(line)), np.sort(line))
            np.testing.assert_array_equal(np.asarray(pnp.argsort(line)), np.argsort(line, stable=True))
            values, places = pc.lax.top_k(line, 65)
            if np.dtype(dtype).kind == "f":
                order = np.lexsort((np.arange(count), np.where(np.isnan(line), 0, -line), ~np.isnan(line)))[:65]
            else:
                order = np.lexsort((np.arange(count), ~line))[:65]
            np.testing.assert_array_equal(np.asarray(places), order)
            np.testing.assert_array_equal(np.asarray(values), line[order])
