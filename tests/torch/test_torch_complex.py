"""Functions of complex tensors and their gradients beside eager torch."""

import pytest
import torch

from pycompiler.torch import parts

FUNCTIONS = [
    lambda x: torch.exp(0.1j * x).real,
    lambda x: (x * 0.7j).real,
    lambda x: (x / (1 + 0.1j)).real,
    lambda x: (0.3j / x).real,
    lambda x: (x - 1j).abs(),
    lambda x: (x.conj().imag * 2).sin(),
    lambda x: torch.where(x.real > 0, x, 0.1j).abs(),
    lambda x: (x.resolve_conj() * x.mean().conj()).real,
    lambda x: torch.stack([x, x.conj()]).imag.square(),
    lambda x: torch.polar(x.abs(), x.angle()).real,
    lambda x: torch.fft.fft(x.conj()).abs(),
    lambda x: x.pow(1.5).real + x.log().imag,
    lambda x: torch.linalg.solve(torch.outer(x, x.conj()) + torch.eye(4), x).real,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_functions_and_gradients(function, dtype):
    given = [torch.randn(4, dtype=dtype).requires_grad_()]
    given.append(given[0].detach().clone().requires_grad_())
    wanted, made = function(given[0]), torch.compile(function, backend="pycompiler", fullgraph=True)(given[1])
    torch.testing.assert_close(made, wanted)
    for one in (wanted, made):
        one.sum().backward()
    torch.testing.assert_close(given[1].grad, given[0].grad)


def test_conjugates_and_negatives_of_an_operation_in_eager_torch(monkeypatch):
    """They are views, whose memory has the elements without the sign."""
    taken = parts._has_entry
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    monkeypatch.setattr(
        parts,
        "_has_entry",
        lambda node, *more: (
            str(node.target) not in ("aten._conj.default", "aten._neg_view.default") and taken(node, *more)
        ),
    )
    x = torch.randn(3, dtype=torch.complex64)
    function = lambda x: ((x * 2).conj() + 1j, (x + 1).conj().imag * 3)  # noqa: E731
    with pytest.warns(UserWarning, match="aten._neg_view.default"):
        made = torch.compile(function, backend="pycompiler")(x)
    torch.testing.assert_close(made, function(x))
