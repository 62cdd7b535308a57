"""`as_text` at all stages, with source places, with PTX without a GPU; the output of the setting `debug`."""

import os
import re
import subprocess
import sys

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile.inspection import STAGES
from pycompiler.core.config.config import config


def loss(w, x):
    return pnp.tanh(x @ w).sum()  # the line


FOLDER, NAME = os.path.split(__file__)
# In the form of debug information.
SPLIT = (f'"{FOLDER}" "{NAME}"', f'filename: "{NAME}", directory: "{FOLDER}"')
PLACE = f"{__file__}:{loss.__code__.co_firstlineno + 1}"
ARGS = (pc.ShapeDtypeStruct((16, 32), "float32"), pc.ShapeDtypeStruct((8, 16), "float32"))


@pytest.fixture(scope="module")
def lowered():
    return pc.jit(loss).lower(*ARGS)


# The text of each stage, and its form of the line.
SHOWN = {
    "graph": ("dot_general", f"# {PLACE} (loss)"),
    "array": ("array.tanh", "loc("),
    "linalg": ("linalg.", "loc("),
    "bufferized": ("memref<", "loc("),
    "loops": ("scf.for", "loc("),
    "llvm": ("llvm.func", "loc("),
    "llvmir": ("define ", "!DILocation(line: "),
    "asm": ("pcrt_main", ".loc\t"),
    "ptx": (".target sm_80", ".loc\t"),
}


def test_the_table_is_of_every_stage():
    assert list(SHOWN) == list(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage(lowered, stage):
    text, place = SHOWN[stage]
    plain = lowered.as_text(stage)
    assert text in plain
    assert __file__ not in plain
    assert not re.search(r"\bloc\(|\.loc\t|!DILocation", plain)
    placed = lowered.as_text(stage, debug_info=True)
    assert text in placed
    assert place in placed
    assert __file__ in placed or any(split in placed for split in SPLIT)


def test_the_line_is_the_users(lowered):
    line = loss.__code__.co_firstlineno + 1
    assert f'"{__file__}":{line}:' in lowered.as_text("llvm", debug_info=True)
    for stage in ("asm", "ptx"):
        assert re.search(rf"\.loc\t\d+ {line} \d+", lowered.as_text(stage, debug_info=True)), stage


def test_of_the_compiled_function(lowered):
    compiled = lowered.compile()
    assert "pcrt_main" in compiled.as_text()
    for stage in ("graph", "array", "ptx"):
        assert compiled.as_text(stage) == lowered.as_text(stage)


@pytest.mark.parametrize(("capability", "chip"), [("7.5", "sm_75"), ("9.0", "sm_90a"), ("10.0", "sm_100a")])
def test_ptx_for_a_capability(lowered, capability, chip):
    text = lowered.as_text("ptx", capability=capability)
    assert f".target {chip}" in text
    assert ".entry" in text
    assert "\0" not in text


def test_ptx_of_what_has_no_kernels():
    assert pc.jit(lambda x: x).lower(1.0).as_text("ptx") == ""


def test_what_is_refused(lowered):
    with pytest.raises(ValueError, match=r"there is no stage 'wasm'; the stages are graph, array, linalg, .*, ptx"):
        lowered.as_text("wasm")
    with pytest.raises(ValueError, match=r"a capability is for the stage 'ptx', got '9\.0' for 'asm'"):
        lowered.as_text("asm", capability="9.0")
    with pytest.raises(pc.errors.MLIRError, match="compute capability"):
        lowered.as_text("ptx", capability="sm_90")
    with pytest.raises(pc.errors.MLIRError, match=r"compute capability 6\.0, only from 7\.5 on"):
        lowered.as_text("ptx", capability="6.0")
    with pytest.raises(TypeError, match=r"a capability is text such as '9.0', got 9.0 of type float"):
        lowered.as_text("ptx", capability=9.0)


def printed(capsys, level, fun):
    with config.override("debug", level):
        pc.jit(fun)(pnp.ones(5))
    return re.findall(r"^pycompiler: (\w+) of <lambda>:$", capsys.readouterr().err, re.MULTILINE)


def test_the_levels_of_debug(capsys):
    pnp.ones(5).block_until_ready()
    # A new function for each level, so that no cache has it.
    assert printed(capsys, 0, lambda x: pnp.sin(x) * 1) == []
    assert printed(capsys, 1, lambda x: pnp.sin(x) * 2) == []
    assert printed(capsys, 2, lambda x: pnp.sin(x) * 3) == ["graph"]
    assert printed(capsys, 3, lambda x: pnp.sin(x) * 4) == ["graph", "array"]
    assert printed(capsys, 4, lambda x: pnp.sin(x) * 5) == [stage for stage in STAGES if stage != "ptx"]


def test_level_1_prints_times_of_stages_and_passes(capsys):
    with config.override("debug", 1):
        pc.jit(lambda x: pnp.cos(x) * 17)(pnp.ones(5))
    text = capsys.readouterr().err
    assert re.search(r"pycompiler: passes in ms: .*array-fuse-elementwise \d+\.\d\d", text)
    assert re.search(r"pycompiler: compiled <lambda> in \d+\.\d\d ms \(.*linalg \d+\.\d\d", text)


def test_the_levels_by_the_environment():
    code = "import pycompiler as pc; pc.jit(lambda x: x * 3 + 1)(2.0).block_until_ready()"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYCOMPILER_DEBUG": "2"},
    )
    assert "pycompiler: graph of <lambda>:\n{ lambda ; a:f32[]. let" in run.stderr
