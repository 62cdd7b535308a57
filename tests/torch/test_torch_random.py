"""Random numbers: their bounds, and draws of many samples."""

import torch
from torch.nn import functional as F  # noqa: N812


def compiled(function):
    return torch.compile(function, backend="pycompiler")


def test_exponential_numbers_are_never_zero():
    """Samplers divide by them: 0 / 0 would be the largest quotient, nan, of a class that can't be drawn."""
    draw = compiled(lambda: torch.empty(1 << 24).exponential_().min())
    assert all(draw() > 0 for _ in range(4))


def test_geometric_numbers_are_at_least_one():
    draw = compiled(lambda: torch.empty(1 << 24).geometric_(0.4).min())
    assert all(draw() == 1 for _ in range(4))


def test_gumbel_softmax_is_finite():
    assert compiled(lambda x: F.gumbel_softmax(x))(torch.zeros(4, 1000)).isfinite().all()


def test_draws_with_replacement_need_no_matrix_of_all_classes():
    """2^20 draws of 2^17 classes. A number for each pair would take 1 TiB."""
    weights = torch.ones(1 << 17)
    weights[: 1 << 16] = 0
    drawn = compiled(lambda x: torch.multinomial(x, 1 << 20, replacement=True))(weights)
    assert drawn.dtype == torch.int64
    assert drawn.min() >= 1 << 16
    counts = torch.bincount(drawn, minlength=1 << 17)[1 << 16 :].double()
    assert abs(counts.mean() - 16) < 1e-9
    assert 3.8 < counts.std() < 4.2


def test_draws_of_several_distributions():
    weights = torch.tensor([[0.0, 1.0, 3.0, 0.0], [2.0, 0.0, 0.0, 6.0]], dtype=torch.bfloat16)
    drawn = compiled(lambda x: torch.multinomial(x, 40000, replacement=True))(weights)
    shares = F.one_hot(drawn, 4).double().mean(1)
    torch.testing.assert_close(shares, weights.double() / weights.double().sum(1, keepdim=True), rtol=0, atol=0.02)
    assert torch.equal(shares == 0, weights == 0)
