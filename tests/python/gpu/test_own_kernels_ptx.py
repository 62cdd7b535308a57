"""The PTX of own kernels, assembled by ptxas: the examples of benchmarks/kernels.py."""

import importlib.util
import re
import subprocess

import ml_dtypes
import numpy as np
import pytest
from test_ptx import ROOT, assembler, check, ptx_of

import pycompiler as pc

spec = importlib.util.spec_from_file_location("own_kernels", ROOT / "benchmarks/kernels.py")
examples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(examples)

EXAMPLES = {
    "softmax": lambda: examples.softmax(256, 2048, 4),
    "matmul": lambda: examples.matmul(256, 64, 64),
    "attention": lambda: examples.attention(length=256, block=64, step=64),
    "causal": lambda: examples.attention(length=256, block=64, step=64, causal=True),
    "stencil": lambda: examples.stencil(256, 32),
}


def module(name, dtype=np.float32):
    own, _, shapes = EXAMPLES[name]()
    return pc.jit(own).lower(*(np.zeros(shape, dtype) for shape in shapes)).as_text()


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a", "sm_100a"])
def test_examples_are_assembled(chip, tmp_path):
    if (
        chip == "sm_75"
        and "sm_75" not in subprocess.run([assembler(), "--help"], capture_output=True, text=True).stdout
    ):
        pytest.skip("this ptxas has no sm_75")
    texts = [module(name) for name in EXAMPLES] + [module(name, ml_dtypes.bfloat16) for name in ("matmul", "attention")]
    assert check(texts, chip, tmp_path) == len(texts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_temporaries_are_in_shared_memory_and_registers(name, tmp_path):
    (ptx,) = ptx_of([module(name)], "sm_90a")
    (path := tmp_path / "kernel.ptx").write_text(ptx)
    told = subprocess.run([assembler(), "-arch=sm_90a", "-v", path, "-o", "/dev/null"], capture_output=True, text=True)
    assert set(re.findall(r"(\d+) bytes spill", told.stdout + told.stderr)) <= {"0"}
    if name in ("softmax", "attention", "causal"):
        assert "ld.shared" in ptx


def test_products_of_narrow_floats_use_the_tensor_cores():
    text = module("matmul", ml_dtypes.bfloat16)
    assert "mma.sync" in ptx_of([text], "sm_80")[0]
    assert "mma.sync" not in ptx_of([text], "sm_75")[0]
