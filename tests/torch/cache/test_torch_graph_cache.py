"""Graphs of AOTAutograd on disk: a later process, or a compilation after a reset, does not trace them again. Anything
that changes the graph is another key."""

import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn
from torch._functorch._aot_autograd.aot_autograd_result import BundledAOTAutogradResult
from torch.nn import functional as F  # noqa: N812

from pycompiler.core.config.config import config
from pycompiler.torch import autograd

REFERENCE = torch.tensor([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def traces(monkeypatch, tmp_path):
    """The traces of AOTAutograd, with an empty cache."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "torch"))
    before = config.compilation_cache_dir
    config.update("compilation_cache_dir", str(tmp_path / "code"))
    made = []
    trace = autograd.aot_stage1_graph_capture

    def counted(*args):
        made.append(args)
        return trace(*args)

    monkeypatch.setattr(autograd, "aot_stage1_graph_capture", counted)
    yield made
    config.update("compilation_cache_dir", before)
    # Torch's own cache has nothing.
    assert not list((tmp_path / "torch").rglob("*autograd*"))


def compiled(function, **options):
    """As in a new process."""
    torch._dynamo.reset()
    return torch.compile(function, backend="pycompiler", dynamic=False, **options)


def model():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.GELU(), nn.Linear(7, 2))


def trained(call, made, x):
    made.zero_grad()
    loss = call(x).square().sum()
    loss.backward()
    return [loss.detach(), *[one.grad.clone() for one in made.parameters()], *[one.clone() for one in made.buffers()]]


def test_an_inference_is_traced_once(traces):
    made, x = model().eval(), torch.randn(4, 5)
    with torch.no_grad():
        first, again = compiled(made)(x), compiled(made)(x)
    assert len(traces) == 1
    torch.testing.assert_close(again, first, rtol=0, atol=0)
    torch.testing.assert_close(first, made(x))


def test_a_training_step_is_traced_once(traces):
    x = torch.randn(4, 5)
    results = []
    for call in (compiled, compiled, lambda one: one):
        made = model()
        results.append(trained(call(made), made, x))
    assert len(traces) == 1
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=0)
    torch.testing.assert_close(results[0], results[2])


def test_a_new_process_traces_nothing(tmp_path):
    program = """
import sys, torch
from torch import nn
from pycompiler.torch import autograd

made = []
trace = autograd.aot_stage1_graph_capture
autograd.aot_stage1_graph_capture = lambda *args: (made.append(args), trace(*args))[1]
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(), nn.Linear(4, 2))
x = torch.randn(6, 3)
loss = torch.compile(model, backend="pycompiler")(x).square().sum()
loss.backward()
print(len(made), loss.item(), [one.grad.sum().item() for one in model.parameters()])
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = {**os.environ, "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path / "code")}
    lines = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=300, check=True
        )
        lines.append(done.stdout.split(maxsplit=1))
    assert [count for count, _ in lines] == ["1", "0"]
    assert lines[0][1] == lines[1][1]


def scaled(x, factor):
    return x * factor + 1


def with_zeros(x):
    return x + torch.zeros(3)


def matmul(x):
    return x @ x


def leaf(x):
    return x.sin()


def signed(x, sign):
    return torch.full((3,), sign) * x


# Calls of one function with other arguments.
CHANGES = {
    "the constant": (scaled, [(REFERENCE, 2), (REFERENCE, 3)]),
    "the constant's type": (scaled, [(REFERENCE, 2), (REFERENCE, 2.0), (REFERENCE, True)]),
    "the sign of zero": (signed, [(REFERENCE, 0.0), (REFERENCE, -0.0)]),
    "the dtype": (scaled, [(REFERENCE, 2), (REFERENCE.double(), 2), (REFERENCE.long(), 2)]),
    "the sizes": (leaf, [(REFERENCE,), (REFERENCE[:2].clone(),), (torch.ones(1, 3),)]),
    "the strides": (leaf, [(torch.ones(2, 3),), (torch.ones(3, 2).t(),)]),
    "the gradient": (leaf, [(REFERENCE,), (REFERENCE.clone().requires_grad_(),)]),
    "a conjugate": (leaf, [(REFERENCE + 1j,), ((REFERENCE + 1j).conj(),)]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_another_graph_is_traced(traces, name):
    function, calls = CHANGES[name]
    for count, args in enumerate(calls, 1):
        got, expected = compiled(function)(*args), function(*args)
        assert len(traces) == count
        torch.testing.assert_close(got, expected)
        assert torch.equal(got.resolve_conj().real.signbit(), expected.resolve_conj().real.signbit())
        assert (got.stride(), got.requires_grad) == (expected.stride(), expected.requires_grad)


def test_settings_are_in_the_key(traces):
    x = torch.randn(3, 3)
    plain = compiled(matmul)(x)
    with torch.autocast("cpu", torch.bfloat16):
        half = compiled(matmul)(x)
    with torch.autocast("cpu", torch.float16):
        other = compiled(matmul)(x)
    assert (plain.dtype, half.dtype, other.dtype) == (torch.float32, torch.bfloat16, torch.float16)
    assert len(traces) == 3
    y = torch.ones(3, dtype=torch.float64)
    assert compiled(with_zeros)(y).dtype == torch.float64
    torch.set_default_dtype(torch.float64)
    try:
        compiled(with_zeros)(y.float())
        assert compiled(with_zeros)(y.float()).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_gradient_mode_is_in_the_key(traces):
    weight = torch.randn(3, requires_grad=True)
    with torch.no_grad():
        assert not compiled(leaf)(weight).requires_grad
    assert compiled(leaf)(weight).requires_grad
    assert len(traces) == 2


def listed(x, lists):
    parts = x.split([1, 2, 3], dim=1)
    return torch.cat([parts[2], parts[0][:, None, 0]], 1).permute((1, 0))[..., 1:] + lists["b"][0]


def test_lists_and_slices_are_keys(traces):
    x = torch.randn(3, 6)
    for _ in range(2):
        got = compiled(listed)(x, {"a": x, "b": [x[0, 0].clone(), 2]})
        torch.testing.assert_close(got, listed(x, {"b": [x[0, 0]]}))
    assert len(traces) == 1


def test_a_layer_of_cells_is_traced_once(traces):
    x = torch.randn(4, 2, 3)
    results = []
    with torch._dynamo.config.patch(allow_rnn=True):
        for call in (compiled, compiled, lambda one: one):
            torch.manual_seed(3)
            made = nn.LSTM(3, 5)
            run = call(made)
            results.append(trained(lambda x, run=run: run(x)[0], made, x))
    assert len(traces) == 1
    torch.testing.assert_close(results[1], results[0], rtol=0, atol=0)
    torch.testing.assert_close(results[0], results[2])


def update(x):
    x.add_(1)
    return x.view(-1)[1:], x.sum()


def test_updates_and_views_of_inputs(traces):
    for _ in range(2):
        x = torch.zeros(2, 3)
        view, total = compiled(update)(x)
        assert x.eq(1).all()
        assert total == 6
        view.fill_(5)
        assert x[0, 1] == 5
    assert len(traces) == 1


def test_random_numbers_come_from_the_generator(traces):
    drawn = []
    for _ in range(2):
        torch.manual_seed(11)
        call = compiled(lambda x: F.dropout(x, 0.5) + torch.rand(4))
        drawn += [call(torch.ones(4)), call(torch.ones(4))]
    assert len(traces) == 1
    assert torch.equal(drawn[0], drawn[2])
    assert torch.equal(drawn[1], drawn[3])
    assert not torch.equal(drawn[0], drawn[1])


def both(x, y):
    x.add_(1)
    return x + y


def test_inputs_of_one_memory_are_traced_each_time(traces):
    for _ in range(2):
        base = torch.zeros(4)
        got = compiled(both)(base[:3], base[1:])
        assert got.tolist() == [2, 2, 1]
    assert len(traces) == 2


def test_checks_that_are_effects(traces):
    """The wrappers of their tokens are no part of an entry."""
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    function = lambda x: torch.lu_unpack(*torch.linalg.lu_factor(x), unpack_data=False)  # noqa: E731
    for _ in range(2):
        torch.testing.assert_close(compiled(function)(matrix), function(matrix))
    assert len(traces) == 2


def test_an_index_out_of_bounds_is_an_error_of_its_line(traces):
    def taken(x, index):
        return x[index]

    for _ in range(2):
        call = compiled(taken)
        assert call(REFERENCE, torch.tensor([2, -3])).tolist() == [3, 1]
        with pytest.raises(IndexError):
            call(REFERENCE, torch.tensor([3, 0]))
    assert len(traces) == 1


def test_a_left_operation_warns_in_each_process(traces, monkeypatch):
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    x = torch.randn(3, 3)

    def left(x):
        return x.to(torch.float8_e4m3fn).float() + 1

    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            got = compiled(left)(x)
        texts = [str(one.message) for one in caught]
        assert any("eager torch" in text and "test_torch_graph_cache" in text for text in texts), texts
        assert len(traces) == 1
        torch.testing.assert_close(got, left(x))


def test_a_damaged_entry_is_traced_anew(traces, tmp_path):
    compiled(leaf)(REFERENCE)
    entries = list(tmp_path.rglob("*.trace"))
    assert len(entries) == 1
    entries[0].write_bytes(b"no entry")
    with pytest.warns(UserWarning, match="a trace is damaged"):
        torch.testing.assert_close(compiled(leaf)(REFERENCE), leaf(REFERENCE))
    assert len(traces) == 2
    compiled(leaf)(REFERENCE)
    assert len(traces) == 2


def test_an_entry_without_bytes_is_not_kept(traces, tmp_path, monkeypatch):
    def failing(entry):
        raise TypeError("cannot pickle")

    monkeypatch.setattr(BundledAOTAutogradResult, "__reduce__", failing)
    x = REFERENCE.clone().requires_grad_()
    compiled(leaf)(x).sum().backward()
    torch.testing.assert_close(x.grad, REFERENCE.cos())
    assert not list(tmp_path.rglob("*.trace"))


@pytest.mark.parametrize("off", ["ours", "torch's"])
def test_without_caches_nothing_is_kept(traces, tmp_path, monkeypatch, off):
    if off == "ours":
        config.update("enable_compilation_cache", False)
    else:
        monkeypatch.setattr(torch.compiler.config, "force_disable_caches", True)
    try:
        for _ in range(2):
            compiled(leaf)(REFERENCE)
    finally:
        config.update("enable_compilation_cache", True)
    assert len(traces) == 2
    assert not list(tmp_path.rglob("*.trace"))


def test_sizes_are_still_one_compilation(traces):
    torch._dynamo.reset()
    call = torch.compile(lambda x: (x * 2).sum(0), backend="pycompiler", dynamic=True)
    for size in range(2, 9):
        torch.testing.assert_close(call(torch.ones(size, 3)), torch.full((3,), 2.0 * size))
    assert len(traces) == 1


def test_texts_of_graphs_are_logged_on_demand(tmp_path):
    program = "import torch; torch.compile(torch.sin, backend='pycompiler')(torch.ones(3))"
    for logs in ({}, {"TORCH_LOGS": "aot_graphs"}):
        environment = {**os.environ, **logs, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / str(len(logs)))}
        done = subprocess.run(
            [sys.executable, "-c", "import pycompiler.torch; " + program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        assert ("aten.sin" in done.stderr) == bool(logs)
