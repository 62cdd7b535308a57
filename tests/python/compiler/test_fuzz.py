"""`tools/fuzz.py` finds what ends array-opt by a signal, keeps it, and tells this project's code from MLIR's."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tools"))

import fuzz  # noqa: E402 (a tool, which is no package)


def make_tool(folder: Path, script: str) -> Path:
    tool = folder / "tool"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return tool


def test_what_crashes_is_kept_with_its_command(tmp_path: Path) -> None:
    script = 'if grep -q func.func "$1"; then kill -SEGV $$; fi; echo module'
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, script), tmp_path / "kept")
    found = fuzz.fuzz(fuzzer, 0.2, seed=1)  # one batch at least
    assert [ended.why for ended in found.values()] == ["SIGSEGV"]
    assert all(ended.is_ours for ended in found.values())
    kept = [path for path in (tmp_path / "kept").iterdir() if path.suffix == ".mlir"]
    assert kept
    assert all("func.func" in path.read_text() for path in kept)


def test_refusing_is_no_crash(tmp_path: Path) -> None:
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, "echo error >&2; exit 1"), tmp_path / "kept")
    assert fuzz.fuzz(fuzzer, 0.2, seed=1) == {}


def test_what_hangs_is_found(tmp_path: Path) -> None:
    fuzzer = fuzz.Fuzzer(make_tool(tmp_path, "exec sleep 60"), tmp_path / "kept")
    assert fuzzer.run(b"", [], 0.2).why == "takes more than 0 s"


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


def test_frames_of_a_trace() -> None:
    trace = """
 #0 0x00007f llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) (/usr/lib/libLLVM.so+0x1)
 #1 0x00007f (/usr/lib/libLLVM.so+0x2)
 #2 0x00007f mlir::array::lower(mlir::Operation*) (/usr/bin/array-opt+0x3)
 #3 0x00007f mlir::detail::OpToOpPassAdaptor::run(mlir::Pass*) (/usr/lib/libMLIR.so+0x4)
 #4 0x00007f main (/usr/bin/array-opt+0x5)
"""
    assert fuzz.read_frames(trace) == ["mlir::array::lower"]
