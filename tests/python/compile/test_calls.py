"""Calls of compiled functions. They are inlined, so recursion and deep nesting are errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
from pycompiler.core.errors import MLIRError
from pycompiler.core.tracing.nested import graphs_in


def doubling(depth: int) -> Callable[[Any], Any]:
    """A tower of functions; each calls the one below twice."""
    function: Callable[[Any], Any] = pc.jit(lambda x: x * 1.5)
    for _ in range(depth):
        below = function
        function = pc.jit(lambda x, below=below: below(x) + below(x))
    return function


def test_a_few_are_inlined() -> None:
    np.testing.assert_array_equal(np.asarray(doubling(6)(np.ones(4, np.float32))), np.full(4, 1.5 * 64, np.float32))


def test_very_many_are_refused() -> None:
    lowered = pc.jit(doubling(40)).lower(np.ones(4, np.float32))
    with pytest.raises(
        MLIRError, match=r"@main becomes \d+ operations, since each call is inlined, and at most 1048576"
    ):
        lowered.compile()


def test_each_graph_is_looked_at_once() -> None:
    closed = pc.make_jaxpr(doubling(60))(np.ones(4, np.float32))
    assert len(list(graphs_in(closed.graph))) == 62
