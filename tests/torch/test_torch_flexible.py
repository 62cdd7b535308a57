"""Attention with functions of the scores (`flex_attention`), beside the same in eager torch."""

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without")

SLOPES = torch.tensor([0.5, -0.25, 0.125, 1.0])
DOCUMENTS = torch.tensor([0] * 7 + [1] * 9 + [2] * 400)


def qkv(length, keys=None, heads=2, dtype=torch.float32):
    sizes = ((2, 4, length, 8), (2, heads, keys or length, 8), (2, heads, keys or length, 6))
    return [torch.randn(size, dtype=dtype) for size in sizes]


def biased(score, b, h, i, j):
    return score + SLOPES[h] * (i - j)


SCORES = {
    "none": None,
    "biased": biased,
    "capped": lambda score, b, h, i, j: 3 * torch.tanh(score / 3) + b,
    "hidden": lambda score, b, h, i, j: torch.where(i >= j, score, -float("inf")),
}
MASKS = {
    "none": None,
    "causal": lambda b, h, i, j: i >= j,
    "window": lambda b, h, i, j: (i >= j) & (i - j < 5),
    "documents": lambda b, h, i, j: DOCUMENTS[i] == DOCUMENTS[j],
    # The first queries have no keys.
    "late": lambda b, h, i, j: (i > j + 2) | (h == 1),
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("length", [16, 300])
def test_functions_of_scores_and_masks(score, mask, length):
    """Also of more keys than one block has."""
    q, k, v = qkv(length)
    hidden = None if MASKS[mask] is None else create_block_mask(MASKS[mask], None, None, length, length, device="cpu")

    def function(q, k, v):
        return flex_attention(q, k, v, score_mod=SCORES[score], block_mask=hidden, enable_gqa=True)

    made = torch.compile(function, backend="pycompiler", fullgraph=True)(q, k, v)
    torch.testing.assert_close(made, function(q, k, v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dtypes_and_the_sums(dtype):
    q, k, v = qkv(12, 20, heads=4, dtype=dtype)

    def function(q, k, v):
        return flex_attention(q, k, v, score_mod=biased, scale=0.3, return_lse=True)

    made, wanted = torch.compile(function, backend="pycompiler", fullgraph=True)(q, k, v), function(q, k, v)
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-6
    assert made[0].dtype == dtype
    for one, other in zip(made, wanted, strict=True):
        # Torch's trace has sums of float32.
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance, check_dtype=False)


def test_symbolic_sizes():
    run = torch.compile(
        lambda q, k, v: flex_attention(q, k, v, score_mod=biased), backend="pycompiler", fullgraph=True, dynamic=True
    )
    for length in (5, 9, 33):
        given = qkv(length, heads=4)
        torch.testing.assert_close(run(*given), flex_attention(*given, score_mod=biased), rtol=1e-4, atol=1e-5)
