"""Core is tested apart from the compiler: operations are evaluated by their NumPy references."""

import numpy as np
import pytest

from pycompiler.core import primitive as primitives


def evaluate_by_reference(primitive, args, params):
    return primitive.reference(*map(np.asarray, args), **params)


@pytest.fixture(autouse=True)
def _by_reference(monkeypatch):
    monkeypatch.setattr(primitives, "eager_slot", evaluate_by_reference)
