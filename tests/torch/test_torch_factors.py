"""Factors of indefinite matrices, reductions of segments, and slopes of samples, beside eager torch."""

import pytest
import torch


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """An operation that is left to eager torch is an error."""
    monkeypatch.setenv("PYCOMPILER_TORCH_STRICT", "1")


def compiled(function, **options):
    torch._dynamo.reset()
    return torch.compile(function, backend="pycompiler", fullgraph=True, **options)


def indefinite(n, dtype, hermitian, batch=()):
    """Matrices with zeros on the diagonal, whose factors have pivots of two rows."""
    x = torch.randn(*batch, n, n, dtype=dtype)
    x[..., range(0, n, 2), range(0, n, 2)] = float(n == 1)
    return x + (x.mH if hermitian else x.mT)


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize(
    ("dtype", "hermitian"),
    [(torch.float32, False), (torch.float64, False), (torch.complex128, False), (torch.complex128, True)],
)
def test_factors_of_indefinite_matrices(n, dtype, hermitian):
    torch.manual_seed(n)
    x = indefinite(n, dtype, hermitian, (2,) if n == 5 else ())
    # The other triangle is not read.
    x = torch.where(torch.ones(n, n, dtype=torch.bool).triu(1), torch.nan, x)
    factor = lambda x: torch.linalg.ldl_factor_ex(x, hermitian=hermitian)  # noqa: E731
    wanted, made = factor(x), compiled(factor)(x)
    assert torch.equal(made.pivots, wanted.pivots)
    assert n < 5 or bool((wanted.pivots < 0).any())
    torch.testing.assert_close(made.LD, wanted.LD, rtol=1e-3, atol=1e-4)
    assert torch.equal(made.info, wanted.info)
    b = torch.randn(n, 3, dtype=dtype)
    solve = lambda ld, pivots, b: torch.linalg.ldl_solve(ld, pivots, b, hermitian=hermitian)  # noqa: E731
    made, wanted = (run(wanted.LD, wanted.pivots, b) for run in (compiled(solve), solve))
    torch.testing.assert_close(made, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 3), (2, 0, 0), (0, 3, 3)])
def test_factors_of_zeros(shape):
    x = torch.zeros(shape)
    wanted, made = torch.linalg.ldl_factor_ex(x), compiled(torch.linalg.ldl_factor_ex)(x)
    assert all(map(torch.equal, made, wanted))


SEGMENTS = [[2, 0, 3], [5], [0, 0, 5, 0]]


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(
    ("values", "dtype", "initial"),
    [
        ([1.0, 2, 2, 0, -1.5], torch.float32, None),
        ([1.0, torch.nan, 2, 0, 0], torch.float64, 2.0),
        ([0.5, 1, 2, 2, 1], torch.bfloat16, None),
    ],
)
def test_reductions_of_segments(reduce, values, dtype, initial):
    """Ties, nan, zeros whose product has a gradient, segments without elements, and elements behind all segments."""
    given = torch.tensor(values, dtype=dtype)
    batch = torch.stack([given, given.flip(0)]).unsqueeze(-1).expand(2, 5, 3).contiguous()
    lengths = [torch.tensor(one) for one in SEGMENTS]
    offsets = torch.tensor([[0, 2, 2, 5], [0, 0, 1, 5]])

    def function(x, batch):
        options = {"initial": initial}
        made = [torch.segment_reduce(x, reduce, lengths=one, **options) for one in lengths]
        made += [torch.segment_reduce(batch, reduce, lengths=one.expand(2, -1), axis=1, **options) for one in lengths]
        made.append(torch.segment_reduce(batch, reduce, offsets=offsets, axis=1, **options))
        made.append(torch.segment_reduce(batch, reduce, lengths=offsets[:, 1:3], axis=1, unsafe=True, **options))
        return made

    one, two = ([x.clone().requires_grad_() for x in (given, batch)] for _ in range(2))
    wanted, made = function(*one), compiled(function)(*two)
    for results in (wanted, made):
        weights = [torch.linspace(0.5, 2, x.numel(), dtype=dtype).reshape(x.shape) for x in results]
        torch.autograd.backward(results, weights)
    torch.testing.assert_close(made, wanted, equal_nan=True)
    torch.testing.assert_close([x.grad for x in two], [x.grad for x in one], equal_nan=True)


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 40.0])
def test_slopes_of_dirichlet_samples(scale):
    torch.manual_seed(3)
    alpha, beta, x = torch.rand(3, 600, dtype=torch.float64)
    alpha, beta = (alpha + 0.05) * scale, (beta + 0.05) * scale
    total = alpha + beta
    # Also near both ends, and at the mean, where approximations change.
    x = torch.cat([x[:150], x[150:300] ** 6, 1 - x[300:450] ** 6, (alpha / total)[450:]])
    made = compiled(torch._dirichlet_grad)(x, alpha, total)
    torch.testing.assert_close(made, torch._dirichlet_grad(x, alpha, total), rtol=1e-6, atol=1e-9)
    single = compiled(torch._dirichlet_grad)(x.float(), alpha.float(), total.float())
    torch.testing.assert_close(single.double(), made, rtol=2e-3, atol=1e-4)


def test_samples_of_dirichlet_have_gradients():
    alpha = torch.tensor([1.0, 2.0, 3.0]).expand(4000, 3).contiguous().requires_grad_()
    drawn = compiled(lambda a: torch.distributions.Dirichlet(a).rsample())(alpha)
    drawn[:, 0].sum().backward()
    # The slope of the mean of the first, alpha[0] / sum(alpha), times the number of samples in its row.
    torch.testing.assert_close(alpha.grad[:, 0].mean().item(), 5 / 36, rtol=0.1, atol=0.0)
