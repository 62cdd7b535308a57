"""Maxima of windows and their places beside eager torch: the first of equal elements, the last nan, no padding."""

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

WINDOWS = {
    "small": {"kernel_size": 3, "stride": 2, "padding": 1},
    "at every place": {"kernel_size": 5, "stride": 1, "padding": 2},
    "uneven": {"kernel_size": (5, 4), "stride": (2, 3), "padding": (2, 1)},
    "with gaps": {"kernel_size": 5, "stride": 2, "padding": 2, "dilation": 2},
    "more than the image": {"kernel_size": 5, "stride": 3, "padding": 1, "ceil_mode": True},
    "large": {"kernel_size": 9, "stride": 1, "padding": 4},
}


def images(kind: str, shape: tuple[int, ...]) -> torch.Tensor:
    torch.manual_seed(3)
    if kind == "equal elements":
        return torch.randint(0, 3, shape).float()
    if kind == "the least":
        return torch.full(shape, -math.inf)
    given = torch.randn(shape)
    if kind == "nan":
        given.view(-1)[::17] = math.nan
    return given


@pytest.mark.parametrize("kind", ["distinct", "equal elements", "nan", "the least"])
@pytest.mark.parametrize("name", WINDOWS)
def test_maxima_and_places(name, kind):
    def pool(x):
        return F.max_pool2d(x, return_indices=True, **WINDOWS[name])

    given = images(kind, (2, 2, 21, 19))
    made, places = torch.compile(pool, backend="pycompiler")(given)
    expected, expected_places = pool(given)
    assert torch.equal(places, expected_places)
    torch.testing.assert_close(made, expected, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["distinct", "equal elements"])
@pytest.mark.parametrize("size", [2, 4])
def test_volumes_and_their_gradients(size, kind):
    def run(function):
        given = images(kind, (2, 2, 9, 8, 7)).requires_grad_()
        made, places = function(given)
        return made.detach(), places, torch.autograd.grad(made.square().sum(), given)

    def pool(x):
        return F.max_pool3d(x, size, 2, size // 2, return_indices=True)

    torch.testing.assert_close(run(torch.compile(pool, backend="pycompiler")), run(pool), rtol=1e-6, atol=0)


def test_large_windows_are_small_programs():
    """The terms are the sum of the sizes of the kernel: 41 places in a row instead of 1,681 of the window."""
    program = torch.compile(lambda x: F.max_pool2d(x, 41, stride=1), backend="pycompiler", fullgraph=True)
    given = images("distinct", (1, 1, 45, 44))
    torch.testing.assert_close(program(given), F.max_pool2d(given, 41, stride=1), rtol=0, atol=0)
