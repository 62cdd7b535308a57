"""Ragged nested tensors beside eager torch: the sizes of their rows are no numbers of the graph."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

LINEAR = torch.nn.Linear(8, 8)


def ragged(*lengths):
    rows = [torch.randn(length, 8) for length in lengths]
    return torch.nested.nested_tensor(rows, layout=torch.jagged, requires_grad=True)


def attention(x):
    heads = x.unflatten(-1, (2, 4)).transpose(1, 2)
    return F.scaled_dot_product_attention(heads, heads, heads).transpose(1, 2).flatten(-2)


FUNCTIONS = {
    "elementwise": lambda x: (x * 2).sin() + x,
    "linear": lambda x: LINEAR(x).relu(),
    "normalized": lambda x: F.layer_norm(x, (8,)).softmax(-1),
    "attention": attention,
    "values": lambda x: torch.nested.nested_tensor_from_jagged(x.values() * 3, x.offsets()),
    "padded": lambda x: x.to_padded_tensor(-1.5) * 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_ragged_tensors(name):
    function = FUNCTIONS[name]
    run = torch.compile(function, backend="pycompiler")
    for lengths in ((2, 4, 3), (5, 1), (1, 2, 3, 4)):
        x = ragged(*lengths)
        y = x.detach().clone().requires_grad_()
        wanted, made = (one.values() if one.is_nested else one for one in (function(x), run(y)))
        torch.testing.assert_close(made, wanted)
        for one in (wanted, made):
            one.square().sum().backward()
        torch.testing.assert_close(y.grad.values(), x.grad.values())


def test_rows_and_padded_matrices():
    values, offsets = torch.randn(7, 3), torch.tensor([0, 2, 2, 7])
    padded, jagged = torch.ops.aten._jagged_to_padded_dense_forward, torch.ops.aten._padded_dense_to_jagged_forward

    def function(x):
        dense = padded(x, [offsets], [6], 9.0)
        return dense, jagged(dense, [offsets], 7), padded(x, [offsets], [4], 0.0)

    for made, wanted in zip(torch.compile(function, backend="pycompiler")(values), function(values), strict=True):
        assert torch.equal(made, wanted)
