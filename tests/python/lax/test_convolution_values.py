"""Convolutions that are large enough for tiles, and their two gradients, against sums of products in NumPy: layouts,
strides, dilations, padding, groups, ranks, dtypes. Each case takes another path through array-lower-convolutions."""

import ml_dtypes
import numpy as np
import pytest
from plain_windows import conv_general_dilated, conv_pullback

import pycompiler as pc
from pycompiler import lax

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
    # Few features: vectors of terms, from a kernel whose terms become dense, or of positions.
    "two features": ((2, 9, 8, 40), (3, 3, 40, 2), (1, 1), "SAME", {"dimension_numbers": NHWC}),
    "three features": ((2, 7, 8, 64), (5, 5, 64, 3), (1, 1), "SAME", {"dimension_numbers": NHWC}),
    "four features, strides": ((2, 9, 8, 16), (3, 3, 16, 4), (2, 2), "SAME", {"dimension_numbers": NHWC}),
    "five features, dilated": (
        (2, 9, 8, 32),
        (3, 3, 32, 5),
        (1, 1),
        "SAME",
        {"lhs_dilation": (1, 2), "rhs_dilation": (2, 1), "dimension_numbers": NHWC},
    ),
    "three features, dense": (
        (2, 9, 8, 32),
        (3, 3, 3, 32),
        (1, 1),
        "SAME",
        {"dimension_numbers": ("NHWC", "OHWI", "NCHW")},
    ),
    "four features, first": ((2, 16, 9, 24), (4, 16, 3, 3), (1, 1), "SAME", {}),
    "five features, first": ((2, 20, 9, 40), (5, 20, 3, 3), (1, 2), "SAME", {}),
    "three features, one dimension": ((2, 60, 24), (5, 24, 3), (1,), "SAME", {"dimension_numbers": NWC}),
    # Fewer windows than taps, so that the roles of loops in a convolution and in its gradients are exchanged.
    "patches": ((2, 8, 8, 12), (4, 4, 12, 24), (4, 4), "VALID", {"dimension_numbers": NHWC}),
    "patches, first": ((2, 3, 16, 16), (24, 3, 8, 8), (8, 8), "VALID", {}),
    "one window": ((2, 7, 7, 8), (7, 7, 8, 32), (1, 1), "VALID", {"dimension_numbers": NHWC}),
    "overlapping, first": ((2, 4, 9, 9), (16, 4, 7, 7), (1, 1), "VALID", {}),
    "padded patches": ((2, 9, 9, 8), (8, 8, 8, 16), (4, 4), "SAME", {"dimension_numbers": NHWC}),
    "three dimensions": ((1, 5, 6, 7, 8), (3, 2, 3, 8, 16), (1, 2, 1), "SAME", {"dimension_numbers": NDHWC}),
}


def check(case, dtype, tolerance, batches=None):
    """With `batches`, the batch is symbolic, and has each of these sizes."""
    left, right, strides, padding, others = CASES[case]

    def all_three(x, w):
        y, pull = pc.vjp(lambda x, w: lax.conv_general_dilated(x, w, strides, padding, **others), x, w)
        return y, *pull(y)

    compiled = pc.jit(all_three, dynamic={"x": ("n", *[None] * (len(left) - 1))} if batches else None)
    rng = np.random.default_rng(list(case.encode()))
    for batch in batches or left[:1]:
        x, w = (rng.standard_normal(shape).astype(dtype) for shape in ((batch, *left[1:]), right))
        compare(compiled(x, w), x, w, strides, padding, others, tolerance)


def compare(made, x, w, strides, padding, others, tolerance):
    y, *gradients = made
    wanted = conv_general_dilated(x, w, strides, padding, **others)
    # What is pulled back is the result, in the dtype of the operands.
    wanted = wanted, *conv_pullback(x, w, np.asarray(y), strides, padding, **others)
    for ours, theirs in zip((y, *gradients), wanted, strict=True):
        ours = np.asarray(ours)
        assert ours.dtype == x.dtype
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max()
        )


@pytest.mark.parametrize("case", CASES)
def test_float32(case):
    check(case, np.dtype(np.float32), 1e-5)


@pytest.mark.parametrize("case", ["last", "strides, first", "three features", "four features, first"])
def test_bfloat16(case):
    check(case, np.dtype(ml_dtypes.bfloat16), 2e-2)


@pytest.mark.parametrize("case", ["last", "strides", "two features", "four features, first"])
def test_float64(case):
    with pc.enable_x64(True):
        check(case, np.dtype(np.float64), 1e-13)


@pytest.mark.parametrize("case", [case for case in CASES if case != "groups of the batch"])
def test_symbolic_batch(case):
    check(case, np.dtype(np.float32), 1e-5, (1, 3, 5))
