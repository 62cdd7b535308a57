"""The behaviour of torch.compile(backend="pycompiler"): values, gradients, aliases, layouts, sizes, random numbers."""

import math
import subprocess
import sys
import warnings

import pytest
import torch
from left_out import slope
from torch import nn
from torch.nn import functional as F  # noqa: N812

import pycompiler


def compiled(function, **options):
    return torch.compile(function, backend="pycompiler", **options)


def assert_same(function, *args, nan=False, **options):
    wanted, made = function(*args), compiled(function, **options)(*args)
    torch.testing.assert_close(made, wanted, rtol=1e-4, atol=1e-5, equal_nan=nan)
    return made


def test_a_function_and_its_gradient():
    def f(x, w):
        return torch.tanh(x @ w).sum(0) * 2 + 1

    x, w = torch.randn(8, 4), torch.randn(4, 3, requires_grad=True)
    assert_same(f, x, w)
    slope = torch.autograd.grad(f(x, w).sum(), w)
    torch.testing.assert_close(torch.autograd.grad(compiled(f)(x, w).sum(), w), slope)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.int64, torch.bfloat16, torch.float16, torch.complex64, torch.bool]
)
def test_dtypes_stay_whatever_enable_x64_says(dtype):
    x = torch.arange(6).reshape(2, 3).to(dtype)
    made = assert_same(lambda x: torch.cat([x, x.flip(1)]), x)
    assert made.dtype == dtype
    assert not pycompiler.config.enable_x64


