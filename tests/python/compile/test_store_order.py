"""Neighbouring stores of a loop are in the order of their addresses: processors merge them only then."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import pycompiler as pc
from pycompiler import _compiler

STORE = re.compile(r"^\tv?mov\w+\t%[xyz]mm\d+, (-?\d*)(\((?!%rsp).*\))$", re.MULTILINE)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int8, np.float16, np.complex64])
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_stores_of_one_step_ascend(dtype: type, cpu: str) -> None:
    x = np.zeros((5, 1001), dtype)
    with pc.enable_x64(True):
        module = pc.jit(lambda x: x.at[1:-1, 1:-1].set(x[1:-1, :-2] + x[:-2, 1:-1])).lower(x).compiler_ir()
    code = _compiler.module_at(module, "asm", triple="x86_64-linux-gnu", cpu=cpu)
    stores = [(int(offset or 0), base) for offset, base in STORE.findall(code)]
    neighbours = [(a, b) for (a, base), (b, other) in itertools.pairwise(stores) if base == other]
    assert neighbours
    assert all(a < b for a, b in neighbours if abs(a - b) <= 64)
