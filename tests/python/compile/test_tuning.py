"""Measured plans: all plans compute the same product, measurements are stored and found again, nothing blocks."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import cache
from pycompiler.cache import __main__ as command
from pycompiler.compile import compile as compiling
from pycompiler.compile import measure
from pycompiler.compile.products import products_of
from pycompiler.core.config.config import config


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty cache for this test and the processes that it starts, and short measurements."""
    path = tmp_path / "cache"
    monkeypatch.setenv("PYCOMPILER_COMPILATION_CACHE_DIR", str(path))
    monkeypatch.setattr(cache, "_told", set())
    monkeypatch.setattr(measure, "_ROUNDS", 1)
    monkeypatch.setattr(measure, "_SAMPLE", 1e-6)
    pc.clear_caches()  # of the functions of this module, which several tests compile
    with config.override("compilation_cache_dir", str(path)):
        yield path
    cache.forget_plans()


def random(*shape, dtype=np.float32):
    values = np.random.default_rng(sum(shape)).standard_normal(shape)
    return values.astype(dtype) if np.dtype(dtype).kind == "f" else (values * 50).astype(dtype)


def plans(folder):
    return sorted(folder.glob("*.plan"))


def graph_of(fun, *args):
    return pc.jit(fun).trace(*args).jaxpr.graph


def convolution(padding="SAME", **options):
    def apply(x, w):
        return pc.lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)

    return apply


def matmul(x, y):
    return x @ y


