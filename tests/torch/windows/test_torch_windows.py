"""Weighted sums of windows beside eager torch: only the elements of a window count, also beside nan and infinities."""

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

OPERATIONS = {
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, (5, 4)),
    "adaptive of parts that divide": lambda x: F.adaptive_avg_pool2d(x, (4, 7)),
    "adaptive of long parts": lambda x: F.adaptive_avg_pool1d(x.flatten(2), 5),
    "adaptive in 3-D": lambda x: F.adaptive_avg_pool3d(x, (1, 5, 4)),
    "larger": lambda x: F.adaptive_avg_pool2d(x, (20, 17)),
    "area": lambda x: F.interpolate(x, size=(5, 9), mode="area"),
    "linear, antialias": lambda x: F.interpolate(x, size=(5, 4), mode="bilinear", antialias=True),
    "cubic, antialias": lambda x: F.interpolate(x, size=(9, 4), mode="bicubic", antialias=True),
    "larger, antialias": lambda x: F.interpolate(x, size=(19, 23), mode="bilinear", antialias=True),
    "means": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "means of parts": lambda x: F.avg_pool2d(x, (3, 4), ceil_mode=True, count_include_pad=False, padding=(1, 2)),
    "means with gaps": lambda x: F.avg_pool2d(x, 2, 3, divisor_override=3),
    "one mean": lambda x: F.avg_pool2d(x, (12, 14)),
}


@pytest.mark.parametrize("value", [1.0, math.nan, -math.inf], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_only_elements_of_a_window_count(name, value):
    def run(function):
        given = torch.linspace(-1, 2, 2 * 12 * 14).sin().reshape(1, 2, 12, 14)
        given[0, 0, 3, 6], given[0, 1, 11, 13] = value, value
        given.requires_grad_()
        made = function(given)
        weights = torch.ones_like(made)
        weights[0, 0, ..., 0], weights[0, -1, ..., -1] = value, 2
        return made.detach(), torch.autograd.grad(made, given, weights)

    made = run(torch.compile(OPERATIONS[name], backend="pycompiler"))
    torch.testing.assert_close(made, run(OPERATIONS[name]), equal_nan=True, rtol=1e-5, atol=1e-5)


def test_a_large_window_is_a_small_program():
    """One reduction for each axis, not one term for each place in the window."""
    f = torch.compile(lambda x: F.avg_pool2d(x, 64), backend="pycompiler")
    x = torch.randn(1, 1, 128, 64)
    torch.testing.assert_close(f(x), x.reshape(1, 1, 2, 64, 64).mean((3, 4))[..., None])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", [(4, 5), (2, 5, 3, 2)], ids=str)
def test_targets_that_are_all_ignored_have_no_gradient(shape, reduction):
    """The mean of no losses is nan, and its gradient 0."""

    def run(function):
        scores = torch.linspace(-1, 2, math.prod(shape)).reshape(shape).requires_grad_()
        target = torch.full((shape[0], *shape[2:]), 7)
        made = function(scores, target)
        return made.detach(), torch.autograd.grad(made.sum(), scores)[0]

    def loss(x, y):
        return F.cross_entropy(x, y, ignore_index=7, reduction=reduction)

    made, wanted = run(torch.compile(loss, backend="pycompiler")), run(loss)
    torch.testing.assert_close(made, wanted, equal_nan=True)
    assert not made[1].any()
