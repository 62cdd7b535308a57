"""Shapes at the edges, beside eager torch: operands that broadcast both ways, and axes without elements. Each has its
gradient, and nothing is left to eager torch."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812


def _both(function, *args):
    """Results and gradients, in eager torch and compiled."""
    made = []
    for run in (function, torch.compile(function, backend="pycompiler", fullgraph=True)):
        given = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in args]
        result = run(*given)
        slopes = [x for x in given if x.requires_grad]
        if result.requires_grad:
            result.sum().backward()
        made.append([result.detach(), *[x.grad for x in slopes]])
    return made


COLUMN, ROW = torch.tensor([[1.5], [-2.0], [0.25]]), torch.tensor([0.5, -3.0, 2.0, 1.0])


@pytest.mark.parametrize(
    "function",
    [
        torch.atan2,
        torch.remainder,
        torch.fmod,
        lambda x, y: torch.floor_divide(x.detach(), y.detach()),
        lambda x, y: torch.div(x, y, rounding_mode="floor"),
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        torch.hypot,
        torch.nextafter,
        torch.copysign,
        torch.xlogy,
    ],
)
@pytest.mark.parametrize("operands", [(COLUMN, ROW), (ROW, COLUMN), (COLUMN, torch.tensor(1.25))])
def test_floats_broadcast(function, operands):
    wanted, made = _both(function, *operands)
    torch.testing.assert_close(made, wanted, equal_nan=True)


@pytest.mark.parametrize("function", [torch.special.gammainc, torch.special.gammaincc])
def test_gamma_functions_broadcast(function):
    # Torch has no gradient for the first operand.
    wanted, made = _both(lambda x, y: function(x.detach(), y), COLUMN.abs(), ROW.abs())
    torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize(
    "function",
    [
        torch.bitwise_and,
        torch.bitwise_or,
        torch.bitwise_xor,
        torch.bitwise_left_shift,
        torch.bitwise_right_shift,
        torch.gcd,
        torch.lcm,
        torch.remainder,
        torch.floor_divide,
    ],
)
@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8])
def test_ints_broadcast(function, dtype):
    wanted, made = _both(function, torch.tensor([[12], [7], [5]], dtype=dtype), torch.tensor([3, 1, 2], dtype=dtype))
    torch.testing.assert_close(made, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(5, 0, 0), (0, 4), (3, 0)])
@pytest.mark.parametrize("function", [F.softmax, F.log_softmax, F.softmin])
def test_softmax_of_no_elements(function, shape):
    wanted, made = _both(lambda x: function(x, dim=-1), torch.zeros(shape))
    assert made[0].shape == shape
    torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize("dim", [0, 1, (0, 1)])
def test_logarithms_of_sums_of_no_elements(dim):
    wanted, made = _both(lambda x: torch.logsumexp(x, dim), torch.zeros(3, 0))
    torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("shapes", [((3, 5), (0, 4, 5)), ((0, 3, 5), (1, 4, 5)), ((3, 0), (4, 0))])
def test_distances_of_no_points(p, shapes):
    wanted, made = _both(lambda x, y: torch.cdist(x, y, p), *[torch.zeros(shape) for shape in shapes])
    torch.testing.assert_close(made, wanted)


ROWS, PLACES = torch.tensor([True, False, True]), torch.tensor([[True, False], [False, True], [True, True]])


@pytest.mark.parametrize(
    ("index", "values"),
    [
        ((ROWS,), torch.tensor([5.0, 6.0, 7.0, 8.0])),
        ((ROWS,), torch.tensor([[5.0], [6.0]])),
        ((ROWS,), torch.arange(8.0).reshape(1, 2, 4)[..., :1]),
        ((PLACES,), torch.arange(4.0)),
        ((PLACES,), torch.arange(4.0).reshape(1, 4)),
        ((slice(None), torch.tensor([True, False])), torch.arange(4.0)),
        ((slice(None), torch.tensor([True, False])), torch.arange(12.0).reshape(3, 1, 4)),
        ((slice(None), torch.tensor([False, False])), torch.tensor(2.0)),
    ],
)
def test_values_broadcast_to_the_places_of_a_mask(index, values):
    # The gradient of the values has a size that depends on data: torch does not trace it.
    def put(x, y):
        x = x.clone()
        x[index] = y.detach()
        return x

    wanted, made = _both(put, torch.arange(24.0).reshape(3, 2, 4), values)
    torch.testing.assert_close(made, wanted)


@pytest.mark.parametrize("values", [torch.tensor(2.0), torch.tensor([5.0, 6.0]), torch.tensor([[5.0, 6.0]])])
def test_values_are_added_at_the_places_of_a_mask(values):
    wanted, made = _both(
        lambda x, y: x.index_put((ROWS,), y.detach(), accumulate=True), torch.arange(6.0).reshape(3, 2), values
    )
    torch.testing.assert_close(made, wanted)


def test_orders_of_axes_with_symbolic_sizes():
    """A result has torch's strides, so that a view of it that joins axes exists."""

    def transposed(x):
        y = x.t() * 2
        return y, y.t().view(-1), y.t().view(2, -1)

    def image(x, weight):
        y = torch.nn.functional.conv2d(x, weight, padding=1).relu()
        return y, y.permute(0, 2, 3, 1).view(-1)

    run, convolve = (torch.compile(f, backend="pycompiler", fullgraph=True, dynamic=True) for f in (transposed, image))
    weight = torch.randn(5, 3, 3, 3)
    for size in (4, 6, 8):
        x = torch.randn(size, 3)
        y = torch.randn(size, 3, size + 1, 4).to(memory_format=torch.channels_last)
        for made, wanted in ((run(x), transposed(x)), (convolve(y, weight), image(y, weight))):
            torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5)
            assert [one.stride() for one in made] == [one.stride() for one in wanted]


@pytest.mark.parametrize("dynamic", [False, True])
def test_views_of_inputs_with_gaps_after_an_update(dynamic):
    """Torch makes them from the strides of the results."""

    def function(x, y):
        x.copy_(x.flip(0))
        z = y.abs()
        return x.view(x.shape), z, z.unsqueeze(0).expand(2, -1, -1), z.unsqueeze(1), y[:, ::2] * 2

    run = torch.compile(function, backend="pycompiler", fullgraph=True, dynamic=dynamic)
    for size in (3, 4, 5):
        given = [(torch.arange(8.0 * size).view(2 * size, 4)[::2, ::2], torch.randn(size, 6)) for _ in range(2)]
        given[1][1].copy_(given[0][1])
        made, wanted = run(*given[1]), function(*given[0])
        for one, other in zip((*made, *given[1]), (*wanted, *given[0]), strict=True):
            torch.testing.assert_close(one, other)
            assert one.stride() == other.stride()
