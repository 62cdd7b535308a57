"""Layers with operations of their own beside eager torch, values and gradients: bags of embeddings, images at places of
grids, interpolation with smoothing, attention and encoder layers in evaluation. None is left to eager torch."""

import itertools
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

R = torch.randn


def agree(function, *args, slopes=(), tolerance=2e-5):
    """Eager and compiled results, and gradients of a weighted sum by the arguments with these numbers."""

    def run(function):
        given = [x.clone().requires_grad_() if i in slopes else x for i, x in enumerate(args)]
        made = function(*given)
        if not slopes:
            return made, ()
        weights = torch.linspace(-1, 1, made.numel()).reshape(made.shape).to(made.dtype)
        return made, torch.autograd.grad((made * weights).sum(), [given[i] for i in slopes])

    expected = run(function)
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*nested tensors.*")
        made = run(torch.compile(function, backend="pycompiler"))
    torch.testing.assert_close(made, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


torch.manual_seed(0)
TABLE = R(10, 4)
INDICES = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9, 1])
OFFSETS = torch.tensor([0, 3, 3, 6])
BAGS = {
    "offsets": (INDICES, OFFSETS, {}),
    "padding": (INDICES, OFFSETS, {"padding_idx": 4}),
    "last offset": (INDICES, torch.tensor([0, 3, 3, 6, 9]), {"include_last_offset": True}),
    "rows": (INDICES.reshape(3, 3), None, {}),
    "only padding": (torch.tensor([4, 4, 1]), torch.tensor([0, 2]), {"padding_idx": 4}),
    "int32": (INDICES.int(), OFFSETS.int(), {}),
}


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("case", BAGS)
def test_bags_of_embeddings(case, mode):
    indices, offsets, options = BAGS[case]
    agree(lambda table: F.embedding_bag(indices, table, offsets, mode=mode, **options), TABLE, slopes=(0,))


def test_weights_of_bags():
    def weighted(table, weights):
        return F.embedding_bag(INDICES, table, OFFSETS, mode="sum", per_sample_weights=weights, padding_idx=2)

    agree(weighted, TABLE, torch.rand(9), slopes=(0, 1))


def test_bags_of_a_module_in_evaluation():
    module = nn.EmbeddingBag(10, 4, mode="max").eval()
    with torch.no_grad():
        agree(module, INDICES.reshape(3, 3))


GRIDS = {
    2: (R(2, 3, 5, 6), torch.rand(2, 4, 7, 2) * 2.6 - 1.3),
    3: (R(2, 3, 4, 5, 6), torch.rand(2, 4, 5, 2, 3) * 2.6 - 1.3),
}


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("axes", "mode"), [*itertools.product([2, 3], ["bilinear", "nearest"]), (2, "bicubic")], ids=str
)
def test_images_at_the_places_of_a_grid(axes, mode, padding, align):
    def sampled(x, grid):
        return F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=align)

    agree(sampled, *GRIDS[axes], slopes=(0, 1), tolerance=2e-4)


def test_a_grid_of_the_image_itself():
    """Spatial transformers: places exactly at elements and at the edges."""
    turn = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]]).expand(2, 2, 3)

    def moved(x, turn):
        return F.grid_sample(x, F.affine_grid(turn, x.shape, align_corners=True), align_corners=True)

    agree(moved, R(2, 3, 5, 6), turn, tolerance=1e-4)


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("size", [(5, 7), (30, 20), (17, 5), (1, 1)], ids=str)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolation_with_smoothing(mode, size, align):
    agree(
        lambda x: F.interpolate(x, size=size, mode=mode, antialias=True, align_corners=align),
        R(2, 3, 17, 12),
        slopes=(0,),
    )


def test_smoothing_by_scales():
    agree(lambda x: F.interpolate(x, scale_factor=(0.4, 1.3), mode="bilinear", antialias=True), R(1, 2, 17, 12))


HIDDEN = torch.zeros(3, 7, dtype=torch.bool)
HIDDEN[0, 5:] = HIDDEN[2, 3:] = True
NOTHING_LEFT = HIDDEN.clone()
NOTHING_LEFT[1] = True
LATER = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1)
MASKS = {
    "none": {},
    "pairs": {"src_mask": torch.triu(torch.full((7, 7), float("-inf")), 1)},
    "keys": {"src_key_padding_mask": HIDDEN},
    "both": {"src_mask": LATER, "src_key_padding_mask": HIDDEN},
    "everything": {"src_key_padding_mask": NOTHING_LEFT},
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_encoder_layers_in_evaluation(activation, norm_first, mask):
    layer = nn.TransformerEncoderLayer(16, 4, 32, activation=activation, norm_first=norm_first, batch_first=True).eval()
    with torch.no_grad():
        agree(lambda x: layer(x, **MASKS[mask]), R(3, 7, 16))


def test_an_encoder_of_several_layers():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    with torch.no_grad():
        agree(encoder, R(3, 300, 16))


@pytest.mark.parametrize(
    "options",
    [{}, {"average_attn_weights": False}, {"need_weights": False}, {"key_padding_mask": HIDDEN}, {"attn_mask": LATER}],
    ids=lambda options: next(iter(options), "plain"),
)
def test_attention_of_several_heads_in_evaluation(options):
    module = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    with torch.no_grad():
        agree(lambda x: module(x, x, x, **options), R(3, 7, 16))


def test_attention_to_other_keys_in_evaluation():
    module = nn.MultiheadAttention(16, 4, batch_first=True).eval()
    with torch.no_grad():
        agree(lambda x, y: module(x, y, y), R(3, 7, 16), R(3, 5, 16))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distances_of_pairs(p):
    points = R(5, 3)
    points[3] = points[1]
    points[4, 1] = points[0, 1]
    agree(lambda x: F.pdist(x, p), points, slopes=(0,), tolerance=1e-4)


@pytest.mark.parametrize("size", [0, 2, 9])
def test_places_that_are_not_zero_in_a_given_number(size):
    x = torch.tensor([[0.0, 1, 0], [2, 0, float("nan")]])
    agree(lambda x: torch.nonzero_static(x, size=size, fill_value=-7), x)
    agree(lambda x: torch.nonzero_static(x, size=size), torch.tensor(3))


def test_long_graphs_have_no_warning_about_unrolled_loops():
    """Torch records all operations of a graph at one line."""

    def long(x):
        for i in range(1100):
            x = x * (1 + i % 3) if i % 2 else torch.sin(x)
        return x

    agree(long, R(3))
