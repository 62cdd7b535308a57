"""Operations that torch's operator database has with random numbers, or not at all, beside eager torch."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from pycompiler.torch.foreach import foreach_rules


def compiled(function, **options):
    return torch.compile(function, backend="pycompiler", fullgraph=True, **options)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fractional_pooling_with_given_samples(count, dtype):
    """Windows that overlap, ties, nan, and a gradient."""
    pool = F.fractional_max_pool2d if count == 2 else F.fractional_max_pool3d
    inner, sizes = ((11, 8), (6, 5)) if count == 2 else ((7, 6, 9), (3, 4, 1))
    x = torch.randint(-9, 9, (2, 3, *inner)).to(dtype)
    x.view(-1)[::37] = torch.nan
    for _ in range(3):
        samples = torch.rand(2, 3, count, dtype=dtype)

        def function(x, samples=samples):
            return pool(x, 2, output_size=sizes, _random_samples=samples, return_indices=True)

        given = [x.clone().requires_grad_() for _ in range(2)]
        (wanted, places), (made, found) = function(given[0]), compiled(function)(given[1])
        torch.testing.assert_close(made, wanted, equal_nan=True)
        assert torch.equal(found, places)
        for one in (wanted, made):
            one.nan_to_num().square().sum().backward()
        torch.testing.assert_close(given[1].grad, given[0].grad)


@pytest.mark.parametrize("length", [0, 1, 2, 9])
def test_windows(length):
    def function():
        one, two = torch.blackman_window, torch.kaiser_window
        return (
            one(length),
            one(length, periodic=False, dtype=torch.float64),
            two(length),
            two(length, periodic=False, beta=3.5),
        )

    for made, wanted in zip(compiled(function)(), function(), strict=True):
        torch.testing.assert_close(made, wanted, rtol=1e-5, atol=1e-6)


def test_repetitions_whose_number_is_given():
    x, repeats = torch.randn(4, 3), torch.tensor([1, 0, 3, 2])
    function = lambda x, n: torch.repeat_interleave(x, n, dim=0, output_size=6)  # noqa: E731
    torch.testing.assert_close(compiled(function)(x, repeats), function(x, repeats))


def test_products_of_bytes():
    x, y = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((32, 64), (64, 16)))
    assert torch.equal(compiled(torch._int_mm)(x, y), torch._int_mm(x, y))


DTYPES = [torch.bool, torch.uint8, torch.int16, torch.bfloat16, torch.float32, torch.int64, torch.float64]
DTYPES += [torch.complex64, torch.complex128]


@pytest.mark.parametrize("given", DTYPES)
@pytest.mark.parametrize("wanted", DTYPES)
def test_bits_as_another_dtype(given, wanted):
    bits = torch.randint(0, 2, (3, 32), dtype=torch.uint8)
    x = bits.bool() if given == torch.bool else bits.view(given)
    wanted_bits = x.view(wanted).contiguous().view(torch.uint8)
    assert torch.equal(compiled(lambda x: x.view(wanted).clone())(x).view(torch.uint8), wanted_bits)


def test_histograms_at_their_edges():
    x = torch.tensor([0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.0, 2.0, -1.0, torch.nan, torch.inf])
    weight, edges = torch.arange(11.0), torch.tensor([0.0, 0.25, 0.3, 1.0])
    rows = torch.randn(50, 2)
    for function, *args in (
        (lambda x: torch.histogram(x, 4, range=(0.0, 1.0)), x),
        (lambda x, w: torch.histogram(x, 4, range=(0.0, 1.0), weight=w, density=True), x, weight),
        (lambda x, e: torch.histogram(x, e), x, edges),
        (lambda x: torch.histogram(x, 3), torch.ones(5)),
        (lambda x: torch.histogram(x, 3), torch.empty(0)),
        (lambda x: torch.histogramdd(x, [3, 4]), rows),
        (lambda x, e: torch.histogramdd(x, [e, e * 2], density=True), rows, edges),
    ):
        wanted, made = function(*args), compiled(function)(*args)
        torch.testing.assert_close(made.hist, wanted.hist)
        torch.testing.assert_close(made.bin_edges, wanted.bin_edges)


def moments(x):
    return torch.stack([x.mean(), x.var(), x.median()]).double()


@pytest.mark.parametrize(
    "draw",
    [
        lambda n: torch.poisson(torch.full((n,), 0.7)),
        lambda n: torch.poisson(torch.full((n,), 30.0, dtype=torch.float64)),
        lambda n: torch.binomial(torch.full((n,), 12.0), torch.full((n,), 0.3)),
        lambda n: torch.distributions.Gamma(torch.full((n,), 2.5), 0.5).sample(),
        lambda n: torch.distributions.Beta(torch.full((n,), 2.0), torch.full((n,), 5.0)).sample(),
        lambda n: torch.distributions.Dirichlet(torch.tensor([1.0, 2.0, 3.0]).expand(n, 3)).sample()[:, 1],
        lambda n: torch.distributions.StudentT(torch.full((n,), 9.0)).sample(),
    ],
)
def test_distributions_have_their_moments(draw):
    run = compiled(draw)
    made = run(20_000)
    torch.testing.assert_close(moments(made), moments(draw(20_000)), rtol=0.06, atol=0.02)
    # Another call has other numbers; the seed makes them repeatable.
    assert not torch.equal(run(20_000), made)
    torch.manual_seed(5)
    first = run(20_000)
    torch.manual_seed(5)
    assert torch.equal(run(20_000), first)


def test_the_slope_of_a_gamma_sample():
    alpha, drawn = torch.linspace(0.3, 8, 20), torch.linspace(0.1, 12, 20)
    torch.testing.assert_close(
        compiled(torch._standard_gamma_grad)(alpha, drawn),
        torch._standard_gamma_grad(alpha, drawn),
        rtol=1e-3,
        atol=1e-4,
    )
    alpha = torch.full((4000,), 3.0, requires_grad=True)
    compiled(lambda a: torch.distributions.Gamma(a, 1.0).rsample())(alpha).sum().backward()
    assert abs(alpha.grad.mean().item() - 1) < 0.05


def _foreach():
    """The operations on lists, with arguments for their schemas."""
    for target in foreach_rules():
        kinds = [str(argument.type) for argument in target._schema.arguments if argument.default_value is None]
        kinds = [kind for kind in kinds if not kind.startswith("Optional")]
        yield pytest.param(target, kinds, id=str(target))


@pytest.mark.parametrize(("target", "kinds"), _foreach())
def test_operations_on_lists(target, kinds):
    if target == torch.ops.aten._foreach_zero.default:
        pytest.skip("torch has it in place alone")
    size = (3, 3) if "_mm" in str(target) else (2, 3)
    values = {
        "List[Tensor]": lambda: [torch.rand(size) * 0.8 + 0.1, torch.rand(size) * 0.8 + 0.1],
        "List[number]": lambda: [0.5, 1.5],
        "Tensor": lambda: torch.tensor(0.75),
        "number": lambda: 0.75,
    }
    given = [values[kind]() for kind in kinds]
    torch.testing.assert_close(compiled(lambda args: target(*args))(given), target(*given))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(9, 7), (3, 2), (6, 11)])
@pytest.mark.parametrize("align", [False, True])
def test_images_of_bytes_with_smoothing(mode, size, align):
    """Torch rounds both axes, with weights of 16 bits: the results are the same bytes."""
    image = torch.randint(0, 256, (2, 3, 6, 5), dtype=torch.uint8)
    function = lambda x: F.interpolate(x, size=size, mode=mode, antialias=True, align_corners=align)  # noqa: E731
    assert torch.equal(compiled(function)(image), function(image))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("to", [{"size": (9, 7)}, {"size": (3, 2)}, {"scale_factor": 1.7}, {"scale_factor": (0.4, 2)}])
@pytest.mark.parametrize("align", [False, True])
def test_images_of_bytes(mode, to, align):
    """Torch's rule rounds the exact result, and torch itself the weights and each axis."""
    function = lambda x: F.interpolate(x, mode=mode, align_corners=align, **to)  # noqa: E731
    for shape in ((2, 3, 6, 5), (1, 5, 40, 30)):
        image = torch.randint(0, 256, shape, dtype=torch.uint8)
        for channels_last in (False, True):
            image = image.contiguous(memory_format=torch.channels_last) if channels_last else image
            torch._dynamo.reset()
            assert torch.equal(compiled(function)(image), function(image))
        with torch.inference_mode():
            assert torch.equal(compiled(function)(image), function(image))
        torch.testing.assert_close(compiled(function)(image / 3), function(image / 3), rtol=1e-4, atol=1e-3)
        with torch.inference_mode():
            torch.testing.assert_close(compiled(function)(image / 3), function(image / 3), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.uint64])
