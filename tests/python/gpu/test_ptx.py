"""The kernels of all primitives compile to PTX that ptxas accepts, for each GPU generation in the documentation.
The tests of the emulated device check their results."""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

ROOT = Path(__file__).resolve().parents[3]
CHIPS = ("sm_80", "sm_90a", "sm_100a")
# The number of primitives in one process of array-opt and one file of PTX.
BATCH = 30
SHORT_BATCH = 6
# They call routines of the runtime that have no kernels: array-to-gpu refuses them.
WITHOUT_KERNELS = {"eig", "schur", "sylvester"}
NAMES = sorted(set(PRIMITIVES) - WITHOUT_KERNELS)
BATCHES, SHORT_BATCHES = ([NAMES[i : i + size] for i in range(0, len(NAMES), size)] for size in (BATCH, SHORT_BATCH))
# ptxas takes twenty seconds for each of these: they are among the tests with the mark `full` alone.
SLOW = {"hyp1f1", "hyp1f1_grad_a", "hyp1f1_grad_b"}
ASSEMBLY = re.compile(r'assembly = "((?:[^"\\]|\\.)*)"')


def assembler():
    """The ptxas of the extra `gpu`, else the one on the PATH."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or [] if spec else []:
        for path in Path(folder).glob("cu*/bin/ptxas"):
            return path
    found = shutil.which("ptxas")
    assert found, "no ptxas: install the extra `gpu` (nvidia-cuda-nvcc)"
    return Path(found)


def module_of(primitive, sample):
    return pc.jit(lambda *args: primitive.bind(*args, **sample.params)).lower(*sample.args).as_text()


@functools.cache
def modules(name, every):
    """The text of a primitive's samples: all, or the first of each combination of dtypes."""
    primitive, seen = PRIMITIVES[name], set()
    texts = []
    with enable_x64(True):
        for sample in primitive.sampler(np.random.default_rng(zlib.crc32(name.encode()))):
            kind = tuple(str(arg.dtype) for arg in sample.args)
            if every or kind not in seen:
                texts.append(module_of(primitive, sample))
                seen.add(kind)
    return texts


def ptx_of(texts, chip):
    """The PTX of each module with kernels. Raises if a module does not compile."""
    run = subprocess.run(
        [ROOT / "build/bin/array-opt", "--split-input-file", f"--array-to-gpu=chip={chip}"],
        input="\n// -----\n".join(texts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[:2000]
    return [
        re.sub(r"\\([0-9A-F]{2})", lambda code: chr(int(code[1], 16)), text) for text in ASSEMBLY.findall(run.stdout)
    ]


def assemble(ptx, chip, path):
    path.write_text(ptx)
    run = subprocess.run(
        [assembler(), f"-arch={chip}", path, "-o", os.devnull], capture_output=True, text=True, check=False
    )
    return run.stderr + run.stdout if run.returncode else None


DOUBLE = re.compile(r"^\s(?!setp|cvt|set\.)[\w.]+\.f64 \t(%rd\d+),", re.MULTILINE)
NARROW_STORE = re.compile(r"^\s(st\.[\w.]*\.b(?:8|16|32) \t.*(%rd\d+);)", re.MULTILINE)


def halves_of_doubles(ptx):
    """Stores of a part of a 64-bit float's register. ptxas converts the number to an integer there (CUDA 13.0)."""
    found = []
    for function in re.split(r"^(?:\.visible )?\.(?:entry|func)", ptx, flags=re.MULTILINE):
        doubles = set(DOUBLE.findall(function))
        found += [line for line, register in NARROW_STORE.findall(function) if register in doubles]
    return found


def check(texts, chip, folder):
    kernels = ptx_of(texts, chip)
    assert not [line for ptx in kernels for line in halves_of_doubles(ptx)]
    with ThreadPoolExecutor(2) as threads:
        answers = threads.map(lambda item: assemble(item[1], chip, folder / f"{item[0]}.ptx"), enumerate(kernels))
    refused = [answer for answer in answers if answer]
    assert not refused, f"{len(refused)} of {len(kernels)} refused, the first: {refused[0][:2000]}"
    return len(kernels)


@pytest.mark.parametrize("names", SHORT_BATCHES, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_one_sample_of_every_primitive_is_assembled(names, tmp_path):
    texts = [modules(name, False)[0] for name in names if name not in SLOW]
    assert check(texts, "sm_90a", tmp_path) > 0


@pytest.mark.full
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_every_dtype_of_every_primitive_is_assembled(names, chip, tmp_path):
    texts = [text for name in names for text in modules(name, True)]
    assert check(texts, chip, tmp_path) > 0


@pytest.mark.parametrize("name", sorted(WITHOUT_KERNELS))
def test_what_has_no_kernel_is_refused_by_name(name):
    with pytest.raises(AssertionError, match=f"'{name}' has no kernel for a GPU yet"):
        ptx_of(modules(name, False)[:1], "sm_80")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)], ids=str)
