"""Torch's operations that take functions: branches, loops, scans, maps, regions. No operation is left to eager torch,
but for those that a test names."""

import warnings

import pytest
import torch
from left_out import slope
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as mapped
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

PROGRAMS = {}


def program(*args, **options):
    """Enter a program with its arguments, and options of torch.compile."""

    def enter(function):
        PROGRAMS[function.__name__] = (function, args, options)
        return function

    return enter


R = torch.randn
torch.manual_seed(0)
WEIGHT = R(3, 3)


@program(R(4).requires_grad_())
def branches(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,)).sum()


@program(R(4).requires_grad_())
def the_other_branch(x):
    return torch.cond(x.sum() <= 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,)).sum()


@program(R(4))
def several_results(x):
    return torch.cond(x.sum() > 0, lambda x: (x * 2, [x.sum()]), lambda x: (x + 1, [x.mean()]), (x,))


@program(R(4))
def nested_branches(x):
    def inner(x):
        return torch.cond(x[0] > 0, lambda x: x * 2, lambda x: x * 3, (x,))

    return torch.cond(x.sum() > -9, inner, lambda x: x.cos(), (x,))


@program(R(4, 3).requires_grad_())
def branches_with_closures_and_constants(x):
    w = x * 2
    return torch.cond(x.sum() > 0, lambda y: y * w, lambda y: y - torch.tensor([1.0, 2.0, 3.0]), (x,)).sum()


@program(R(6, 3), dynamic=True)
def branches_of_symbolic_sizes(x):
    return torch.cond(x.sum() > 0, lambda x: x[1:].sin(), lambda x: x[1:] * x.shape[0], (x,))


@program(R(4), dynamic=True)
def a_branch_by_a_size(x):
    return torch.cond(x.shape[0] > 3, lambda x: x * 2, lambda x: x + 1, (x,))


@program(R(4, 6))
def branches_under_autocast(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.cond(x.sum() > 0, lambda y: y @ y.t(), lambda y: y @ (y.t() * 2), (x,)).float()


@program(R(4, 3).requires_grad_())
def branches_of_mapped_functions(x):
    return torch.vmap(lambda v: torch.cond(v.sum() > 0, lambda v: v.sin(), lambda v: v * 2, (v,)))(x).sum()


@program(R(4, 3), dynamic=True)
def a_loop(x):
    return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, x * 1.5 + x.shape[0]), (torch.tensor(0), x))


@program(R(4))
def a_loop_until_data_are_small(x):
    return while_loop(lambda x: x.abs().sum() > 0.1, lambda x: (x * 0.5,), (x,))


@program(R(4))
def a_loop_that_counts_with_a_number(x):
    n, y = while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, y * 2 + n), (0, x))
    return n + 3, y * n, torch.full((2,), n)


@program(R(4), dynamic=True)
def a_loop_that_counts_down(x):
    return while_loop(lambda n, f, y: n > 0, lambda n, f, y: (n - 2, f * 1.5, y + n * f), (7, torch.tensor(1.0), x))


@program(R(6))
def a_loop_with_a_number_in_operations(x):
    def body(n, y):
        return n + 1, y + torch.where(torch.arange(6) == torch.full((1,), n), 10.0, 0.0)

    return while_loop(lambda n, y: y.sum() < 25, body, (1, x))


@program(R(4))
def loops_in_loops(x):
    def body(i, x):
        start = torch.zeros((), dtype=torch.long)
        return i + 1, while_loop(lambda j, y: j < i, lambda j, y: (j + 1, y + 1), (start, x))[1]

    return while_loop(lambda i, x: i < 3, body, (torch.tensor(0), x))


@program(R(6, 3).requires_grad_())
def a_recurrent_layer(x):
    return scan(lambda c, y: ((c @ WEIGHT).tanh() + y, c.clone()), torch.zeros(3), x)[1].square().sum()


@program(R(3, 5), dynamic=True)
def a_scan_along_another_axis(x):
    return scan(lambda c, x: (c + x, c * x), torch.zeros(3), x, dim=1, reverse=True)


@program(R(5, 3))
def a_scan_of_branches(x):
    def step(c, x):
        return torch.cond(c.sum() > 0, lambda c: c - 1, lambda c: c + 1, (c,)), c * x

    return scan(step, torch.zeros(3), x)


@program(R(6, 3).requires_grad_())
def a_recurrence_by_pairs(x):
    def join(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    return associative_scan(join, (x.sigmoid(), x), 0, combine_mode="generic")[1].sum()


@program(R(6, 3))
def a_map(x):
    return mapped(lambda row, y: row * y, x, torch.ones(3) * 2)


@torch.compiler.nested_compile_region
def region(x):
    return (x.sin() * 2).cos()


@program(R(6, 3).requires_grad_())
def regions(x):
    return region(region(x)).sum()


def _run(function, args):
    args = [x.detach().clone().requires_grad_(x.requires_grad) for x in args]
    made = function(*args)
    if isinstance(made, torch.Tensor) and made.requires_grad:
        made.backward()
    return made, [x.grad for x in args]


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_inside_operations_are_as_in_eager_torch(name):
    function, args, options = PROGRAMS[name]
    wanted = _run(function, args)
    made = _run(torch.compile(function, backend="pycompiler", fullgraph=True, **options), args)
    torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5)


def _around(x):
    made = torch.cond(x.sum() > 0, lambda x: x.sin() + 2, lambda x: x.cos() + 2, (x,))
    return slope(made).exp()


def _inside(x):
    return torch.cond(x.sum() > 0, lambda x: slope(x), lambda x: x.cos(), (x,)).exp()


def _random(x):
    return torch.cond(x.sum() > -100, lambda x: torch.rand(4) * 0 + x, lambda x: x.cos(), (x,)).exp()


@pytest.mark.parametrize(
    ("function", "left"),
    [(_around, "pycompiler_tests.slope"), (_inside, "cond.*pycompiler_tests.slope"), (_random, "cond.*random numbers")],
)
def test_a_part_that_is_not_taken(function, left, monkeypatch):
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    x = torch.tensor([1.0, -0.5, 2.0, 3.0])
    with pytest.warns(match=f"1 operations of a graph run in eager torch:\n *{left}"):
        made = torch.compile(function, backend="pycompiler")(x)
    torch.testing.assert_close(made, function(x))


def test_an_assertion_on_data_needs_no_warning(monkeypatch):
    """It has no result, and runs in eager torch."""
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")

    def f(x):
        torch._assert_async((x > 0).all(), "some are not positive")
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = torch.compile(f, backend="pycompiler")
        torch.testing.assert_close(compiled(torch.ones(3)), torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match="some are not positive"):
        compiled(-torch.ones(3))
