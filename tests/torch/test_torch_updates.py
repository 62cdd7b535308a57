"""Updates of inputs, parameters and buffers, which torch puts at the end of a graph."""

import copy

import pytest
import torch
import torch.utils.checkpoint
from torch import nn


class Module(nn.Module):
    def __init__(self, update):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.register_buffer("mean", torch.randn(3))
        self.update = update

    def forward(self, x):
        self.update(self, x)
        return x * self.weight + self.mean


class Counting(torch.autograd.Function):
    """The sine, whose gradient changes a buffer."""

    @staticmethod
    def forward(ctx, x, largest):
        ctx.save_for_backward(x, largest)
        return x.sin()

    @staticmethod
    def backward(ctx, slope):
        x, largest = ctx.saved_tensors
        largest.add_(slope.abs().max())
        return slope * x.cos(), None


def _other_data(module, x):
    module.weight.data.mul_(2)
    module.weight.data = module.weight.data + 1


def _other_data_of_a_buffer(module, x):
    module.mean.data = x.detach()[0] * 2


@torch.no_grad()
def _other_tensors(module, x):
    module.mean.set_(x[0] * 2)
    module.weight.set_(x[1] * 3)


@torch.no_grad()
def _updates(module, x):
    module.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
    module.weight.copy_(module.mean)


MODULES = (_other_data, _other_data_of_a_buffer, _other_tensors, _updates)


@pytest.mark.parametrize("update", MODULES)
def test_parameters_and_buffers(update):
    module, x = Module(update), torch.randn(4, 3)
    other = copy.deepcopy(module)
    compiled = torch.compile(other, backend="pycompiler")
    for _ in range(3):
        wanted, made = module(x), compiled(x)
        torch.testing.assert_close(made, wanted)
        for one in (wanted, made):
            one.sum().backward()
        for one, parameter in zip(module.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(parameter, one)
            torch.testing.assert_close(parameter.grad, one.grad)
        torch.testing.assert_close(other.mean, module.mean)


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_gradient_that_changes_a_buffer(dynamic):
    f = torch.compile(lambda x, largest: Counting.apply(x, largest).sum(), backend="pycompiler", dynamic=dynamic)
    x, largest = torch.randn(4, requires_grad=True), torch.zeros(4)
    for count in (1, 2):
        x.grad = None
        f(x, largest).backward()
        torch.testing.assert_close(x.grad, x.detach().cos())
        torch.testing.assert_close(largest, torch.full((4,), float(count)))


def test_running_statistics_in_a_checkpoint():
    """Torch's graph of the gradient updates them from their values before the call."""
    layers = nn.Sequential(nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.ReLU())
    other, x = copy.deepcopy(layers), torch.randn(5, 2, 9)
    layers(x).sum().backward()
    f = torch.compile(lambda x: torch.utils.checkpoint.checkpoint(other, x, use_reentrant=False), backend="pycompiler")
    f(x).sum().backward()
    for one, parameter in zip(layers.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, one.grad, rtol=1e-4, atol=1e-5)


def _swapped(x, y):
    kept = x.clone()
    x.copy_(y)
    y.copy_(kept)


def _turned(x, y):
    x.copy_(y.t())
    y.add_(1)


def _turned_before(x, y):
    y.add_(1)
    x.copy_(y.t())


def _each_by_the_other(x, y):
    y.copy_(x.t())
    x.copy_(y * 2)
    return x, y.t()


@pytest.mark.parametrize("function", [_swapped, _turned, _turned_before, _each_by_the_other])
def test_updates_by_each_other(function):
    wanted = [torch.randn(4, 4), torch.randn(4, 4)]
    made = [x.clone() for x in wanted]
    f = torch.compile(function, backend="pycompiler")
    for _ in range(2):
        torch.testing.assert_close(f(*made), function(*wanted))
        torch.testing.assert_close(made, wanted)


def test_no_update_before_an_error():
    def f(x, count, index):
        count.add_(1)
        return x[index]

    f, x, count = torch.compile(f, backend="pycompiler"), torch.randn(4), torch.zeros(2)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        f(x, count, torch.tensor([7]))
    torch.testing.assert_close(count, torch.zeros(2))
    f(x, count, torch.tensor([3]))
    torch.testing.assert_close(count, torch.ones(2))


def test_a_buffer_that_a_gradient_outside_needs_is_an_error_after_its_update():
    buffer, x = torch.ones(3), torch.ones(3, requires_grad=True)
    product = x * buffer
    torch.compile(lambda b: b.add_(1), backend="pycompiler")(buffer)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
