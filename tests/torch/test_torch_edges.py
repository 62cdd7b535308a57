"""Values at the edges of operations beside eager torch: the ends of pieces, nan, quotients that 16 bits round, and
rules of torch's own that are wrong there."""

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from pycompiler.torch.backend import backend

EDGES = [-3.0, 3.0, -6.0, 6.0, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 20.0, 21.0, math.inf, -math.inf, math.nan]
# Eager torch's loops over vectors, and over the last elements, differ at nan: these have only whole vectors.
REPEATS = 64
ACTIVATIONS = {
    "relu6": F.relu6,
    "hardtanh": lambda x: F.hardtanh(x, -0.5, 3.0),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "elu": F.elu,
    "elu of a result": lambda x: F.elu(x * 1, 2.0, inplace=True),
    "celu": lambda x: F.celu(x, 0.5),
    "selu": F.selu,
    "softplus": F.softplus,
    "leaky_relu": F.leaky_relu,
    "inverse root": lambda x: x**-0.5,
    "smooth_l1": lambda x: F.smooth_l1_loss(x, torch.ones_like(x), reduction="sum"),
    "smooth_l1 with beta": lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), beta=0.5, reduction="none"),
}


def agree(function, *args, exact=False):
    """Results and gradients of all arguments that are floats."""

    def run(function):
        given = [x.clone().requires_grad_(x.is_floating_point()) for x in args]
        made = function(*given)
        slopes = torch.autograd.grad(made.sum(), given) if made.requires_grad else ()
        return made.detach(), slopes

    bounds = {"rtol": 0, "atol": 0} if exact else {}
    torch.testing.assert_close(
        run(torch.compile(function, backend="pycompiler")), run(function), equal_nan=True, **bounds
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_ends_of_pieces(name, dtype):
    agree(ACTIVATIONS[name], torch.tensor(EDGES, dtype=dtype).repeat(REPEATS))


def test_quotients_are_rounded_before_the_fraction_goes():
    """3 by the nearest of 0.1 is 29.97, which bfloat16 rounds to 30."""
    x = torch.tensor([-3.0, 3.0, 1.0, 7.0], dtype=torch.bfloat16)
    y = torch.tensor([0.1, -0.1, 0.1, 2.0], dtype=torch.bfloat16)

    def quotient(x, y):
        return torch.div(x.detach(), y.detach(), rounding_mode="trunc")

    assert torch.compile(quotient, backend="pycompiler")(x, y).tolist() == [-30.0, -30.0, 10.0, 3.0]
    agree(torch.fmod, x, y)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_neighbours_of_numbers(dtype):
    x = torch.tensor([1.0, -3.0, 0.0, 2.0, math.inf], dtype=dtype)
    agree(lambda x: torch.nextafter(x.detach(), torch.tensor([2.0, 2.0, 1.0, 2.0, 0.0], dtype=dtype)), x, exact=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
def test_signs_of_remainders(dtype):
    """A remainder of 0 keeps the sign of the first operand."""
    values = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 4.0, -4.0, math.inf, -math.inf, math.nan], dtype=dtype)
    x, y = (one.reshape(-1) for one in torch.meshgrid(values, values, indexing="ij"))
    made = torch.compile(torch.remainder, backend="pycompiler")(x, y)
    wanted = torch.remainder(x, y)
    torch.testing.assert_close(made, wanted, equal_nan=True, rtol=0, atol=0)
    assert torch.equal(made.signbit() & ~made.isnan(), wanted.signbit() & ~wanted.isnan())
    agree(torch.remainder, x[(y != 0) & x.isfinite()], y[(y != 0) & x.isfinite()])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32], ids=str)
def test_least_multiples_that_overflow(dtype):
    x = torch.tensor([100, 30000 if dtype == torch.int16 else 5, -7], dtype=dtype)
    agree(torch.lcm, x, torch.tensor([7, 29999 if dtype == torch.int16 else 6, 3], dtype=dtype), exact=True)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "targets",
    [[[1, 2, -1, 0], [3, -1, -1, -1]], [[-1, 2, 0, 1], [0, 1, 2, 3]], [[2, 2, -1, 3], [0, 0, 0, -1]], [2, 0, -1, 3]],
    ids=str,
)
def test_targets_of_a_margin_end_at_the_first_negative_one(targets, reduction):
    """Torch's own rule counts the places behind it."""
    classes = torch.tensor(targets)
    scores = torch.linspace(-1, 2, classes.numel()).reshape(classes.shape).sin()
    agree(lambda x: F.multilabel_margin_loss(x, classes, reduction=reduction), scores)
    with torch.inference_mode():
        agree(lambda x: F.multilabel_margin_loss(x.detach(), classes, reduction=reduction), scores)


