"""The cost and the results of checks of indices: known indices, single positions, calls of compiled functions."""

import re
import sys

import jax
import numpy as np
import pytest
from jax.experimental import checkify as jax_checkify

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import checkify


def named(error):
    """The index, the axis and the size of a message, or None."""
    text = error.get()
    return None if text is None else re.search(r"index (-?\d+) is out of bounds for axis (\d) with size (\d+)", text)[0]


X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("run", [lambda f: f, pc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("at", [(1, 2, 3), (2, 0, 0), (0, 3, 0), (0, 0, 9), (2, 3, 4), (-3, 0, 0), (1, -4, 4)])
def test_the_first_axis_of_a_position_outside_is_named(run, at):
    def read(x, i, j, k):
        return x[i, j, k]

    def written(x, i, j, k):
        return x.at[i, j, k].set(5.0)

    for function in (read, written):
        error, out = run(checkify.checkify(function, errors=checkify.index_checks))(pnp.asarray(X), *at)
        theirs, wanted = jax_checkify.checkify(function, errors=jax_checkify.index_checks)(jax.numpy.asarray(X), *at)
        assert named(error) == named(theirs)
        if theirs.get() is None:
            np.testing.assert_array_equal(out, wanted)


def test_mapped_positions():
    checked = checkify.checkify(pc.vmap(lambda i, j: pnp.asarray(X)[i, 1, j]), errors=checkify.index_checks)
    assert named(checked(pnp.array([0, 1]), pnp.array([3, 0]))[0]) is None
    assert named(checked(pnp.array([0, 1]), pnp.array([3, 4]))[0]) == "index 4 is out of bounds for axis 2 with size 4"
    assert named(checked(pnp.array([0, 2]), pnp.array([3, 4]))[0]) == "index 2 is out of bounds for axis 0 with size 2"


def test_wide_positions():
    with pc.enable_x64(True):
        checked = checkify.checkify(lambda x, i: x[0, i], errors=checkify.index_checks)
        error, _ = pc.jit(checked)(X, np.int64(7))
        assert named(error) == "index 7 is out of bounds for axis 1 with size 3"


def test_positions_that_are_known_need_no_check():
    checked = checkify.checkify(
        lambda x: x[1, 2] + x[-1, 0] + lax.dynamic_slice(x, (0, 1, 0), (1, 1, 4))[0, 0], errors=checkify.index_checks
    )
    error, out = checked(pnp.asarray(X))
    np.testing.assert_array_equal(out, X[1, 2] + X[-1, 0] + X[0, 1])
    assert error.get() is None
    names = {equation.primitive.name for equation in pc.make_jaxpr(checked)(X).eqns}
    assert not names & {"lt", "gt", "or", "select"}
    error, _ = checkify.checkify(lambda x: lax.dynamic_slice(x, (0, 2, 0), (1, 2, 4)), errors=checkify.index_checks)(X)
    assert named(error) == "index 2 is out of bounds for axis 1 with size 3"


def test_a_loop_searches_only_after_a_failure():
    """The search for the first position outside is in a branch; for one position, selects find it."""

    def names(closed, below_branches):
        for equation in closed.eqns:
            yield equation.primitive.name
            if below_branches or equation.primitive.name != "cond":
                for graph in equation.graphs:
                    yield from names(graph, below_branches)

    def total(x, rows):
        return lax.scan(lambda c, row: (c + x[row].sum(), None), 0.0, rows)[0]

    checked = checkify.checkify(total, errors=checkify.index_checks)
    one, several = (pc.make_jaxpr(checked)(X, np.zeros(shape, np.int32)) for shape in ((5,), (5, 2)))
    assert "argmax" not in names(one, True)
    assert "argmax" not in names(several, False)
    assert "argmax" in names(several, True)
    rows = np.array([[0, 1], [1, 5], [7, 0]], np.int32)
    assert named(pc.jit(checked)(X, rows)[0]) == "index 5 is out of bounds for axis 0 with size 2"
    assert named(pc.jit(checked)(X, rows[:, 0])[0]) == "index 7 is out of bounds for axis 0 with size 2"


def test_a_call_of_a_checked_function_runs_little_python():
    """The kinds of failures are keys of dicts: their hashes are computed once, and not for each call."""
    checked = pc.jit(checkify.checkify(lambda x, i: x[i], errors=checkify.index_checks))
    x, i = pnp.arange(3.0), pnp.asarray(1)
    checked(x, i)
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        error, _ = checked(x, i)
    finally:
        sys.setprofile(None)
    assert error.get() is None
    assert len(calls) < 10, calls
