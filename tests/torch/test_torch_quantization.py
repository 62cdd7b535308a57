"""Training for quantization beside eager torch: rounding to a quantized type, learned scales, observers."""

import copy

import pytest
import torch

INF = float("inf")


def compiled(function, **options):
    return torch.compile(function, backend="pycompiler", fullgraph=True, **options)


def same(function, *args):
    """Results and gradients."""
    for run in (function, compiled(function)):
        given = [x.clone().requires_grad_(x.requires_grad) for x in args]
        made = run(*given)
        wanted = [x for x in given if x.requires_grad]
        found = [made, *torch.autograd.grad((made * torch.linspace(1, 2, made.numel()).view_as(made)).sum(), wanted)]
        if run is function:
            expected = found
    for one, other in zip(expected, found, strict=True):
        torch.testing.assert_close(other, one)


@pytest.fixture
def x():
    return torch.cat(
        [torch.randn(3, 37) * 8, torch.tensor([[0.05, 0.15, 0.25], [-0.05, 100.0, -100.0], [0, 7, 1e9]])], 1
    )


def test_per_tensor(x):
    x.requires_grad_()
    same(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127), x)
    same(lambda x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 15), x)
    scale, zero_point = torch.tensor(0.25), torch.tensor(-2, dtype=torch.int32)
    same(lambda x, *more: torch.fake_quantize_per_tensor_affine(x, *more, -8, 7), x, scale, zero_point)


@pytest.mark.parametrize("axis", [0, 1])
def test_per_channel(x, axis):
    size = x.shape[axis]
    scale = torch.linspace(0.05, 0.5, size)
    zero_point = torch.arange(size, dtype=torch.int32) - 2
    function = lambda x, *more: torch.fake_quantize_per_channel_affine(x, *more, axis, -128, 127)  # noqa: E731
    same(function, x.requires_grad_(), scale, zero_point)


def test_learned_scales(x):
    x.requires_grad_()
    scale, zero_point = torch.tensor([0.13], requires_grad=True), torch.tensor([1.6], requires_grad=True)
    same(lambda *args: torch._fake_quantize_learnable_per_tensor_affine(*args, -20, 20, 0.5), x, scale, zero_point)
    scale = torch.tensor([0.13, 0.2, 0.3], requires_grad=True)
    zero_point = torch.tensor([1.6, 0.0, -30.0], requires_grad=True)
    same(lambda *args: torch._fake_quantize_learnable_per_channel_affine(*args, 0, -20, 20, 0.5), x, scale, zero_point)


class Observed(torch.nn.Module):
    def __init__(self, per_row, symmetric, observes=1, quantizes=1):
        super().__init__()
        count = 3 if per_row else 1
        self.options = (0.25, -128, 127, 0, per_row, symmetric)
        for name, value in {
            "observes": torch.tensor([observes]),
            "quantizes": torch.tensor([quantizes]),
            "low": torch.full((count,) if per_row else (), INF),
            "high": torch.full((count,) if per_row else (), -INF),
            "scale": torch.ones(count),
            "zero_point": torch.zeros(count, dtype=torch.int32),
        }.items():
            self.register_buffer(name, value)

    def forward(self, x):
        return torch.fused_moving_avg_obs_fake_quant(x, *self.buffers(), *self.options)


@pytest.mark.parametrize("flags", [(1, 1), (1, 0), (0, 1), (0, 0)])
@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_observers(per_row, symmetric, flags):
    """Three steps: what is observed, and the results."""
    module = Observed(per_row, symmetric, *flags)
    other = copy.deepcopy(module)
    run = compiled(other)
    for factor in (1.0, -3.0, 1e-4, 1e-9):
        x = torch.randn(3, 20) * factor + factor
        torch.testing.assert_close(run(x), module(x))
        for name, value in module.named_buffers():
            torch.testing.assert_close(getattr(other, name), value, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("x", [[0.0, 0.0], [1.0, 2.0], [-3.0, -1.0], [0.0, 1e-3], [-1e-3, 0.0], [-1e-3, 1e-4]])
def test_ranges_that_are_narrow_or_without_zero(x):
    module = Observed(False, False)
    other = copy.deepcopy(module)
    x = torch.tensor(x)
    torch.testing.assert_close(compiled(other)(x), module(x))
    torch.testing.assert_close((other.scale, other.zero_point), (module.scale, module.zero_point))
