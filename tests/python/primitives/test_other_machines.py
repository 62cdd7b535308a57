"""All primitives of the table, compiled for other machines, against their references.

Lesser machines of this kind run here, AArch64 in qemu: `make test-aarch64` builds the program that runs them there
(tests/cpp/machines/RunProgram.cpp).
"""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_table import NAMES, assert_near, expected, samples

import pycompiler as pc
from pycompiler import _compiler
from pycompiler.core.config.config import enable_x64
from pycompiler.primitives import PRIMITIVES

ROOT = Path(__file__).resolve().parents[3]
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
# For each machine: its CPU and triple, the folder of its build, and the program before ours.
MACHINES: dict[str, tuple[str, str, str, list[str]]] = {
    "x86-64": ("x86-64", "", "build", []),
    "x86-64-v3": ("x86-64-v3", "", "build", []),
    "aarch64": ("", "aarch64-linux-gnu", "build-aarch64", EMULATOR),
}
# The root of a sum of squares, of complex numbers, is rounded once more without fused multiply-adds.
ROUNDED = {("x86-64", "abs"): "abs of complex numbers"}
# Its factors are not unique: the system's LAPACK gives others than SciPy's.
COMPARED = [name for name in NAMES if name != "schur"]


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    _, _, build, emulator = MACHINES[request.param]
    if not emulator and platform.machine() != "x86_64":
        pytest.skip("about machines of x86-64")
    if request.param == "x86-64-v3" and "avx2" not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this machine does not run x86-64-v3")
    if not (ROOT / build / "tests/RunProgram").exists():
        pytest.skip("make test-aarch64 builds what runs the programs")
    return request.param


def sized(data: bytes) -> bytes:
    return np.int64(len(data)).tobytes() + data


def results_on(
    machine: str, module: Any, inputs: list[np.ndarray], results: list[Any], folder: Path
) -> list[np.ndarray] | str:
    """The results of a module compiled for a machine, or the message of its failure."""
    cpu, triple, build, emulator = MACHINES[machine]
    compiled = _compiler.compile_to_object(module, cpu=cpu, triple=triple)
    numbers = [np.int64(n).tobytes() for n in (compiled.arena_bytes, len(inputs), len(results))]
    arguments = [sized(np.ascontiguousarray(x).tobytes()) for x in inputs]
    sizes = [np.int64(int(np.prod(x.shape)) * np.dtype(x.dtype).itemsize).tobytes() for x in results]
    parts = [sized(compiled.object), sized(compiled.entry.encode()), *numbers[:2], *arguments, numbers[2], *sizes]
    given, made = folder / "input", folder / "output"
    given.write_bytes(b"".join(parts))
    subprocess.run([*emulator, ROOT / build / "tests/RunProgram", given, made], check=True, timeout=600)
    written = made.read_bytes()
    pieces, at = [], 8
    while at < len(written):
        size = int(np.frombuffer(written, np.int64, 1, at)[0])
        pieces.append(written[at + 8 : at + 8 + size])
        at += 8 + size
    if np.frombuffer(written, np.int64, 1)[0]:
        return pieces[0].decode()
    return [np.frombuffer(piece, aval.dtype).reshape(aval.shape) for piece, aval in zip(pieces, results, strict=True)]


@pytest.mark.full
@pytest.mark.parametrize("name", COMPARED)
def test_values_are_the_references(machine: str, name: str, tmp_path: Path) -> None:
    primitive = PRIMITIVES[name]
    every = samples(name)

    def all_at_once(arguments: Any) -> Any:
        called = zip(arguments, every, strict=True)
        return [outputs_of(primitive, primitive.bind(*args, **sample.params)) for args, sample in called]

    with enable_x64(True):
        arguments = [sample.args for sample in every]
        module = pc.jit(all_at_once).lower(arguments).compiler_ir()
        avals = pc.tree.leaves(pc.eval_shape(all_at_once, arguments))
        found = results_on(machine, module, [np.asarray(x) for x in pc.tree.leaves(arguments)], avals, tmp_path)
        if isinstance(found, str):
            assert "decompositions need LAPACK" in found
            assert machine == "aarch64"
            pytest.skip("there is no LAPACK in the emulator's system")
        at, kind = iter(found), ROUNDED.get((machine, name), name)
        for sample in every:
            for reference in expected(primitive, sample):
                assert_near(kind, next(at), reference, elsewhere=True)


def outputs_of(primitive: Any, out: Any) -> list[Any]:
    return list(out) if primitive.multiple_results else [out]