def test_sizes_of_numbers_without_a_sign(dtype):
    x = torch.tensor([0, 1, 200], dtype=dtype)
    assert torch.equal(compiled(lambda x: x.abs())(x), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_poles_of_zeta_and_polygamma(dtype):
    """Torch reflects the argument of the second derivative, so that rounding decides its poles."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[3.0], [2.0], [2.5], [1.0], [0.5], [-1.0], [inf], [nan]], dtype=dtype)
    q = torch.tensor([-2.0, -1.0, 0.0, -0.0, -0.5, 1.0, 2.0, -50.5, 0.25, -1e10, inf, -inf, nan], dtype=dtype)
    torch.testing.assert_close(compiled(torch.special.zeta)(x, q), torch.special.zeta(x, q), equal_nan=True)
    for order in (0, 1, 2, 3, 4):
        function = lambda q, order=order: torch.polygamma(order, q)  # noqa: E731
        torch.testing.assert_close(compiled(function)(q), function(q), equal_nan=True, rtol=1e-4, atol=1e-5)


_WITH_NUMBERS = ["remainder", "fmod", "pow", "xlogy", "special.xlog1py", "mul", "div", "add"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("name", "other"),
    [(name, 0.7) for name in _WITH_NUMBERS]
    + [(name, torch.tensor(0.7)) for name in (*_WITH_NUMBERS, "hypot", "fmax", "atan2")],
)
def test_a_number_beside_16_bit_floats(name, other, dtype):
    """Torch rounds it to 16 bits first where the result is no sum, product or quotient."""
    function = torch.special.xlog1py if name == "special.xlog1py" else getattr(torch, name)
    x = torch.tensor([0.3, 1, 2.7, 99.5, 1200, 6e4]).to(dtype)
    torch.testing.assert_close(compiled(lambda x: function(x, other))(x), function(x, other))