def test_routines_of_empty_matrices_are_assembled(shape, tmp_path):
    """Vectors of no elements have kernels."""
    x = np.zeros(shape, np.float32)
    texts = [pc.jit(lambda a: pc.lax.linalg.svd(a, full_matrices=True)).lower(x).as_text()]
    assert check(texts, "sm_80", tmp_path) == 1


def test_ptxas_refuses_what_is_wrong(tmp_path):
    good = ptx_of(modules("add", False)[:1], "sm_80")[0]
    assert assemble(good, "sm_80", tmp_path / "good.ptx") is None
    answer = assemble(good.replace("ld.global", "ld.nowhere"), "sm_80", tmp_path / "bad.ptx")
    assert answer
    assert "bad.ptx" in answer


def assembled(function, shapes, dtype, chip, folder):
    """The report of ptxas -v about a function's kernels."""
    text = pc.jit(function).lower(*(np.zeros(shape, dtype) for shape in shapes)).as_text()
    (kernels,) = ptx_of([text], chip)
    (folder / "kernels.ptx").write_text(kernels)
    run = subprocess.run(
        [assembler(), "-v", f"-arch={chip}", folder / "kernels.ptx", "-o", os.devnull],
        capture_output=True,
        text=True,
        check=False,
    )
    said = run.stderr + run.stdout
    assert run.returncode == 0, said
    return kernels, said


def assert_in_registers(said, most):
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    assert spills
    assert set(spills) == {("0", "0")}, said
    used = [int(count) for count in re.findall(r"Used (\d+) registers", said)]
    assert used
    assert max(used) <= most, said


LAYOUTS = {
    "mk,kn->mn": lambda a, b: a @ b,
    "mk,nk->mn": lambda a, b: a @ b.T,
    "km,kn->mn": lambda a, b: a.T @ b,
    "km,nk->mn": lambda a, b: a.T @ b.T,
}


@pytest.mark.parametrize("spec", LAYOUTS)
def test_products_of_warpgroups_overlap(spec, tmp_path):
    shapes = [(2048, 2048)] * 2
    kernels, said = assembled(LAYOUTS[spec], shapes, ml_dtypes.bfloat16, "sm_90a", tmp_path)
    assert "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16" in kernels
    # Otherwise each instruction waits for the one before, and ptxas warns about it.
    assert "serialized" not in said, said
    assert "warning" not in said, said
    assert_in_registers(said, 255)


def test_two_blocks_of_the_largest_tile_of_threads_fit(tmp_path):
    kernels, said = assembled(lambda a, b: a @ b, [(2048, 2048)] * 2, np.float32, "sm_80", tmp_path)
    assert ".minnctapersm 2" in kernels
    assert_in_registers(said, 128)


def test_products_in_tf32_are_rounded_to_the_nearest(tmp_path):
    with pc.default_matmul_precision("tensorfloat32"):
        kernels, said = assembled(lambda a, b: a @ b, [(2048, 2048)] * 2, np.float32, "sm_80", tmp_path)
    assert "cvt.rna.tf32.f32" in kernels
    assert "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" in kernels
    assert_in_registers(said, 255)
