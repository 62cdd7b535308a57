"""Compiles benchmark cases for another machine, every one or those whose names have a given part, and prints a line for
each: the functions of the C library that it calls, but for those that are called for lanes of rare values, and the
vector instructions that compute.

An undefined symbol that the runtime does not provide is an error of the compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

os.environ["PYCOMPILER_ENABLE_COMPILATION_CACHE"] = "0"
sys.path.insert(0, str(Path(__file__).parents[4] / "benchmarks"))

import numpy as np
from cases import tables
from library import Case, Library

import pycompiler as pc
import pycompiler.lax
import pycompiler.nn
import pycompiler.numpy
import pycompiler.random
import pycompiler.scipy.special
from pycompiler import _compiler

OURS = Library("pycompiler", pc.numpy, pc, pc.nn, pc.lax, pc.random, pc.scipy)

# Instructions that compute in registers of several lanes, or transpose them.
VECTORS = {
    "aarch64": re.compile(
        r"^\t(f(?:add|sub|mul|div|ml[as]|max|min|sqrt|cm\w\w)|add|and|orr|eor|cm\w\w|trn1)\tv\d+\.(4s|2d|8h|16b)",
        re.MULTILINE,
    ),
    "x86_64": re.compile(
        r"^\tv?p?((?:fn?m\w*|dpbf16|add|sub|mul|div|max|min|sqrt|cmp\w*?|unpck\w|shuf)(?:p[sd]|[bwdq]))\t.*%([xyz])mm",
        re.MULTILINE,
    ),
}
CALL = re.compile(r"^\t(?:bl|b|callq|jmp)\t([a-z]\w*)(?:@PLT)?$", re.MULTILINE)
FUNCTION = re.compile(r"^([A-Za-z_]\w*):.*\n", re.MULTILINE)


def functions(assembly: str) -> dict[str, str]:
    parts = FUNCTION.split(assembly)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def line_of(case: Case, machine: str, options: dict[str, str]) -> str:
    with pc.enable_x64(case.x64), pc.threefry_partitionable(case.partitionable):
        arguments = case.inputs(np.random.default_rng(0))
        module = pc.jit(case.build(OURS)).lower(*arguments).compiler_ir()
    _compiler.compile_to_object(module, **options)
    code = functions(_compiler.module_at(module, "asm", **options))
    vectors = {".".join(found) for body in code.values() for found in VECTORS[machine].findall(body)}
    hot = [body for name, body in code.items() if not name.startswith("lanes")]
    calls = {name for body in hot for name in CALL.findall(body)} - code.keys()
    told = f"calls {' '.join(sorted(calls))}; " if calls else ""
    return f"{case.name}: {told}{' '.join(sorted(vectors)) or 'nothing in vectors'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triple", default="")
    parser.add_argument("--cpu", default="")
    parser.add_argument("part", nargs="?", default="")
    options = parser.parse_args()
    machine = options.triple.partition("-")[0] or "x86_64"
    every = {case.name: case for case in (*tables.CASES, *tables.COMPILED)}
    for case in every.values():
        if options.part in case.name:
            print(line_of(case, machine, {"triple": options.triple, "cpu": options.cpu}), flush=True)


if __name__ == "__main__":
    main()
