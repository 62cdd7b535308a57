"""Sizes that depend on data, inside one graph: only the operations that decide such a size run in eager torch."""

import re
import warnings

import pytest
import torch
import torch._dynamo.config

PROGRAMS = {}
# With a symbolic number of rows, too.
LEFT_IF_DYNAMIC = {"first_rows": {"aten.slice.Tensor"}}


def program(left, *args):
    """Enter a program with the operations that eager torch runs, and its arguments."""

    def enter(function):
        PROGRAMS[function.__name__] = (function, left, args)
        return function

    return enter


R = torch.randn
torch.manual_seed(0)


@program({"aten.nonzero.default"}, R(6, 3).requires_grad_(), torch.tensor([0, 1, 0, 1, 1, 0]))
def experts(x, expert):
    out = torch.zeros_like(x)
    for number in range(3):
        rows = torch.where(expert == number)[0]
        out = out.index_add(0, rows, torch.tanh(x[rows] @ (torch.ones(3, 3) * number)))
    return out


@program({"aten.index.Tensor", "aten.nonzero.default"}, R(6, 3))
def chosen_rows(x):
    chosen = x[:, 0] > 0
    y, rows = x[chosen], torch.nonzero(chosen).squeeze(1)
    squares = (y[:, None] - y[None]).square().sum(-1)
    return y.softmax(1), torch.cat([y, x]), y.t() * 2, squares, rows * 2, y.sort(0)[0], y.cumsum(0), y @ x.t()


@program({"aten.index.Tensor", "aten.index_put.default"}, R(9).requires_grad_())
def chosen_elements(x):
    return (x[x > 0] ** 2).sin().sum()


@program({"aten._unique2.default"}, torch.tensor([3, 1, 2, 3, 1]))
def distinct(x):
    values, places = torch.unique(x, return_inverse=True)
    return values * 2, places + 1, torch.arange(values.shape[0]) - 1


@program(set(), R(8, 2), torch.tensor(3))
def first_rows(x, count):
    count = count.item()
    torch._check(count >= 0)
    torch._check(count <= 8)
    return torch.zeros(count) + 1, x.narrow(0, 0, count) * 2, torch.arange(count) * 2


def _run(function, args):
    args = [x.detach().clone().requires_grad_(x.requires_grad) for x in args]
    made = function(*args)
    if isinstance(made, torch.Tensor) and made.requires_grad:
        made.sum().backward()
    return made, [x.grad for x in args]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_only_operations_that_decide_a_size_are_left(name, dynamic, monkeypatch):
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    function, left, args = PROGRAMS[name]
    left = left | LEFT_IF_DYNAMIC.get(name, set()) if dynamic else left
    compiled = torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=dynamic)
    options = {"capture_dynamic_output_shape_ops": True, "capture_scalar_outputs": True}
    with torch._dynamo.config.patch(options), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = _run(compiled, args)
        # Other sizes, of the same graph.
        others = [x.detach().flip(0).abs().requires_grad_(x.requires_grad) for x in args]
        again = _run(compiled, others)
    torch.testing.assert_close(made, _run(function, args), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(again, _run(function, others), rtol=1e-4, atol=1e-5)
    texts = [str(one.message) for one in told if "run in eager torch" in str(one.message)]
    assert {name for text in texts for name in re.findall(r"^  (\S+), \d+ times", text, re.MULTILINE)} == left
