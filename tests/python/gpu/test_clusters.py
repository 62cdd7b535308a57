"""Ops on the same rows as one kernel: softmax, normalization and their gradients, against NumPy in f64."""

import os
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from emulation import Program, empty, kernels_of
from test_ptx import assembler, ptx_of

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile.compile import build_module
from pycompiler.compile.plan import plan_outputs
from pycompiler.core.config.config import enable_x64

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]
COLUMNS = [3, 31, 32, 33, 127, 128, 1000, 1003, 1024, 4096, 5000, 20000]


def compiled(function, *arrays):
    """The kernels of a function, and its results on them."""
    with enable_x64(True):
        plan = plan_outputs(pc.jit(function).trace(*arrays).jaxpr)
        (text,) = kernels_of([str(build_module(plan.graph))])
    results = [empty(aval.shape, aval.dtype) for aval in plan.result_avals]
    given = [arrays[i] for i in plan.used] + [np.asarray(const) for const in plan.consts]
    program = Program(text)
    program([np.ascontiguousarray(array) for array in given], results)
    return text, program.arena_bytes, [np.asarray(results[i]) for kind, i in plan.outputs if kind == "result"]


def launches(text):
    return text.count("gpu.launch_func")


def data(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def layernorm(x, scale, bias):
    centered = x - x.mean(-1, keepdims=True)
    return centered / pnp.sqrt((centered * centered).mean(-1, keepdims=True) + 1e-5) * scale + bias


def rmsnorm(x, scale, bias):
    return x / pnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale


def logsumexp(x):
    return pnp.log(pnp.exp(x - x.max(-1, keepdims=True)).sum(-1)) + x.max(-1)


def reference(name, x, *rest):
    x, *rest = (np.asarray(array, np.float64) for array in (x, *rest))
    e = np.exp(x - x.max(-1, keepdims=True))
    centered = x - x.mean(-1, keepdims=True)
    softmax = e / e.sum(-1, keepdims=True)
    if name == "softmax":
        return softmax
    if name == "log_softmax":
        return x - x.max(-1, keepdims=True) - np.log(e.sum(-1, keepdims=True))
    if name == "logsumexp":
        return np.log(e.sum(-1)) + x.max(-1)
    if name == "variance":
        return x.var(-1)
    if name == "softmax_gradient":
        (d,) = rest
        return softmax * (d - (softmax * d).sum(-1, keepdims=True))
    scale, bias, *rest = rest
    if name == "rmsnorm":
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale
    deviation = np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    if name == "layernorm":
        return centered / deviation * scale + bias
    normal, d = centered / deviation, rest[0] * scale
    return (d - d.mean(-1, keepdims=True) - normal * (d * normal).mean(-1, keepdims=True)) / deviation


FUNCTIONS = {
    "softmax": pc.nn.softmax,
    "log_softmax": pc.nn.log_softmax,
    "logsumexp": logsumexp,
    "variance": lambda x: x.var(-1),
    "softmax_gradient": lambda x, d: pc.vjp(pc.nn.softmax, x)[1](d)[0],
    "rmsnorm": rmsnorm,
    "layernorm": layernorm,
    "layernorm_gradient": lambda x, scale, bias, d: pc.vjp(lambda v: layernorm(v, scale, bias), x)[1](d)[0],
}


def operands(name, rows, columns, dtype):
    scale = (1 + data(columns, seed=1) / 4).astype(dtype)
    row = (scale, data(columns, dtype=dtype, seed=2))
    d = data(rows, columns, dtype=dtype, seed=3)
    more = {"softmax_gradient": (d,), "rmsnorm": row, "layernorm": row, "layernorm_gradient": (*row, d)}
    return (data(rows, columns, dtype=dtype), *more.get(name, ()))


def check(name, rows, columns, dtype):
    arrays = operands(name, rows, columns, dtype)
    text, arena, (got,) = compiled(FUNCTIONS[name], *arrays)
    want = reference(name, *arrays)
    eps = float(ml_dtypes.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=64 * eps, atol=64 * eps * np.abs(want).max())
    if columns > 1 and not (rows < 128 and columns >= 8192):
        assert launches(text) == 1
        assert arena == 0
    return text


@pytest.mark.parametrize("rows", [1, 5, 300])
@pytest.mark.parametrize("columns", [1, *COLUMNS])
def test_softmax(rows, columns):
    check("softmax", rows, columns, np.float32)


@pytest.mark.parametrize("columns", [33, 1003, 1024, 5000])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "softmax"])
def test_rows_are_one_kernel(name, columns):
    check(name, 5, columns, np.float32)


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("columns", [33, 1024, 1004])
@pytest.mark.parametrize("name", ["softmax", "layernorm"])
def test_other_floats(name, columns, dtype):
    check(name, 5, columns, dtype)


@pytest.mark.full
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("rows", [1, 5, 300])
@pytest.mark.parametrize("columns", [1, *COLUMNS])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size(name, columns, rows, dtype):
    check(name, rows, columns, dtype)


@pytest.mark.parametrize("name", ["softmax", "layernorm_gradient"])
def test_rows_that_registers_do_not_hold_are_read_again(name):
    text = check(name, 130, 60004, np.float32)
    assert text.count("scf.for") > 0
    assert "vector<4xf32>" in text