UPDATES = {
    "add_": lambda x, y: x.add_(y, alpha=2),
    "lerp_": lambda x, y: x.lerp_(y, 0.1),
    "mul_, addcmul_": lambda x, y: x.mul_(0.9).addcmul_(y, y, value=0.1),
    "sub_": lambda x, y: x.sub_(y),
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("update", UPDATES)
def test_updates_of_tensors_without_axes(update, dtype):
    """A restart of Dynamo's trace drops those in float64, without need of one. One graph serves all values."""
    counts = torch._dynamo.utils.counters["stats"]
    counts.clear()

    def step(x, y):
        UPDATES[update](x, y)
        return x * 1

    compiled = torch.compile(step, backend="pycompiler")
    for value in (2.0, 3.0, -1.0):
        x, expected, y = (torch.tensor(one, dtype=dtype) for one in (0.5, 0.5, value))
        torch.testing.assert_close(compiled(x, y), step(expected, y))
        torch.testing.assert_close(x, expected)
    assert counts["unique_graphs"] == 1


def test_updates_of_tensors_without_axes_beside_numbers():
    """Numbers that have to be constants start the trace again: the update stays."""

    def step(x, y, z, scale):
        x.add_(y, alpha=2)
        return x * 1, z * scale, F.interpolate(z, scale_factor=scale)

    compiled = torch.compile(step, backend="pycompiler", dynamic=True)
    for scale in (2.0, 3.0, 1.5):
        x, expected, y = (torch.tensor(one, dtype=torch.float64) for one in (0.5, 0.5, scale))
        z = torch.linspace(0, 1, 4).reshape(1, 1, 4)
        torch.testing.assert_close(compiled(x, y, z, scale), step(expected, y, z, scale))
        torch.testing.assert_close(x, expected)


class Words(torch.nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.words, self.scale = torch.nn.Embedding(7, 3, **options), 0.5

    def forward(self, x):
        return self.words(x) * self.scale


@pytest.mark.parametrize(("options", "traces"), [({}, [1, 1]), ({"max_norm": 0.5}, [1, 2])])
def test_a_norm_starts_no_trace_again(options, traces):
    model, counts = Words(**options), []

    def counted(module, examples):
        counts.append(module)
        return backend(module, examples)

    compiled = torch.compile(model, backend=counted, dynamic=True)
    for norm_type, scale, count in zip((2.0, 1.0), (0.5, 0.25), traces, strict=True):
        model.words.norm_type, model.scale = norm_type, scale
        x = torch.arange(5)
        torch.testing.assert_close(compiled(x), model(x))
        assert len(counts) == count


@pytest.mark.parametrize("of_input", [True, False])
def test_numbers_that_are_constants_start_no_trace_again(of_input):
    """Each value of such a number is another graph; the other numbers are inputs."""
    model, counts = torch.nn.Sequential(torch.nn.LayerNorm(3), torch.nn.Softplus(), torch.nn.GroupNorm(1, 3)), []

    def counted(module, examples):
        counts.append(module)
        return backend(module, examples)

    step = lambda x, scale: model(x * scale) + scale  # noqa: E731
    compiled = torch.compile(step, backend=counted, dynamic=True)
    x = torch.randn(4, 3, requires_grad=of_input)
    for number, (eps, beta) in enumerate([(1e-5, 1.0), (0.5, 1.0), (0.5, 2.0)], 1):
        model[0].eps, model[1].beta = eps, beta
        for scale in (0.5, 2.0):
            got, expected = compiled(x, scale), step(x, scale)
            torch.testing.assert_close(got, expected)
            if of_input:
                torch.testing.assert_close(
                    torch.autograd.grad(got.sin().sum(), x), torch.autograd.grad(expected.sin().sum(), x)
                )
        assert len(counts) == number


@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize("kind", ["AdamW", "NAdam", "RMSprop", "Adagrad"])
def test_optimizers_of_parameters_without_axes(kind, foreach):
    def train(compiled):
        parameters = [torch.nn.Parameter(torch.full(shape, 0.5, dtype=torch.float64)) for shape in ((), (3,))]
        optimizer = getattr(torch.optim, kind)(parameters, lr=0.01, foreach=foreach)
        step = torch.compile(optimizer.step, backend="pycompiler") if compiled else optimizer.step
        for number in range(3):
            for parameter in parameters:
                parameter.grad = torch.full_like(parameter, 0.3 + number)
            step()
        return parameters

    # Compiled steps count in float32, as Dynamo traces them.
    torch.testing.assert_close(train(True), train(False), rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64], ids=str)
def test_numbers_of_integer_ranges_are_rounded_first(dtype):
    """Starts, ends and steps that are floats lose their fraction before the elements are computed."""

    def ranges(x):
        made = torch.arange(0.9, 9.1, 2.6, dtype=dtype), torch.linspace(4.3, 1.0, 7, dtype=dtype)
        return *made, torch.linspace(0, 7, 50, dtype=dtype), x + 1

    made = torch.compile(ranges, backend="pycompiler")(torch.ones(1))
    # Torch counts elements in float64, except for int64.
    assert made[0].tolist() == [0, 2, 4, 6] + [8] * (dtype == torch.int64)
    assert made[1].tolist() == [4, 3, 3, 2, 2, 1, 1]
    assert made[2].tolist() == [place // 7 for place in range(50)]
    assert all(one.dtype == dtype for one in made[:3])
