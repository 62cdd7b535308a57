"""`dump_dir`: numbered stages of every compilation, and a reproducer that array-opt runs again."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile import compile, inspection
from pycompiler.compile.plan import plan_outputs
from pycompiler.compile.targets import HOST, Target
from pycompiler.core.config.config import config

ARRAY_OPT = Path(__file__).parents[3] / "build" / "bin" / "array-opt"
X = pnp.ones((8, 16))
HOST_FILES = [
    *("00-graph.txt", "01-array.mlir", "02-linalg.mlir", "03-bufferized.mlir", "04-loops.mlir", "05-llvm.mlir"),
    *("06-llvmir.ll", "07-asm.s", "reproducer.mlir"),
]


def model(x):
    return pnp.tanh(x @ x.T).sum()


def dumped(folder, fun, *args):
    with config.override("dump_dir", str(folder)):
        result = np.asarray(pc.jit(fun)(*args))
    return result, sorted(entry.name for entry in folder.iterdir())


def test_every_compilation_has_a_folder(tmp_path):
    result, folders = dumped(tmp_path / "new", model, X)
    assert float(result) == pytest.approx(64 * np.tanh(16))
    assert folders == ["0001-model"]
    folder = tmp_path / "new" / "0001-model"
    assert sorted(path.name for path in folder.iterdir()) == HOST_FILES
    assert "dot_general" in (folder / "00-graph.txt").read_text()
    assert "array.tanh" in (folder / "01-array.mlir").read_text()
    assert "llvm.func" in (folder / "05-llvm.mlir").read_text()
    assert "pcrt_main" in (folder / "07-asm.s").read_text()
    # The next compilation, and a function whose name is not a valid file name.
    assert dumped(tmp_path / "new", lambda x: x - 3, X)[1] == ["0001-model", "0002-_lambda_"]
    (tmp_path / "new" / "10000-model").mkdir()
    assert "10001-_lambda_" in dumped(tmp_path / "new", lambda x: x - 4, X)[1]


def replayed(path):
    return subprocess.run([ARRAY_OPT, "--run-reproducer", path], capture_output=True, text=True)


def functions(text):
    """The functions that a module of the LLVM dialect defines."""
    return set(re.findall(r"^  llvm\.func [^(]*@(\w+)\(.*\{$", text, re.MULTILINE))


def test_the_reproducer_runs_the_passes_again(tmp_path):
    dumped(tmp_path, model, X)
    folder = tmp_path / "0001-model"
    text = (folder / "reproducer.mlir").read_text()
    assert "array-give-buffers" in text
    assert __file__ in text
    run = replayed(folder / "reproducer.mlir")
    assert run.returncode == 0, run.stderr
    assert functions(run.stdout) == functions((folder / "05-llvm.mlir").read_text())


def test_a_loop_and_donated_arguments_are_reproduced(tmp_path):
    def loop(x):
        return pc.lax.fori_loop(0, 5, lambda i, c: pnp.sin(c) + i, x)

    with config.override("dump_dir", str(tmp_path)):
        pc.jit(loop, donate_argnums=0)(pnp.ones(5000)).block_until_ready()
    run = replayed(tmp_path / "0001-loop" / "reproducer.mlir")
    assert run.returncode == 0, run.stderr
    assert "pcrt_main" in run.stdout


def test_for_a_gpu_the_kernels_are_written(tmp_path):
    graph = plan_outputs(pc.make_jaxpr(model)(X)).graph
    with config.override("dump_dir", str(tmp_path)):
        compile._tell("model", graph, (), {}, Target("9.0"))
    folder = tmp_path / "0001-model"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("00-graph.txt", "01-array.mlir", "02-ptx.ptx", "reproducer.mlir")
    ]
    assert ".target sm_90a" in (folder / "02-ptx.ptx").read_text()
    run = replayed(folder / "reproducer.mlir")
    assert run.returncode == 0, run.stderr
    assert "gpu.binary" in run.stdout


def test_a_compilation_that_fails_leaves_what_there_is(tmp_path):
    def text_at(stage):
        if stage == "bufferized":
            raise pc.errors.MLIRError("the pass array-in-place-carries failed")
        return f"the text of {stage}"

    with config.override("dump_dir", str(tmp_path)):
        inspection.tell("broken", pc.make_jaxpr(model)(X).graph, HOST, text_at, lambda: "what to run")
    folder = tmp_path / "0001-broken"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("00-graph.txt", "01-array.mlir", "02-linalg.mlir", "03-bufferized-failed.txt", "reproducer.mlir")
    ]
    assert "array-in-place-carries failed" in (folder / "03-bufferized-failed.txt").read_text()
    assert (folder / "reproducer.mlir").read_text() == "what to run"


def test_what_the_disk_cache_has_is_written_too(tmp_path):
    def kept(x):
        return pnp.cos(x) * 11

    pc.jit(kept)(X)
    pc.clear_caches()
    assert dumped(tmp_path, kept, X)[1] == ["0001-kept"]


def test_by_the_environment(tmp_path):
    code = "import pycompiler as pc; pc.jit(lambda x: x * 3 + 1)(2.0).block_until_ready()"
    environment = {**os.environ, "PYCOMPILER_DUMP_DIR": str(tmp_path / "dumps")}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    (folder,) = (tmp_path / "dumps").iterdir()
    assert sorted(path.name for path in folder.iterdir()) == HOST_FILES


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with config.override("dump_dir", str(tmp_path / "file")), pytest.raises(OSError, match="file"):
        pc.jit(lambda x: x * 13)(X)
