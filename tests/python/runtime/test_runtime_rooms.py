"""The one-way rule between the C++ rooms, by their includes.

runtime/ knows no MLIR, and outside of python/ no Python; dialect/ sees of runtime/ only what compiled code is party to.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[3]
FOREIGN = re.compile(r"(mlir/|llvm/|array/|Python\.h|nanobind/|numpy/)")
CONTRACT = {"runtime/Abi.h", "runtime/SizeChecks.h", "runtime/Symbols.def"}


def includes(*folders):
    """(path, what it includes) for every C++ file in the folders."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".h", ".cpp", ".def", ".c", ".td"}:
                for name in re.findall(r'^#include ["<](.+)[">]', path.read_text(), re.MULTILINE):
                    yield path.relative_to(ROOT), name


def test_the_runtime_includes_itself_and_the_system():
    wrong = [pair for pair in includes("runtime/include", "runtime/lib") if FOREIGN.match(pair[1])]
    assert not wrong


def test_the_runtimes_binding_knows_no_compiler():
    assert not [pair for pair in includes("runtime/python") if re.match(r"(mlir|llvm|array)/", pair[1])]


@pytest.mark.parametrize("folder", ["dialect", "tools/array-opt"])
def test_the_compiler_sees_the_abi_alone(folder):
    wrong = [(path, name) for path, name in includes(folder) if name.startswith("runtime/") and name not in CONTRACT]
    assert not wrong
