"""Torch's operator database through the backend: a part of each test's samples, all of them under `-m full`.

known/op_db.txt lists the operations with samples that are not right: name, dtype (* for all), why. Those of
known/not_taken.txt have samples with operations that are left to eager torch. A test fails for a sample that is not
listed, and, with all samples, for a listed operation and dtype without such a sample.
"""

import zlib
from pathlib import Path

import pytest
import torch
from op_samples import op_db, run, samples
from torch.testing._internal.common_methods_invocations import OpInfo

KNOWN = Path(__file__).parent / "known"
DTYPES = ("float32", "float64", "bfloat16", "int64", "int32", "bool", "complex64", "float16", "complex128")
# The quick run has one operation of this many for each dtype but float32, and one of the second number for float32.
ONE_OF, ONE_OF_FLOAT32 = 24, 4


def _read(name: str) -> set[tuple[str, str]]:
    lines = (KNOWN / name).read_text().splitlines()
    return {tuple(line.split()[:2]) for line in lines if line and not line.startswith("#")}


WRONG, NOT_TAKEN = _read("op_db.txt"), _read("not_taken.txt")


def _name(op: OpInfo) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def _cases(quick: bool):
    for op in op_db:
        for dtype in DTYPES:
            if getattr(torch, dtype) in op.supported_dtypes("cpu"):
                share = ONE_OF_FLOAT32 if dtype == "float32" else ONE_OF
                if not quick or zlib.crc32(f"{_name(op)} {dtype}".encode()) % share == 0:
                    yield pytest.param(op, dtype, id=f"{_name(op)}-{dtype}")


def _check(op: OpInfo, dtype: str, limit: int | None, monkeypatch) -> None:
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT", raising=False)
    key, every = (_name(op), dtype), (_name(op), "*")
    outcomes = [(sample.number, *run(sample)) for sample in samples(op, getattr(torch, dtype), limit)]
    bad = [one for one in outcomes if one[1] in ("wrong", "failed")]
    left = [one for one in outcomes if one[1] == "not taken"]
    assert not bad or {key, every} & WRONG, bad[:3]
    assert not left or {key, every} & NOT_TAKEN, left[:3]
    if limit is None:
        assert bad or key not in WRONG, f"{key} is right: take it from known/op_db.txt"
        assert left or key not in NOT_TAKEN, f"{key} is taken: take it from known/not_taken.txt"


@pytest.mark.parametrize(("op", "dtype"), list(_cases(quick=True)))
def test_some_samples(op, dtype, monkeypatch):
    _check(op, dtype, 1, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize(("op", "dtype"), list(_cases(quick=False)))
def test_all_samples(op, dtype, monkeypatch):
    _check(op, dtype, None, monkeypatch)
