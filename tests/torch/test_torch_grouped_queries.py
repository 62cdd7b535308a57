"""Attention in which several heads of queries share one of the keys, beside eager torch."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("mask", ["none", "causal", "added", "bool"])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_values_and_gradients(heads, mask, dynamic):
    # More keys than one block has.
    count, length = (11, 11) if mask == "causal" else (3, 600)
    options = {
        "none": {},
        "causal": {"is_causal": True},
        "added": {"attn_mask": torch.randn(2, 1, count, length)},
        "bool": {"attn_mask": torch.rand(count, length) > 0.3},
    }[mask]

    def function(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, enable_gqa=True, **options)

    shapes = [(2, 4, count, 8), (2, heads, length, 8), (2, heads, length, 8)]
    args = [torch.randn(shape, requires_grad=True) for shape in shapes]
    compiled = torch.compile(function, backend="pycompiler", dynamic=dynamic)
    with torch.no_grad():
        torch.testing.assert_close(compiled(*args), function(*args), rtol=1e-4, atol=1e-5)
    wanted = function(*args)
    given = torch.randn_like(wanted)
    gradients = torch.autograd.grad(wanted, args, given)
    torch.testing.assert_close(torch.autograd.grad(compiled(*args), args, given), gradients, rtol=1e-4, atol=1e-5)
