"""Windows over axes of symbolic sizes, beside eager torch: one program for all sizes, with its gradient."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from pycompiler.torch import calls


@pytest.fixture(autouse=True)
def _one_program(monkeypatch):
    """A program for each size would hide that a size has to be known."""

    def refuse(self, graph):
        raise AssertionError("a program for each size")

    monkeypatch.setattr(calls._BySize, "__init__", refuse)


def _check(function, sizes, channels=3):
    compiled = torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=True)
    for batch, height, width in sizes:
        x = torch.randn(batch, channels, height, width)
        made = []
        for run in (function, compiled):
            given = x.clone().requires_grad_()
            result = run(given)
            (result * torch.linspace(-1, 1, result.numel()).reshape(result.shape)).sum().backward()
            made.append((result.detach(), given.grad))
        torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-4)


SIZES = [(2, 11, 14), (3, 8, 9), (5, 21, 13), (4, 16, 16)]


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
        {"kernel_size": (2, 3), "stride": (3, 1), "padding": (1, 0), "dilation": (2, 1)},
        {"kernel_size": 5, "stride": 1, "padding": 2},
        {"kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True},
    ],
)
def test_largest(options):
    _check(lambda x: F.max_pool2d(x, **options), SIZES)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
        {"kernel_size": (2, 3), "stride": (3, 1), "padding": (1, 1), "divisor_override": 5},
        {"kernel_size": 3, "stride": 3, "padding": 1, "ceil_mode": True, "count_include_pad": False},
    ],
)
def test_means(options):
    _check(lambda x: F.avg_pool2d(x, **options), SIZES)


def test_sizes_that_guards_have_found_even():
    """Torch's guard says that height and width are even; so both branches have one shape."""

    def function(x):
        deep = F.interpolate(F.avg_pool2d(x, 2), scale_factor=2, mode="nearest")
        return torch.cat([deep, x], 1).square()

    _check(function, [(2, 12, 14), (3, 8, 10), (5, 22, 16)])


@pytest.mark.parametrize("name", ["unet", "resnet"])
def test_models_for_images_of_all_sizes(name):
    from torch_models import MODELS

    model = MODELS[name][0]().eval()
    _check(model, [(2, 32, 32), (3, 16, 16), (5, 24, 24)], channels=3 if name == "resnet" else 1)