CASES = {
    "long": (matmul, random(40, 600), random(600, 96)),
    "thin": (matmul, random(130, 8), random(8, 128)),
    "few rows": (matmul, random(12, 300), random(300, 160)),
    "streamed": (matmul, random(2, 300), random(300, 160)),
    "many streamed": (matmul, random(6, 600), random(600, 512)),
    "odd": (matmul, random(33, 70), random(70, 45)),
    "transposed": (lambda x, y: x.T @ y.T, random(200, 50), random(72, 200)),
    "batched": (matmul, random(5, 24, 40), random(5, 40, 64)),
    "bytes": (lambda x, y: pc.lax.dot(x, y, preferred_element_type=pnp.int32), random(40, 64, dtype=np.int8),
              random(64, 48, dtype=np.int8)),
    "bfloat16": (lambda x, y: pc.lax.dot(x.astype(pnp.bfloat16), y.astype(pnp.bfloat16),
                                         preferred_element_type=pnp.float32), random(48, 80), random(80, 64)),
    "with bias": (lambda x, y: pnp.maximum(x @ y + y[0], 0), random(64, 64), random(64, 64)),
    "convolution": (convolution(), random(2, 14, 16, 24), random(3, 3, 24, 40)),
    "its gradient": (lambda x, g: pc.grad(lambda w: (convolution()(x, w) * g).sum())(pnp.zeros((3, 3, 16, 24))),
                     random(2, 12, 14, 16), random(2, 12, 14, 24)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_proposed_plan_computes_the_same(name):
    fun, *args = CASES[name]
    graph = graph_of(fun, *args)
    found = products_of(graph)
    assert found
    (usual,) = run(graph, {}, args)
    if name != "its gradient":
        expected = fun(*args) if "conv" not in name and name != "bytes" else None
        if name == "bytes":
            expected = args[0].astype(np.int32) @ args[1].astype(np.int32)
        if expected is not None:
            np.testing.assert_allclose(usual, np.asarray(expected), rtol=2e-4, atol=2e-4)
    for equation, product in found.items():
        proposed = compiling._propose_plans(product.graph().graph)
        assert proposed
        assert len({measure._shown(plan) for plan in proposed}) == len(proposed)
        for plan in proposed:
            (got,) = run(graph, {equation: plan}, args)
            np.testing.assert_allclose(got, usual, rtol=2e-4, atol=2e-4, err_msg=str(plan))


def run(graph, plans, args):
    executable = compiling._build_with_plans(graph, plans)
    results = executable.execute([pnp.asarray(arg) for arg in args], [var.aval for var in graph.outputs])
    return [np.asarray(result) for result in results]


PROGRAM = """
import sys
import numpy as np
import pycompiler as pc
from pycompiler.compile import measure
x = np.random.default_rng(0).standard_normal((96, 640), np.float32)
measured = []
def winner(trial, proposed):
    measured.append(trial)
    trial.seconds[measure._shown({})] = trial.seconds[measure._shown({PLAN})] = 1e-6
    return {PLAN}
measure._Trial.winner = winner
f = pc.jit(lambda x, y: x @ y)
print(np.asarray(f(x, x.T.copy())).tobytes().hex()[:2000], np.asarray(f(x, x.T.copy())).sum())
print(len(measured), "pycompiler._compiler" in sys.modules)
"""


def start(plan, tuning):
    program = PROGRAM.replace("{PLAN}", repr(plan))
    environment = {**os.environ, "PYCOMPILER_TUNING": tuning}
    return subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)


def finish(process):
    output, _ = process.communicate(timeout=100)
    assert process.returncode == 0
    numbers, last = output.strip().splitlines()
    return numbers, last


def test_what_was_measured_is_used_by_new_processes(folder):
    plan = {"depth": 128}
    first = finish(start(plan, "measure"))
    assert first[1] == "1 True"
    (file,) = plans(folder)
    kept = file.read_bytes()
    # The code is in the cache, too. It is neither measured nor compiled again, for any result of a measurement.
    assert finish(start({"depth": 256}, "measure")) == (first[0], "0 False")
    assert file.read_bytes() == kept
    usual = finish(start({}, "off"))
    assert usual[1] == "0 True"
    # Other blocks of depth are another order of the sums.
    assert usual[0] != first[0]


def test_two_processes_at_once_agree(folder):
    outputs = {finish(process)[0] for process in [start({"depth": depth}, "measure") for depth in (128, 256)]}
    assert len(outputs) == 1
    assert len(plans(folder)) == 1
    assert not list(folder.glob(".*.tmp"))


def tuned(fun, *args, tuning="measure"):
    """The module of a function, and its result, compiled with this setting."""
    with pc.tuning(tuning):
        made = pc.jit(fun).lower(*args).compile()
        return made.as_text("array"), np.asarray(made(*args))


def choosing(monkeypatch, plan):
    """Measurements that choose this plan, and the measured products."""
    measured = []

    def winner(trial, proposed):
        measured.append(trial)
        trial.seconds[measure._shown({})] = trial.seconds[measure._shown(plan)] = 1e-6
        return plan

    monkeypatch.setattr(measure._Trial, "winner", winner)
    return measured


X, Y = random(48, 640), random(640, 64)


def test_off_by_default_and_use_measure_nothing(monkeypatch, folder):
    assert config.tuning == "off"
    measured = choosing(monkeypatch, {"depth": 128})
    for tuning in ("off", "use"):
        assert "array.plan" not in tuned(matmul, X, Y, tuning=tuning)[0]
    assert not measured
    assert not plans(folder)


def test_the_plan_is_in_the_module_and_in_the_key(monkeypatch, folder, capsys):
    measured = choosing(monkeypatch, {"depth": 128, "packing": "copied"})
    before = tuned(matmul, X, Y, tuning="off")[1]
    text, after = tuned(matmul, X, Y)
    assert 'array.plan = {depth = 128 : i64, packing = "copied"}' in text
    np.testing.assert_allclose(before, after, rtol=1e-4, atol=1e-4)
    assert tuned(matmul, X, Y, tuning="use")[0] == text
    assert "array.plan" not in tuned(matmul, X, Y, tuning="off")[0]
    # One product, in another program as well.
    assert "array.plan" in tuned(lambda x, y: pnp.sin(x @ y), X, Y)[0]
    assert len(measured) == 1
    assert len(plans(folder)) == 1
    assert command.main(["list"]) == 0
    assert "plan of dot_general(f32[48,640], f32[640,64]): depth 128, packing copied" in capsys.readouterr().out
    assert command.main(["explain"]) == 0
    said = capsys.readouterr().out
    assert "; 1 measured plan, " in said
    assert "or by other measured plans" in said
    assert "threads" in said
    assert command.main(["clear"]) == 0
    assert not plans(folder)


def test_another_plan_is_another_key():
    graph = graph_of(matmul, X, Y)
    keys = {cache.key_of(graph, (), summary).digest for summary in ("", "1 measured plan, aa", "1 measured plan, bb")}
    assert len(keys) == 3
    forms = [product.form for args in ((X, Y), (Y.T, Y)) for product in products_of(graph_of(matmul, *args)).values()]
    forms += [product.form for product in products_of(graph_of(lambda x, y: x @ y.T, X, Y.T.copy())).values()]
    keys = {cache.plan_key(form, threads).digest for form in forms for threads in (1, 2)}
    assert len(set(forms)) == 3
    assert len(keys) == 6


def test_a_setting_compiles_again_and_says_so():
    f = pc.jit(matmul)
    f(X, Y)
    with pc.tuning("use"):
        f(X, Y)
    assert "the setting tuning was off and is use" in f.explain_last_miss()
    with pytest.raises(ValueError, match="tuning must be 'off' or 'use' or 'measure', got 'always'"):
        pc.tuning("always").__enter__()


@pytest.mark.parametrize("change", [lambda data: data[:20], lambda data: data[:-3] + b"abc", lambda data: data + b"x"])
def test_a_damaged_plan_is_told_and_measured_again(monkeypatch, folder, change):
    measured = choosing(monkeypatch, {"depth": 256})
    tuned(matmul, X, Y)
    (file,) = plans(folder)
    whole = file.read_bytes()
    file.write_bytes(change(whole))
    cache.forget_plans()
    with pytest.warns(UserWarning, match="measured plan of dot_general.* is damaged.*dropped"):
        tuned(lambda x, y: (x @ y) * 2, X, Y)
    assert len(measured) == 2
    assert file.read_bytes()[:8] == whole[:8]
    cache.forget_plans()
    assert "array.plan" in tuned(lambda x, y: (x @ y) * 3, X, Y, tuning="use")[0]


def test_a_measurement_that_is_stopped_leaves_nothing(monkeypatch, folder):
    def stopped(trial, proposed):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure._Trial, "winner", stopped)
    with pytest.raises(KeyboardInterrupt):
        tuned(matmul, X, Y)
    assert list(folder.iterdir()) == []
    choosing(monkeypatch, {"depth": 256})
    assert "array.plan" in tuned(matmul, X, Y)[0]


