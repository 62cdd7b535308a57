"""Convolutions that are large enough for tiles, and their two gradients, against jax's: layouts, strides, dilations,
padding, groups, ranks, dtypes. Each case takes another path through array-lower-convolutions."""

import jax
import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc

NHWC = ("NHWC", "HWIO", "NHWC")
NWC = ("NWC", "WIO", "NWC")
NDHWC = ("NDHWC", "DHWIO", "NDHWC")

# name: shapes of the operand and of the kernel, strides, padding, and the other arguments.
CASES = {
    "last": ((2, 9, 8, 16), (3, 3, 16, 40), (1, 1), "SAME", {"dimension_numbers": NHWC}),
    "first": ((2, 16, 9, 8), (24, 16, 3, 3), (1, 1), "SAME", {}),
    "strides": ((2, 9, 8, 16), (3, 3, 16, 20), (2, 2), "SAME", {"dimension_numbers": NHWC}),
    "strides, first": ((2, 16, 9, 8), (40, 16, 3, 3), (2, 1), "SAME", {}),
    "three channels": ((2, 14, 14, 3), (7, 7, 3, 64), (2, 2), "SAME", {"dimension_numbers": NHWC}),
    "elements, strides": ((2, 9, 9, 32), (1, 1, 32, 64), (2, 2), "VALID", {"dimension_numbers": NHWC}),
    "cut and padded": ((2, 10, 10, 4), (2, 3, 4, 8), (3, 2), [(-1, 1), (2, -1)], {"dimension_numbers": NHWC}),
    "dilated kernel": (
        (2, 14, 14, 8),
        (3, 3, 8, 16),
        (1, 1),
        "SAME",
        {"rhs_dilation": (2, 3), "dimension_numbers": NHWC},
    ),
    "dilated operand": (
        (2, 6, 7, 8),
        (3, 3, 8, 16),
        (1, 1),
        [(2, 1), (0, 2)],
        {"lhs_dilation": (2, 3), "rhs_dilation": (1, 2), "dimension_numbers": NHWC},
    ),
    "both": (
        (2, 6, 7, 8),
        (3, 3, 8, 16),
        (2, 1),
        [(0, 1), (1, 0)],
        {"lhs_dilation": (2, 2), "dimension_numbers": NHWC},
    ),
    "groups": ((2, 7, 7, 32), (3, 3, 8, 16), (1, 1), "SAME", {"feature_group_count": 4, "dimension_numbers": NHWC}),
    "groups, first": ((2, 32, 7, 7), (16, 8, 3, 3), (2, 1), "SAME", {"feature_group_count": 4}),
    "groups of the batch": (
        (4, 7, 7, 8),
        (3, 3, 8, 16),
        (1, 1),
        "SAME",
        {"batch_group_count": 2, "dimension_numbers": NHWC},
    ),
    "blocks of channels": ((1, 5, 5, 160), (3, 3, 160, 70), (1, 1), "SAME", {"dimension_numbers": NHWC}),
    "one dimension": ((2, 60, 8), (5, 8, 16), (1,), "SAME", {"dimension_numbers": NWC}),
    "long": ((1, 3, 3000), (8, 3, 5), (1,), "SAME", {}),
    "three dimensions": ((1, 5, 6, 7, 8), (3, 2, 3, 8, 16), (1, 2, 1), "SAME", {"dimension_numbers": NDHWC}),
}


def check(case, dtype, tolerance):
    left, right, strides, padding, others = CASES[case]
    rng = np.random.default_rng(list(case.encode()))
    x, w = (rng.standard_normal(shape).astype(dtype) for shape in (left, right))

    def program(m):
        def convolve(x, w):
            return m.lax.conv_general_dilated(x, w, strides, padding, **others)

        def all_three(x, w):
            y, pull = m.vjp(convolve, x, w)
            return y, *pull(y)

        return m.jit(all_three)

    for ours, theirs in zip(program(pc)(x, w), program(jax)(x, w), strict=True):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert ours.dtype == theirs.dtype == dtype
        ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max())


@pytest.mark.parametrize("case", CASES)
def test_float32(case):
    check(case, np.dtype(np.float32), 1e-5)


@pytest.mark.parametrize("case", ["last", "strides, first"])
def test_bfloat16(case):
    check(case, np.dtype(ml_dtypes.bfloat16), 2e-2)


@pytest.mark.parametrize("case", ["last", "strides"])
def test_float64(case):
    with jax.enable_x64(True), pc.enable_x64(True):
        check(case, np.dtype(np.float64), 1e-13)
