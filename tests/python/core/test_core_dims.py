"""Symbolic dimensions: arithmetic is checked against numbers, what depends on a size is an error that names it."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycompiler.core import dims
from pycompiler.core.aval import shaped, short
from pycompiler.core.dims import Dim
from pycompiler.core.dtype import float32
from pycompiler.core.errors import InconclusiveDimensionError

n, m = Dim("n"), Dim("m")


@given(st.lists(st.tuples(st.sampled_from("+-*"), st.sampled_from([n, m, 1, 2, 3])), max_size=6))
def test_arithmetic_agrees_with_that_of_numbers(steps):
    result = n
    for operation, operand in steps:
        result = {"+": result + operand, "-": result - operand, "*": result * operand}[operation]
    for a, b in itertools.product((1, 2, 5), repeat=2):
        value = a
        for operation, operand in steps:
            number = {n: a, m: b}.get(operand, operand)
            value = {"+": value + number, "-": value - number, "*": value * number}[operation]
        sizes = {"n": a, "m": b}
        assert (result.evaluate(sizes) if isinstance(result, Dim) else result) == value


def test_equal_polynomials_are_equal_and_constants_are_ints():
    assert (n + 1) * (n - 1) == n * n - 1
    assert hash(n + m) == hash(m + n)
    assert n - n == 0
    assert isinstance(2 + n - n, int)
    assert n != m
    assert n != 3


def test_exact_division():
    assert (6 * n) // 3 == 2 * n
    assert (n * m + n) // n == m + 1
    assert (2 * n + 2) // (n + 1) == 2
    assert (4 * n) % 2 == 0
    assert 0 // n == 0
    with pytest.raises(InconclusiveDimensionError, match=r"n \+ 1 is not a multiple of 2 for every n"):
        (n + 1) // 2
    with pytest.raises(ZeroDivisionError):
        n // 0


def test_order_is_decided_where_it_holds_for_all_sizes():
    assert n >= 1
    assert n + 1 > n
    assert not n < 1
    assert n * m + 2 > 2
    assert n > 0
    assert bool(n)
    for question in (lambda: n > 3, lambda: n < m, lambda: n - m >= 0, lambda: bool(n - 1)):
        with pytest.raises(InconclusiveDimensionError, match="depends on the size of"):
            question()
    with pytest.raises(InconclusiveDimensionError, match="no fixed size; its symbols are n"):
        int(n)


def test_shapes_broadcast_and_multiply():
    assert dims.broadcast_shapes((n, 1), (3,), ()) == (n, 3)
    assert dims.dim_product((2, n, m)) == 2 * n * m
    with pytest.raises(ValueError, match=r"shapes \[n\] and \[m\] do not broadcast: axis 0 has n and m"):
        dims.broadcast_shapes((n,), (m,))
    with pytest.raises(ValueError, match=r"shapes \[3,4\] and \[3\] do not broadcast: axis 1 has 4 and 3"):
        dims.broadcast_shapes((3, 4), (3,))


def test_avals_hold_symbols():
    aval = shaped((n, 2 * n + 1), float32)
    assert short(aval) == "f32[n,2*n + 1]"
    assert aval == shaped((Dim("n"), n + n + 1), float32)
    assert repr(-n + m * m * 3 - 2) == "3*m**2 - n - 2"


def test_a_symbol_needs_a_name():
    with pytest.raises(ValueError, match="identifier"):
        Dim("3n")
