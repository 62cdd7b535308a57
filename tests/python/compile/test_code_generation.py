"""LLVM's code generation does without what programs do not need: Target/OmittedPasses.cpp, Target/QuickEntry.cpp."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _compiler

LARGE, SMALL = np.zeros((1024, 1024), np.float32), np.zeros(16, np.float32)


def stage(name: str, function: Callable[..., object], *args: object) -> str:
    module = pc.jit(function).lower(*args).compiler_ir()
    assert module is not None
    return _compiler.module_at(module, name, triple="x86_64-linux-gnu", cpu="x86-64-v4")


@pytest.mark.parametrize(
    ("function", "x", "is_quick"),
    [
        pytest.param(lambda x: x + 1, LARGE, True, id="calls of kernels"),
        pytest.param(lambda x: x + 1, SMALL, False, id="vectors"),
        pytest.param(lambda x: x.sum(), LARGE, False, id="a loop that joins the sums of pieces"),
        pytest.param(lambda x: x[3], SMALL, False, id="a number"),
    ],
)
def test_an_entry_that_only_passes_pointers_on_is_not_optimized(
    function: Callable[..., object], x: np.ndarray, is_quick: bool
) -> None:
    code = stage("llvmir", function, x)
    group = re.search(r"^define .*@pcrt_main\(.*\) (#\d+)", code, re.MULTILINE)
    assert group is not None
    attributes = re.search(rf"^attributes {group[1]} = (.*)$", code, re.MULTILINE)
    assert attributes is not None
    assert ("optnone" in attributes[1]) == is_quick


def test_addresses_in_loops_need_no_registers_of_their_own() -> None:
    """With a pointer for each access of each loop, LLVM would spill them."""
    code = stage("asm", lambda x, y: (x * y + 1).sum(), LARGE, LARGE)
    kernel = code[code.index("main_piece0:") : code.index("pcrt_main:")]
    assert "fmadd" in kernel
    assert "(%rsp)" not in kernel


@pytest.mark.filterwarnings("ignore")
def test_moved_bodies_have_the_values_of_separate_operations() -> None:
    """Long programs: operations with several readers, repeated operands, broadcasts and reductions among them."""

    def f(x: Any, row: Any) -> Any:
        total, other = x, x * 2
        for i in range(60):
            total = total + x * (0.5 * i)
            other = pnp.maximum(other - row, total) if i % 7 == 3 else other + total * x
            if i % 13 == 5:
                total = total - other.mean(axis=1, keepdims=True)
        return pnp.stack([total.sum(axis=0), other.sum(axis=0)])

    rng = np.random.default_rng(0)
    x, row = rng.random((5, 8)) * 1e-2, rng.random(8)
    with pc.enable_x64(True):
        got = np.asarray(pc.jit(f)(x, row))
        with pc.disable_jit():
            expected = np.asarray(f(pnp.asarray(x), pnp.asarray(row)))
    np.testing.assert_allclose(got, expected, rtol=1e-12)
