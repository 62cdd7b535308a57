"""Layouts: every array is row-major, and a Format is a placement."""

import numpy as np
import pytest

import pycompiler as pc
from pycompiler.experimental.layout import Format, Layout


def test_a_format_is_a_placement():
    sharding = pc.sharding.SingleDeviceSharding(pc.devices()[0])
    rows, columns = Format(Layout((0, 1)), sharding), Format(Layout((1, 0)), sharding)
    x = np.ones((2, 3), np.float32)
    assert pc.device_put(x, rows).device == pc.devices()[0]
    assert pc.jit(lambda x: x + 1, in_shardings=Format(None, sharding), out_shardings=rows)(x).sum() == 12
    with pytest.raises(ValueError, match="arrays are row-major here"):
        pc.device_put(x, columns)
