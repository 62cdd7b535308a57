"""Strided views of tensors by their storage (`as_strided`), beside eager torch."""

import pytest
import torch


def transposed(x):
    return torch.as_strided((x * 2).t(), (3, 2), (1, 3))


def transposed_input(x):
    return torch.as_strided(x.t(), (3, 2), (1, 3)) + 1


def beyond_a_slice(x):
    return torch.as_strided((x * 2)[1:, 1:], (2, 3), (3, 1), 1)


def at_the_offset_of_a_slice(x):
    return torch.as_strided((x * 2)[1:, 1:], (2, 2), (3, 1))


def overlapping(x):
    return (x * 2).view(-1).as_strided((5, 4), (3, 1)).sin()


def twice(x):
    return (x * 2).as_strided((4, 4), (2, 1)).as_strided((3, 2), (1, 4), 2)


def conjugate(x):
    return torch.complex(x, x + 1).conj().as_strided((3, 2), (2, 1)).sin()


def empty(x):
    return (x * 2).as_strided((0, 2), (100, 1)).sin()


def of_one_row(x):
    return (x[0] * 2).expand(4, 4).as_strided((2, 2), (1, 2))


def written(x):
    y = x * 2
    y.as_strided((3,), (5,)).add_(1)
    return y


def written_across(x):
    y = (x * 2).t().clone(memory_format=torch.preserve_format)
    y.as_strided((3,), (5,), 1).mul_(3)
    return y


CASES = [
    transposed, transposed_input, beyond_a_slice, at_the_offset_of_a_slice, overlapping, twice, conjugate, empty,
    of_one_row, written, written_across,
]  # fmt: skip


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_values_and_gradients(function, dynamic):
    a = torch.randn(4, 4, requires_grad=True)
    b = a.detach().clone().requires_grad_()
    wanted = function(a)
    compiled = torch.compile(function, backend="pycompiler", dynamic=dynamic)
    made = compiled(b)
    torch.testing.assert_close(made, wanted)
    given = torch.randn_like(wanted)
    wanted.backward(given)
    made.backward(given)
    torch.testing.assert_close(b.grad, a.grad)
    other = torch.randn(6, 4)
    torch.testing.assert_close(compiled(other), function(other))
