"""Tests of the backend of torch.compile. `make test-torch` runs them; they need the extra torch-test."""

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import pycompiler.torch  # noqa: E402, F401

# The models of the benchmarks.
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    """Each test compiles anew, and no operation may be left to eager torch unnoticed."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    monkeypatch.setenv("PYCOMPILER_TORCH_STRICT", "1")