def test_promotion_of_numbers_and_0d_tensors():
    half, one = torch.randn(3, dtype=torch.float16), torch.tensor(2.0, dtype=torch.float64)
    whole = torch.arange(3)
    assert_same(lambda h, o, n: (h * o, h + 1.5, n * o, n + 1.5, n / 2, n // 2, n > 1.5, o + n), half, one, whole)


def test_outputs_that_alias_inputs_and_each_other():
    x = torch.randn(4, 3)
    f = compiled(lambda x: (x.view(-1), x.t(), x.clone(), x, x + 1, torch.zeros(3), torch.zeros(3)))
    flat, turned, copy, same, _, a, b = f(x)
    assert flat.data_ptr() == turned.data_ptr() == same.data_ptr() == x.data_ptr()
    assert copy.data_ptr() != x.data_ptr()
    assert a.data_ptr() != b.data_ptr()
    a += 1
    assert f(x)[5].sum() == 0


def test_updates_in_place_reach_the_caller():
    def f(x, y):
        x.add_(1)
        y[1:].mul_(x[1:])
        return x * 2

    one = [torch.randn(4), torch.randn(4)]
    two = [x.clone() for x in one]
    torch.testing.assert_close(compiled(f)(*two), f(*one))
    torch.testing.assert_close(two, one)


def test_channels_last_passes_without_a_copy_and_stays():
    layer = nn.Conv2d(3, 5, 3, padding=1).to(memory_format=torch.channels_last)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    with torch.no_grad():
        made = assert_same(lambda x: layer(x).relu(), x)
    assert made.is_contiguous(memory_format=torch.channels_last)


def test_strided_inputs():
    x = torch.randn(6, 8)
    assert_same(lambda a, b, c: a * 2 + b + c, x[::2, 1:5], x.t()[:4, :3].t(), x[0, :4].expand(3, 4))


def test_conjugates_and_negatives():
    x = torch.randn(4, dtype=torch.complex64)
    assert_same(lambda a, b: a * 2 + b, x.conj(), x.conj().imag)


def test_complex_functions_keep_the_imaginary_part():
    x, y = torch.randn(3, 3, dtype=torch.complex64), torch.randn(3, 3, dtype=torch.complex64) * 4
    assert_same(lambda x, y: (torch.dist(x, y), torch.logaddexp(x, y), torch.matrix_exp(x)), x, y)


def test_the_logarithm_of_a_sum_of_complex_numbers_has_the_angle_of_the_sum():
    x = torch.tensor([[3e4 + 7j, 3e4 - 9j, 1 + 1e5j], [-2e4 + 5j, 4j, -1 + 2j]], dtype=torch.complex128)
    made = torch.compile(lambda x: torch.logsumexp(x, 1), backend="pycompiler", fullgraph=True)(x)
    torch.testing.assert_close(made, torch.logsumexp(x, 1))
    assert made.imag.abs().max() <= math.pi


def test_running_sums_of_complex_exponentials_keep_the_turns_of_torch():
    x = torch.tensor(
        [[3 + 7j, 2 - 9j, 3 + 40j, -50 + 1e3j], [-math.inf + 1j, -math.inf + 2j, 4j, complex(math.nan, 1)]]
    )
    for dim in (0, 1):
        assert_same(lambda x, dim=dim: torch.logcumsumexp(x, dim), x, nan=True)


@pytest.mark.parametrize("order", [2, 3, math.inf])
def test_norms_of_complex_numbers_are_computed_in_their_dtype(order):
    def norm(x):
        return torch.linalg.vector_norm(x, order, dtype=torch.complex128)

    # In float32 the magnitudes overflow.
    x = torch.tensor([3e38 + 3e38j, 1e38 - 2e38j], dtype=torch.complex64)
    made = torch.compile(norm, backend="pycompiler", fullgraph=True)(x)
    torch.testing.assert_close(made, norm(x), rtol=1e-14, atol=0)


def test_one_compilation_for_every_size():
    def f(x, w):
        joined = torch.cat([x, x * 2])
        return (joined @ w).softmax(-1).mean(0) * x.shape[0] + torch.arange(x.shape[0]).sum()

    w, calls = torch.randn(4, 3), compiled(f, dynamic=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        # None is a size of w: torch would take it for the same symbol.
        for size in (6, 5, 9, 40):
            x = torch.randn(size, 4)
            torch.testing.assert_close(calls(x, w), f(x, w), rtol=1e-4, atol=1e-5)


def test_sizes_become_symbols_by_themselves():
    calls = compiled(lambda x: (x[:, 1:] * 2).sum(0))
    for size in (3, 4, 7, 11):
        x = torch.randn(size, 5)
        torch.testing.assert_close(calls(x), (x[:, 1:] * 2).sum(0), rtol=1e-4, atol=1e-5)


def test_gradients_with_symbolic_sizes():
    layer = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))
    other = compiled(layer, dynamic=True)
    for size in (2, 5, 9):
        x = torch.randn(size, 4, requires_grad=True)
        wanted = torch.autograd.grad(layer(x).square().sum(), x)
        torch.testing.assert_close(torch.autograd.grad(other(x).square().sum(), x), wanted, rtol=1e-4, atol=1e-5)


def test_random_numbers_follow_the_seed():
    f = compiled(lambda x: (F.dropout(x, 0.5), torch.rand(3), torch.randn_like(x)))
    x = torch.ones(1000)
    torch.manual_seed(1)
    first, second = f(x), f(x)
    torch.manual_seed(1)
    again = f(x)
    for one, two, three in zip(first, second, again, strict=True):
        assert torch.equal(one, three)
        assert not torch.equal(one, two)
    assert 0.4 < (first[0] == 0).float().mean() < 0.6
    assert set(first[0].unique().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_both_parts_of_complex_numbers_are_uniform(dtype):
    function = torch.compile(lambda x: x.uniform_(2, 5), backend="pycompiler", fullgraph=True)
    made = function(torch.zeros(20000, dtype=dtype))
    assert made.dtype == dtype
    for part in (made.real, made.imag):
        assert 2 <= part.min() < 2.01
        assert 4.99 < part.max() < 5
        # Six standard deviations of the mean.
        assert abs(part.mean() - 3.5) < 6 * 3 / (12 * 20000) ** 0.5
    assert (made.real - 3.5).mul(made.imag - 3.5).mean().abs() < 0.05


def test_attention_beside_the_formula():
    query, key, value = (torch.randn(2, 3, size, 8, requires_grad=True) for size in (5, 700, 700))
    mask = torch.rand(5, 700) > 0.3
    for options in ({"attn_mask": mask}, {"is_causal": True}, {"scale": 0.1}):

        def f(q, k, v, options=options):
            return F.scaled_dot_product_attention(q, k, v, **options)

        assert_same(f, query, key, value)
        wanted = torch.autograd.grad(f(query, key, value).square().sum(), (query, key, value))
        made = torch.autograd.grad(compiled(f)(query, key, value).square().sum(), (query, key, value))
        torch.testing.assert_close(made, wanted, rtol=1e-3, atol=1e-4)
        torch._dynamo.reset()


def test_autocast():
    layer, x = nn.Linear(8, 8), torch.randn(4, 8)

    def f(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layer(x).relu()

    made = compiled(f)(x)
    assert made.dtype == torch.bfloat16
    torch.testing.assert_close(made, f(x), rtol=2e-2, atol=2e-2)


def _with_a_slope(x):
    return slope(x) * 2 + x.exp()


def test_what_is_not_taken_is_one_warning(monkeypatch):
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    x = torch.randn(5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = compiled(_with_a_slope)(x)
    torch.testing.assert_close(made, _with_a_slope(x))
    texts = [str(one.message) for one in told if "eager torch" in str(one.message)]
    assert len(texts) == 1
    assert "1 operations" in texts[0]
    assert "pycompiler_tests.slope" in texts[0]
    assert "test_torch_backend.py" in texts[0]


def test_what_is_not_taken_is_an_error_if_strict():
    with pytest.raises(Exception, match=r"pycompiler_tests\.slope"):
        compiled(_with_a_slope)(torch.randn(5))


def test_the_compiler_is_not_loaded_before_the_first_graph():
    code = (
        "import sys, torch, pycompiler.torch\n"
        "f = torch.compile(lambda x: x + 1, backend='pycompiler')\n"
        "print('pycompiler._compiler' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_pycompiler_does_not_import_torch():
    code = "import sys, pycompiler; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
