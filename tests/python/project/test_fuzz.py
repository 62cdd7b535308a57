"""`tools/fuzz.py` finds signals in array-opt, keeps the input, and tells this project's code from MLIR's."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tools"))

import fuzz  # noqa: E402 (a tool, which is no package)
import fuzz_operations  # noqa: E402
import fuzz_sizes  # noqa: E402

from pycompiler import export  # noqa: E402
from pycompiler.export import container  # noqa: E402

OPT = [mode for mode in fuzz.MODES if mode.tool == "array-opt"]


def make_tool(folder: Path, script: str) -> Path:
    tool = folder / "tool"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return tool


def test_what_crashes_is_kept_with_its_command(tmp_path: Path) -> None:
    script = 'if grep -q func.func "$1"; then kill -SEGV $$; fi; echo module'
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, script), tmp_path / "kept")
    found = fuzz.fuzz(fuzzer, 0, seed=1, modes=OPT, batches=1)
    assert [ended.why for ended in found.values()] == ["SIGSEGV"]
    assert all(ended.is_ours for ended in found.values())
    kept = [path for path in (tmp_path / "kept").iterdir() if path.suffix == ".mlir"]
    assert kept
    assert all("func.func" in path.read_text() for path in kept)


def test_refusing_is_no_crash(tmp_path: Path) -> None:
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, "echo error >&2; exit 1"), tmp_path / "kept")
    assert fuzz.fuzz(fuzzer, 0, seed=1, modes=OPT, batches=1) == {}


def test_what_hangs_is_found(tmp_path: Path) -> None:
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, "exec sleep 60"), tmp_path / "kept")
    assert fuzzer.run(b"", [], 0.2).why == "takes more than 0 s"


OTHERS = [mode for mode in fuzz.MODES if mode.tool not in ("array-opt", "exports")]


@pytest.mark.parametrize("mode", [mode for mode in OTHERS if not mode.is_drawn])
def test_other_tools_are_run_beside_it(tmp_path: Path, mode: fuzz.Mode) -> None:
    make_tool(tmp_path, "exit 1")
    (tmp_path / mode.tool).write_text('#!/bin/sh\nif grep -q "add" "$1"; then kill -BUS $$; fi; exit 1\n')
    (tmp_path / mode.tool).chmod(0o755)
    fuzzer = fuzz.Fuzzer(tmp_path / "tool", tmp_path / "kept")
    found = fuzz.fuzz(fuzzer, 0, seed=1, modes=[mode], batches=2)
    assert [ended.why for ended in found.values()] == ["SIGBUS"]
    (told,) = (tmp_path / "kept").glob("*.txt")
    assert told.read_text().startswith(f"{tmp_path / mode.tool} {tmp_path / 'kept'}")


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("exit 0", "accepts sizes that don't fit"),
        ("exit 1", "refuses sizes that fit"),
        ('echo "does not follow from" >&2; exit 1', None),
        ("kill -SEGV $$", "SIGSEGV"),
    ],
)
def test_sizes_are_refused_exactly_where_they_do_not_fit(tmp_path: Path, script: str, why: str | None) -> None:
    make_tool(tmp_path, script).rename(tmp_path / "array-run")
    fuzzer = fuzz.Fuzzer(tmp_path / "array-opt", tmp_path / "kept")
    found = fuzz.fuzz(fuzzer, 0, seed=1, modes=[mode for mode in OTHERS if mode.is_drawn], batches=1)
    # For programs of one operation, the report names it.
    assert {ended.why.partition(":")[0] for ended in found.values()} == ({why} if why else set())


def test_drawn_sizes_fit_or_not() -> None:
    drawn = [fuzz.SizesProgram.draw(random.Random(seed)) for seed in range(200)]
    assert {program.fits for program in drawn} == {True, False, None}
    assert [fuzz.SizesProgram.draw(random.Random(seed)).text for seed in range(200)] == [p.text for p in drawn]
    by_hand = fuzz.SizesProgram(random.Random(0), arrays=[fuzz_sizes.Array("%a", (2, 3))], indices=[("%n", 3)])
    by_hand.product()
    assert (by_hand.fits, by_hand.arrays[-1].shape) == (False, (2, 3))
    assert by_hand.lines == [
        "%v1 = array.dot_general %a, %a contracting = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>"
    ]


@pytest.mark.parametrize("name", sorted(fuzz_operations.RULES))
def test_each_operation_is_drawn_with_sizes_that_fit_and_that_do_not(name: str) -> None:
    drawn = [fuzz_operations.OperationProgram.draw(random.Random(seed), name) for seed in range(60)]
    assert {True, False} & {program.fits for program in drawn}
    for program in drawn[:10]:
        assert program.text.count("?") > 0 or not program.sizes
        assert f"array.{name.partition('/')[0]}" in program.text
        again = fuzz_operations.OperationProgram.draw(random.Random(drawn.index(program)), name)
        assert (again.text, again.options) == (program.text, program.options)


def test_every_operation_on_sizes_is_drawn() -> None:
    """Operations with their own rule about sizes; the others are similar to one of these."""
    drawn = {name.partition("/")[0] for name in fuzz_operations.RULES}
    text = (ROOT / "dialect" / "include" / "array" / "IR" / "LinearAlgebra.td").read_text()
    matrices = set(re.findall(r'Array_MatrixOp<"(\w+)"', text))
    assert len(matrices) > 15
    assert matrices <= drawn


def test_runs_have_inputs_and_sizes() -> None:
    program = (
        "func.func @main(%x: tensor<?x2xf32>, %y: tensor<3xi32>) -> tensor<3xi32> {\n  return %y : tensor<3xi32>\n}\n"
    )
    given = fuzz.run_arguments(program, random.Random(1))
    assert sum(word.startswith("--input=") for word in given) == 2
    assert sum(word.startswith("--sizes=") for word in given) == 1


def test_attributes_of_another_kind() -> None:
    line = '%y = array.gather %x at(%i) {mode = "clip", slice_sizes = array<i64: 1, 8>} '
    line += ": (tensor<3x8xf32>) -> tensor<8xf32>"
    changed = {fuzz.Mutator([line], random.Random(seed)).change_attribute(line) for seed in range(200)}
    assert line.replace("array<i64: 1, 8>", "@main") in changed
    assert line.replace('"clip"', "true") in changed


def test_exported_files_are_changed_behind_a_right_checksum() -> None:
    blob = fuzz.exported_function()
    for seed in range(20):
        changed = fuzz.ExportMutator(blob, random.Random(seed)).file()
        assert changed != blob
        assert changed == fuzz.ExportMutator(blob, random.Random(seed)).file()
        try:
            container.opened(changed)
        except export.DeserializationError as error:
            assert "checksum" not in str(error)  # noqa: PT017


def test_a_seed_gives_the_same_programs() -> None:
    programs = fuzz.read_corpus(ROOT / "tests" / "lit" / "IR")
    once, again = (fuzz.Mutator(programs, random.Random(7)) for _ in range(2))
    assert [once.text() for _ in range(50)] == [again.text() for _ in range(50)]


@pytest.mark.parametrize(
    ("frames", "is_ours"),
    [
        ([], True),
        (["mlir::array::AddOp::verify", "mlir::verify"], True),
        (["mlir::Value::getType", "mlir::array::lower"], True),
        (["mlir::bufferization::analyze", "mlir::bufferization::run"], True),
        (
            ["mlir::FloatType::getWidth", "mlir::detail::Parser::parseDenseArrayAttr", "mlir::array::GatherOp::parse"],
            False,
        ),
        (["mlir::FloatType::getWidth", "mlir::BytecodeReader::Impl::read"], False),
        (["mlir::MLIRContext::~MLIRContext", "mlir::splitAndProcessBuffer"], False),
    ],
)
def test_whose_code_it_was_in(frames: list[str], is_ours: bool) -> None:
    assert fuzz.Ended("SIGSEGV", frames).is_ours == is_ours


def test_a_crash_after_refused_bytecode_is_not_ours() -> None:
    told = "x.mlirbc:0:0: error: attempting to parse\nx.mlirbc:0:0: note: in bytecode version 6 produced by: MLIR"
    assert not fuzz.Ended("SIGSEGV", told=told).is_ours
    assert fuzz.Ended("SIGSEGV", ["mlir::array::AddOp::verify"], told=told).is_ours


def test_frames_of_a_trace() -> None:
    trace = """
 #0 0x00007f llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM.so+0x1)
 #1 0x00007f (/usr/lib/libLLVM.so+0x2)
 #2 0x00007f mlir::array::lower(mlir::Operation*) (/usr/bin/array-opt+0x3)
 #3 0x00007f mlir::detail::OpToOpPassAdaptor::run(mlir::Pass*) (/usr/lib/libMLIR.so+0x4)
 #4 0x00007f main (/usr/bin/array-opt+0x5)
"""
    assert fuzz.read_frames(trace) == ["mlir::array::lower"]
