"""Rows of the table that few programs need, and torch's operator database does not have: products by groups of rows,
masked softmax, sums before a relu, weights of bytes, sums of powers, Lanczos' kernel, bags' gradients by frequency."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from pycompiler.torch.left import LEFT

aten = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.bfloat16]


def agree(function, *args, dynamic=None, **bounds):
    """Results beside eager torch, and gradients of the arguments that require them."""

    def run(function):
        given = [x.detach().clone().requires_grad_(x.requires_grad) for x in args]
        made = function(*given)
        wanted = [x for x in given if x.requires_grad]
        weights = torch.linspace(0.5, 1.5, made.numel()).reshape(made.shape).to(made.dtype)
        return made.detach(), torch.autograd.grad(made, wanted, weights) if wanted else ()

    made = run(torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=dynamic))
    torch.testing.assert_close(made, run(function), equal_nan=True, **bounds)


def offsets(*ends):
    return torch.tensor(ends, dtype=torch.int32)


def halves(*shape):
    return torch.randn(shape).bfloat16().requires_grad_()


ENDS = [(3, 40), (0, 40), (40, 40), (10, 10, 11, 40)]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("ends", [*ENDS, (150, 150, 280)], ids=str)
def test_products_by_groups(ends, dynamic):
    """Groups without rows, with one, and with more than a block of the loop has."""
    rows, offs = ends[-1], offsets(*ends)
    by_groups = lambda x, y: F.grouped_mm(x, y, offs=offs)  # noqa: E731
    agree(by_groups, halves(rows, 16), halves(len(ends), 16, 8), dynamic=dynamic)
    agree(by_groups, halves(len(ends), 8, 16), halves(16, rows), dynamic=dynamic)
    agree(by_groups, halves(16, rows), halves(rows, 8), dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_products_by_groups_in_transformers(dtype, dynamic):
    pytest.importorskip("transformers.integrations.moe")
    for ends in ENDS:
        x = torch.randn(ends[-1] + 2, 16).to(dtype).requires_grad_()
        y = torch.randn(len(ends), 16, 8).to(dtype).requires_grad_()
        agree(torch.ops.transformers.grouped_mm_fallback, x, y, offsets(*ends), dynamic=dynamic)


def test_products_by_groups_of_equal_sizes_and_of_no_rows():
    agree(lambda x, y: F.grouped_mm(x, y), halves(3, 8, 16), halves(3, 16, 8))
    agree(lambda x, y, o: F.grouped_mm(x, y, offs=o), halves(0, 16), halves(2, 16, 8), offsets(0, 0))


def test_rows_behind_the_last_group_are_zeros():
    """Eager torch does not set them. Their arguments may be nan."""
    x, y = torch.full((90, 16), torch.nan).bfloat16(), torch.ones(2, 16, 8).bfloat16()
    x[:70] = 1
    run = torch.compile(lambda x, y, o: F.grouped_mm(x, y, offs=o), backend="pycompiler", fullgraph=True)
    for ends in ((5, 70), (64, 64)):
        made = run(x, y, offsets(*ends))
        assert torch.equal(made, torch.where(torch.arange(90) < ends[-1], 16, 0).bfloat16()[:, None].expand(90, 8))
    summed = torch.compile(lambda x, y, o: F.grouped_mm(x, y, offs=o), backend="pycompiler", fullgraph=True)
    assert torch.equal(summed(x.T, x.nan_to_num(2), offsets(5, 70))[:, 0, 0], torch.tensor([5, 65]).bfloat16())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_masked_softmax(dtype):
    x = torch.randn(2, 3, 4, 4).to(dtype)
    hidden = torch.ones(4, 4, dtype=torch.bool).triu(1)
    whole = torch.rand(2, 3, 4, 4) > 0.4
    whole[0, 0, 0] = True
    # Torch has no row for symbolic sizes. It rounds parts to 16 bits.
    bounds = {"dynamic": False, **({"rtol": 0.1, "atol": 1e-2} if dtype == torch.bfloat16 else {})}
    for mask, dim, kind in (
        (hidden, -1, 0),
        (hidden, 1, 0),
        (torch.tensor([[0, 1, 1, 0], [0, 0, 0, 1]]).bool(), -1, 1),
        (whole, -1, 2),
        (whole, None, None),
        (whole, 0, 2),
    ):
        agree(lambda x, dim=dim, kind=kind, mask=mask: aten._masked_softmax(x, mask, dim, kind), x, **bounds)
    made = torch.softmax(x, -1)
    for dim in (-1, None, 1):
        agree(lambda *args, dim=dim: aten._masked_softmax_backward(*args, dim), x, made, whole, **bounds)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int8], ids=str)
def test_sums_before_a_relu(dtype):
    x, y = (torch.randint(-60, 60, shape).to(dtype) for shape in ((3, 64), (64,)))
    agree(torch.ops.aten._add_relu, x, y, dynamic=True)
    agree(lambda x, y: aten._add_relu(x, y, alpha=2), x, y)
    agree(lambda x: aten._add_relu(x, 3, 2), x)

    def update(x):
        x = x + 1
        aten._add_relu_(x, y, alpha=3)
        return x

    agree(update, x)


def test_sums_before_a_relu_of_two_dtypes():
    agree(aten._add_relu, torch.arange(-32, 32), torch.linspace(-1, 1, 64))
    agree(lambda x: aten._add_relu(x, 0.5, 3), torch.arange(-32, 32))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_products_with_weights_of_bytes(dtype, dynamic):
    weight, scales = torch.randint(-128, 128, (16, 32), dtype=torch.int8), torch.rand(16).to(dtype) / 100
    agree(aten._weight_int8pack_mm, torch.randn(5, 32).to(dtype), weight, scales, dynamic=dynamic, atol=1e-2, rtol=1e-2)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 2.5, -1, -2.0, float("inf")])
def test_sums_of_powers(order, dtype):
    x = torch.tensor([[-1.0, 2, 0.5, 0.25], [0.0, 3, float("nan"), 1]]).to(dtype)
    agree(lambda x: aten.linalg__powsum(x, order, [1], True), x)
    agree(lambda x: aten.linalg__powsum(x, order), x[:1], dynamic=True)
    agree(lambda x: aten._foreach_powsum.Scalar([x], order)[0], x)


def test_sums_of_powers_in_another_dtype():
    x = torch.full((3000,), 1.01).bfloat16()
    agree(lambda x: aten.linalg__powsum(x, 3, dtype=torch.float64), x)
    agree(lambda x: aten._foreach_powsum.Scalar([x], 3, torch.float64)[0], x)
    agree(lambda x: aten.linalg__powsum(x, 3), torch.tensor([3 + 4j, 1, -2j]))
    agree(lambda x: aten.linalg__powsum(x, 3, [0], True), torch.zeros(0, 3))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("size", [(9, 7), (3, 2), (6, 11)])
@pytest.mark.parametrize("align", [False, True])
def test_images_by_lanczos_kernel(size, align, dtype, dynamic):
    x = torch.randn(2, 3, 6, 5, dtype=dtype, requires_grad=True)
    agree(lambda x: aten._upsample_lanczos2d_aa(x, size, align), x, dynamic=dynamic)


def test_images_of_bytes_by_lanczos_kernel():
    image = torch.randint(0, 256, (2, 3, 6, 5), dtype=torch.uint8)
    for size in ((9, 7), (3, 2), (6, 11)):
        agree(lambda x, size=size: F.interpolate(x, size=size, mode="lanczos", antialias=True), image, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 2])
def test_gradients_of_bags_by_frequency(mode, padding, dtype):
    """Torch divides by the count of another index than that of the row."""
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        indices = torch.randint(0, 6, (17,), generator=generator)
        starts = torch.tensor([0, 3, 3, 9, 15])

        def bags(table, *weights, indices=indices, starts=starts):
            more = {"per_sample_weights": weights[0]} if weights else {}
            return F.embedding_bag(
                indices, table, starts, mode=mode, scale_grad_by_freq=True, padding_idx=padding, **more
            )

        table = torch.randn(10, 5, dtype=dtype, requires_grad=True)
        agree(bags, table, dynamic=seed % 2 == 1)
        if mode == "sum":
            agree(bags, table, torch.rand(17, dtype=dtype, requires_grad=True), dynamic=seed % 2 == 1)


def test_running_statistics_that_a_schema_hides_change(monkeypatch):
    """The operation changes tensors that its schema only reads: it stays with torch, which changes them."""
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    x = torch.randn(4, 3, 5)
    given = [[torch.zeros(3), torch.ones(3)] for _ in range(2)]
    function = lambda x, *stats: aten.batch_norm_update_stats(x * 1, *stats, 0.1)  # noqa: E731
    wanted = function(x, *given[0])
    with pytest.warns(UserWarning, match="batch_norm_update_stats") as told:
        made = torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=False)(x, *given[1])
    assert LEFT["aten::batch_norm_update_stats"] in str(told[0].message)
    torch.testing.assert_close(made, wanted)
    torch.testing.assert_close(given[1], given[0])
