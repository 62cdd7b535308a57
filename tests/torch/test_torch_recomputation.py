"""Random operations inside of checkpoints: the gradient computes them again, and draws the same numbers."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from pycompiler.torch import aten

PROGRAMS = {
    "dropout": (lambda x: F.dropout(x, 0.5) ** 2, lambda x, y: torch.where(y != 0, 8 * x, 0)),
    "rand": (lambda x: (x * torch.rand_like(x)).exp(), lambda x, y: y.log() / x * y),
    "bernoulli": (lambda x: torch.bernoulli(torch.full_like(x, 0.5)) * x**2, lambda x, y: 2 * y / x),
    "several": (
        lambda x: F.dropout(F.dropout(x, 0.3) * torch.rand(7), 0.2) ** 2,
        lambda x, y: 2 * y / x,
    ),
}


def run(function, slopes, dynamic=None):
    """Draws twice, and compares the gradients with those for the drawn numbers."""
    compiled = torch.compile(
        lambda x: checkpoint(function, x, use_reentrant=False) * 2, backend="pycompiler", dynamic=dynamic
    )
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        for rows in (30, 40):
            x = (torch.rand(rows, 7) * 0.5 + 0.25).requires_grad_()
            made = compiled(x)
            drawn.append(made.detach() / 2)
            wanted = 2 * slopes(x.detach(), drawn[-1])
            torch.testing.assert_close(torch.autograd.grad(made.sum(), x)[0], wanted, rtol=1e-4, atol=1e-4)
    assert torch.equal(drawn[0], drawn[2])
    assert not torch.equal(drawn[0], drawn[4])


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_draws_the_same_numbers(name, dynamic):
    run(*PROGRAMS[name], dynamic)


@pytest.mark.parametrize("name", ["dropout", "several"])
def test_operations_in_eager_torch_draw_the_same_numbers(name, monkeypatch):
    """If the table refuses an operation, it takes the state of torch's generator both times."""

    def refuse(*args, **options):
        raise NotImplementedError("refused for this test")

    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    monkeypatch.setitem(aten._ENTRIES, torch.ops.aten.native_dropout, refuse)
    with pytest.warns(UserWarning, match="run in eager torch"):
        run(*PROGRAMS[name])


@pytest.mark.parametrize("dynamic", [False, True])
def test_attention_in_a_checkpoint(dynamic):
    """Torch counts attention among the random operations, also without dropout."""

    def attend(x):
        return checkpoint(lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), x, use_reentrant=False) * 2

    compiled = torch.compile(attend, backend="pycompiler", dynamic=dynamic)
    for length in (5, 9):
        x = torch.randn(2, 3, length, 8, requires_grad=True)
        made, wanted = [(one(x), torch.autograd.grad(one(x).sin().sum(), x)) for one in (compiled, attend)]
        torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5)