@pytest.mark.parametrize("columns", [33, 1024, 5000])
def test_what_is_no_number_stays_in_its_row(columns):
    x = data(6, columns)
    x[1, columns // 2] = np.inf
    x[2, -1] = np.nan
    x[3] = -np.inf
    x[4, 1:] = -np.inf
    text, _, (got,) = compiled(pc.nn.softmax, x)
    assert launches(text) == 1
    # If the maximum is not a number, it counts as zero.
    shift = np.where(np.isfinite(x.max(-1, keepdims=True)), x.max(-1, keepdims=True), 0)
    with np.errstate(all="ignore"):
        e = np.exp((x - shift).astype(np.float64))
        want = e / e.sum(-1, keepdims=True)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
    assert np.isfinite(got[[0, 4, 5]]).all()


@pytest.mark.parametrize("columns", [33, 1024, 4100])
def test_several_results(columns):
    x = data(37, columns)

    def program(v):
        e = pnp.exp(v - v.max(-1, keepdims=True))
        total = e.sum(-1, keepdims=True)
        return e, total, e / total, (e * e).sum(-1), v.argmax(-1)

    text, arena, got = compiled(program, x)
    assert launches(text) == 1
    assert arena == 0
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    total = e.sum(-1, keepdims=True)
    for a, b in zip(got, (e, total, e / total, (e * e).sum(-1), x.argmax(-1)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("columns", [100, 3000])
def test_reductions_of_one_array_and_what_follows_them(columns):
    x = data(9, columns)
    text, arena, (total, norm, least) = compiled(lambda v: (v.sum(1), pnp.sqrt((v * v).sum(1)), v.min(1)), x)
    assert launches(text) == 1
    assert arena == 0
    np.testing.assert_allclose(total, x.sum(1, dtype=np.float64), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(norm, np.sqrt((x.astype(np.float64) ** 2).sum(1)), rtol=1e-5)
    np.testing.assert_array_equal(least, x.min(1))


def test_what_does_not_fit_follows_the_kernel():
    # The gradients of scale and bias are sums of columns.
    x, d, scale, bias = data(300, 1024), data(300, 1024, seed=3), 1 + data(1024, seed=1) / 4, data(1024, seed=2)
    text, _, got = compiled(lambda *args: pc.vjp(layernorm, *args[:3])[1](args[3]), x, scale, bias, d)
    assert launches(text) == 3
    centered = x - x.mean(-1, keepdims=True, dtype=np.float64)
    normal = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    want = (reference("layernorm_gradient", x, scale, bias, d), (d * normal).sum(0), d.sum(0, dtype=np.float64))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(2, 3, 64, 48), (2, 2, 9, 33)], ids=str)
def test_attention_weights(shape):
    # The mask is computed before, and is the same for all heads: rows that are apart read the same rows of it.
    x = data(*shape)

    def program(v):
        mask = pnp.arange(shape[-2])[:, None] >= pnp.arange(shape[-1])[None, :]
        return pc.nn.softmax(pnp.where(mask, v * 0.125, -1e30))

    text, _, (got,) = compiled(program, x)
    mask = np.arange(shape[-2])[:, None] >= np.arange(shape[-1])[None, :]
    e = np.where(mask, x.astype(np.float64) * 0.125, -1e30)
    e = np.exp(e - e.max(-1, keepdims=True))
    np.testing.assert_allclose(got, e / e.sum(-1, keepdims=True), rtol=1e-5, atol=1e-7)
    assert launches(text) == 2


def test_columns_remain_several_kernels():
    x = data(40, 96)
    text, _, (got,) = compiled(lambda v: pc.nn.softmax(v, axis=0), x)
    assert launches(text) > 1
    e = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(got, e / e.sum(0), rtol=1e-5, atol=1e-7)


def test_a_loop_normalizes_in_place():
    x = data(6, 200)
    _, _, (got,) = compiled(lambda v: pc.lax.fori_loop(0, 4, lambda i, c: pc.nn.softmax(c * 3), v), x)
    want = x.astype(np.float64)
    for _ in range(4):
        want = reference("softmax", want * 3)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("columns", [1003, 1024, 4096, 20000])
@pytest.mark.parametrize("name", ["softmax", "layernorm_gradient"])
def test_registers_hold_the_row(name, columns, tmp_path):
    text = pc.jit(FUNCTIONS[name]).lower(*operands(name, 300, columns, np.float32)).as_text()
    for chip in ("sm_80", "sm_90a"):
        (kernels,) = ptx_of([text], chip)
        path = tmp_path / f"{chip}.ptx"
        path.write_text(kernels)
        run = subprocess.run(
            [assembler(), "-v", f"-arch={chip}", path, "-o", os.devnull], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert re.findall(r"(\d+) bytes spill stores", run.stderr) == ["0"]


def test_results_are_the_same_in_every_run():
    x = data(50, 3001)
    first, second = (compiled(pc.nn.softmax, x)[2][0] for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_a_fill_stays_before_a_copy_to_a_part_of_it():
    """Of gradients that are added from rows: the copy uses a row of what is filled, a later op all of it."""

    def step(v, x):
        return pnp.tanh(pnp.sum(v) * 0.1 + pnp.cos(x * 0.5) - v)

    def value(v, xs):
        return pnp.sum(step(step(v, xs[1]), xs[0]) ** 2)

    v, xs = data(3), data(2, 3)
    _, _, (got,) = compiled(pc.grad(value, 1), v, xs)
    assert np.abs(got).min() > 1e-5
    np.testing.assert_allclose(got, pc.grad(value, 1)(v, xs), rtol=1e-4, atol=1e-6)
