"""Integers drawn between bounds that only an unsigned dtype holds."""

import numpy as np

import pycompiler as pc
from pycompiler import random


def test_bounds_beyond_the_signed_integers():
    key = random.key(3)
    drawn = np.asarray(random.randint(key, (200,), 2**31, 2**31 + 5, np.uint32))
    assert drawn.dtype == np.uint32
    assert set(drawn) == set(range(2**31, 2**31 + 5))
    with pc.enable_x64():
        for low, high in ((2**63, 2**63 + 5), (np.uint64(2**63), np.uint64(2**63 + 5)), (2**64 - 6, 2**64 - 1)):
            drawn = np.asarray(random.randint(key, (200,), low, high, np.uint64))
            assert drawn.dtype == np.uint64
            assert set(map(int, drawn)) == set(range(int(low), int(high)))
        drawn = np.asarray(random.randint(key, (2000,), 0, 2**64 - 1, np.uint64))
        assert abs(np.mean(drawn >= 2**63) - 0.5) < 0.05