def test_a_plan_that_fails_is_not_taken(monkeypatch, folder):
    build = compiling._build_with_plans

    def fails(graph, plans):
        if plans:
            raise RuntimeError("no such code")
        return build(graph, plans)

    monkeypatch.setattr(compiling, "_build_with_plans", fails)
    text, got = tuned(matmul, X, Y)
    assert "array.plan" not in text
    np.testing.assert_allclose(got, X @ Y, rtol=1e-4, atol=1e-4)
    assert len(plans(folder)) == 1


def test_nothing_is_measured_while_something_runs(monkeypatch, folder):
    monkeypatch.setattr(measure, "_MOST_WAITING", 0.05)
    measured = choosing(monkeypatch, {"depth": 256})
    free = threading.Event()

    def wait(x):
        free.wait(30)
        return x

    waiting = pc.jit(lambda x: pc.pure_callback(wait, x, x))(pnp.float32(1))
    try:
        with pc.tuning("measure"):
            traced = pc.jit(matmul).trace(X, Y)
            assert not compiling.tuning_of(traced.jaxpr.graph).plans
    finally:
        free.set()
    waiting.block_until_ready()
    assert not measured
    assert not plans(folder)


def test_a_callback_may_compile(monkeypatch):
    monkeypatch.setattr(measure, "_MOST_WAITING", 0.05)

    def inside(x):
        with pc.tuning("measure"):
            return np.asarray(pc.jit(lambda a: a @ a.T)(x))

    x = random(40, 50)
    got = pc.jit(lambda x: pc.pure_callback(inside, pc.ShapeDtypeStruct((40, 40), np.float32), x))(x)
    np.testing.assert_allclose(got, x @ x.T, rtol=1e-4, atol=1e-4)


def test_what_is_measured_is_told(capfd):
    with config.override("debug", 1), pc.transfer_guard("disallow"):
        tuned(matmul, *map(pc.device_put, (random(64, 64), random(64, 64))))
    said = capfd.readouterr().err
    assert "measured dot_general(f32[64,64], f32[64,64]) in microseconds: the usual plan " in said
    assert "pycompiler: chose " in said
