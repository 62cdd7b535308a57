"""`tools/fuzz_programs` finds faults that the package had: their fixes are taken back in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Fixes of refusals, taken back: the operation that refuses, and the line that takes its fix back.
TAKEN_BACK = {
    "norm": "norms.inexact_arrays = lambda name, *xs, narrow=False: arguments.inexact_arrays(name, *xs)",
    "where": "ufuncs.truth = lambda name, x: x",
}
# Programs without the operation are passed over: they can't show the fault.
SEARCH = """
import random, sys
import jax
import pycompiler as pc
from fuzz_programs.generate import draw_program
from fuzz_programs.ways import check
from pycompiler.numpy import ufuncs
from pycompiler.numpy.linalg import arguments, norms

name, fault = sys.argv[1:]
exec(fault)
jax.config.update("jax_threefry_partitionable", False)  # as fuzz does
for seed in range(1000):
    program = draw_program(random.Random(seed))
    failure = check(program, "eager") if f".{name}(" in program.text() else None
    if failure and f"{name}: takes" in failure.message:
        print(failure.message)
        break
"""


@pytest.mark.full
@pytest.mark.parametrize("name", TAKEN_BACK)
def test_a_fix_that_is_taken_back_is_found(name):
    """In a process of its own, whose package is changed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools"), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", SEARCH, name]
    done = subprocess.run([*command, TAKEN_BACK[name]], env=environment, capture_output=True, text=True, timeout=300)
    assert f"{name}: takes" in done.stdout, done.stdout + done.stderr
