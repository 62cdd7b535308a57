"""Numbers that only a call knows: those of `.item()`, and numbers of Python that may be negative. They are computed
inside a program, and no operation is left to eager torch."""

import math
import warnings

import pytest
import torch
from left_out import bump, swap

import pycompiler.torch.calls

PROGRAMS = {}


def program(function):
    """Enter a program of a float tensor of 6 elements, and an integer tensor of 2."""
    PROGRAMS[function.__name__] = function
    return function


@program
def sums_and_quotients(x, i):
    k = i.sum().item()
    return x + k * 2 + k // 3 - k % 4 + abs(k) / 7 + (-k)


@program
def a_float(x, i):
    n = x.max().item()
    return (x - n) / (n + 2.0) + n * n


@program
def functions_of_numbers(x, i):
    return math.sqrt(i[0].item()) * x + math.floor(i[1].item() / 3) + float(i[0].item()) ** 0.5


@program
def the_larger_number(x, i):
    return torch.sym_max(i[0].item(), i[1].item()) * x, torch.sym_min(i[0].item(), i[1].item()) * x


@program
def comparisons(x, i):
    k = i[0].item()
    return torch.where(x > k, x, k), x == k, (i == k).sum()


@program
def a_bool(x, i):
    return x * (i[0] > 2).item()


@program
def bounds_and_factors(x, i):
    a, b = i.tolist()
    low = x.mean().item()
    return x.clamp(min=a - 3, max=b), torch.add(x, x, alpha=a), x.abs() ** a, x.clamp(-low, low), torch.lerp(x, -x, low)


@program
def fills(x, i):
    a, b = i.tolist()
    filled = x.masked_fill(x > 0.5, x.min().item())
    return filled, torch.full((3,), a), torch.tensor([a, b]) * 2, x.clone().fill_(b), torch.tensor(x.sum().item())


@program
def a_threshold(x, i):
    return torch.nn.functional.threshold(x, x.mean().item(), 0.5)


@program
def a_shift(x, i):
    return torch.roll(x, i[0].item())


@program
def narrow_dtypes(x, i):
    k = i[1].item()
    bytes_ = i.to(torch.int8) * 100 + k
    return bytes_, x.to(torch.bfloat16) * k, torch.remainder(x.to(torch.float16), x.max().item()), i.to(torch.uint8) - k


@program
def results_that_are_numbers(x, i):
    return x * 2, x.sum().item() * 2, i[0].item() + 1, (x.sum() > 0).item()


@program
def an_index(x, i):
    k = i[0].item()
    torch._check(k >= 0)
    torch._check(k < x.shape[0])
    y = x.clone()
    y[k] = 7.0
    return x[k] * 2, y


@program
def a_number_that_is_a_size_too(x, i):
    k = i[0].item()
    torch._check(k >= 2)
    return torch.zeros(k) + k, x.sum() * k


@program
def a_branch(x, i):
    k = i[0].item()
    return torch.cond(k > 3, lambda x: x * 2, lambda x: x - 1, (x,)), torch.cond(
        x.sum() > 0, lambda x: x * k, lambda x: x - k, (x,)
    )


def _sum(values):
    values = values if isinstance(values, tuple) else (values,)
    return sum(x.float().nansum() for x in values if isinstance(x, torch.Tensor) and x.requires_grad)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_numbers_of_data_are_as_in_eager_torch(name, dynamic):
    function = PROGRAMS[name]
    x, i = torch.arange(1.0, 7.0) / 5, torch.tensor([3, 5])
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=dynamic)
        for one, other in ((x, i), (x * -1.25, i + 1)):
            torch.testing.assert_close(compiled(one, other), function(one, other), equal_nan=True)


@pytest.mark.parametrize("name", ["a_float", "a_threshold", "sums_and_quotients", "a_bool", "functions_of_numbers"])
def test_gradients_with_numbers_of_data(name):
    function, i = PROGRAMS[name], torch.tensor([3, 5])
    given = [(torch.arange(1.0, 7.0) / 5).requires_grad_() for _ in range(2)]
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        _sum(torch.compile(function, backend="pycompiler", fullgraph=True)(given[0], i)).backward()
    _sum(function(given[1], i)).backward()
    torch.testing.assert_close(given[0].grad, given[1].grad)


def test_a_number_that_may_be_negative_needs_one_program(monkeypatch):
    programs = []

    class Counted(pycompiler.torch.calls.Program):
        def __init__(self, *args):
            super().__init__(*args)
            programs.append(self)

    monkeypatch.setattr(pycompiler.torch.calls, "Program", Counted)
    compiled = torch.compile(lambda x, n: x * n + x.shape[0] // 2, backend="pycompiler", dynamic=True, fullgraph=True)
    for n in (-7, 5, 12, -1000):
        x = torch.arange(abs(n) + 4.0)
        torch.testing.assert_close(compiled(x, n), x * n + x.shape[0] // 2)
    assert len(programs) == 1


def test_a_shift_that_may_be_negative():
    compiled = torch.compile(lambda x, n: x.roll(n) * n, backend="pycompiler", dynamic=True)
    for n in (-3, 2, 5, -4):
        torch.testing.assert_close(compiled(torch.arange(9.0), n), torch.arange(9.0).roll(n) * n)


def _bumped(x):
    y = x * 2
    bump(y[1:3], 1.5)
    return y + 1


def _bumped_argument(x):
    bump(x, 2.0)
    return x * 2


def _swapped(x):
    a, b = x + 1, x * 2
    made = swap(a, b)
    return a, b, made * 2


@pytest.mark.parametrize(("function", "name"), [(_bumped, "bump"), (_bumped_argument, "bump"), (_swapped, "swap")])
def test_custom_operations_that_change_their_arguments(function, name, monkeypatch):
    """Their code is not torch's: they run in eager torch."""
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    given = [torch.arange(6.0) for _ in range(2)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = torch.compile(function, backend="pycompiler")(given[0])
    assert f"pycompiler_tests.{name}.default, 1 times" in str(told[-1].message)
    assert "a custom operation" in str(told[-1].message)
    torch.testing.assert_close(made, function(given[1]))
    torch.testing.assert_close(given[0], given[1])
