"""Symbolic dimensions: arithmetic is compared with numbers; an operation that depends on a size names it."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pycompiler as pc
from pycompiler.core.dims import dims
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.ranges import larger, smaller
from pycompiler.core.dims.sizes import SizePlan, solve, symbols_of
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.types.aval import shaped, short
from pycompiler.core.types.dtype import float32

n, m = Dim("n"), Dim("m")
# A symbol with each kind of bounds, and sizes that it allows.
SYMBOLS = {
    n: (1, 2, 5, 12),
    m: (1, 3, 7),
    Dim("empty", min=0): (0, 1, 4),
    Dim("short", min=2, max=6): (2, 3, 6),
    Dim("eight", multiple_of=8): (8, 16, 40),
    Dim("tile", min=3, max=40, multiple_of=6): (6, 12, 36),
}


def at(x, sizes):
    return x.evaluate(sizes) if isinstance(x, Dim) else x


def expressions(depth=3):
    """Dimensions, each with the same function on the symbols' sizes in Python's arithmetic."""
    leaves = st.one_of(
        st.sampled_from(list(SYMBOLS)).map(lambda symbol: (symbol, lambda sizes: sizes[repr(symbol)])),
        st.integers(-3, 9).map(lambda i: (i, lambda sizes: i)),
    )

    # Sizes of at least 1.
    divisors = st.sampled_from(
        [(n, lambda s: s["n"]), (m + 2, lambda s: s["m"] + 2), (n * m, lambda s: s["n"] * s["m"])]
    )

    def grow(inner):
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(lambda p: (p[0][0] + p[1][0], lambda s: p[0][1](s) + p[1][1](s))),
            pairs.map(lambda p: (p[0][0] - p[1][0], lambda s: p[0][1](s) - p[1][1](s))),
            pairs.map(lambda p: (p[0][0] * p[1][0], lambda s: p[0][1](s) * p[1][1](s))),
            st.tuples(inner, st.integers(1, 12)).map(lambda p: (p[0][0] // p[1], lambda s: p[0][1](s) // p[1])),
            st.tuples(inner, st.integers(1, 12)).map(lambda p: (p[0][0] % p[1], lambda s: p[0][1](s) % p[1])),
            st.tuples(inner, divisors).map(lambda p: (p[0][0] // p[1][0], lambda s: p[0][1](s) // p[1][1](s))),
            st.tuples(inner, divisors).map(lambda p: (p[0][0] % p[1][0], lambda s: p[0][1](s) % p[1][1](s))),
            pairs.map(lambda p: (larger(p[0][0], p[1][0]), lambda s: max(p[0][1](s), p[1][1](s)))),
            pairs.map(lambda p: (smaller(p[0][0], p[1][0]), lambda s: min(p[0][1](s), p[1][1](s)))),
        )

    return st.recursive(leaves, grow, max_leaves=depth * 2)


def some_sizes():
    return st.tuples(*map(st.sampled_from, SYMBOLS.values())).map(
        lambda values: dict(zip(map(repr, SYMBOLS), values, strict=True))
    )


@given(expressions(), some_sizes())
def test_arithmetic_agrees_with_that_of_numbers(expression, sizes):
    dim, number = expression
    assert at(dim, sizes) == number(sizes)


@given(expressions(), some_sizes())
def test_bounds_hold_for_every_size(expression, sizes):
    dim, number = expression
    low, high = dim.bounds() if isinstance(dim, Dim) else (dim, dim)
    assert low is None or low <= number(sizes)
    assert high is None or number(sizes) <= high


# An error tries many bounds before it names one.
@settings(deadline=None, max_examples=50)
@given(expressions(), expressions(), some_sizes())
def test_what_is_decided_holds_for_every_size(left, right, sizes):
    (a, x), (b, y) = left, right
    for decide, number in [
        (lambda: a < b, lambda: x(sizes) < y(sizes)),
        (lambda: a <= b, lambda: x(sizes) <= y(sizes)),
        (lambda: a > b, lambda: x(sizes) > y(sizes)),
        (lambda: a >= b, lambda: x(sizes) >= y(sizes)),
        (lambda: a == b, lambda: x(sizes) == y(sizes)),
        (lambda: bool(a), lambda: bool(x(sizes))),
    ]:
        try:
            decided = decide()
        except InconclusiveDimensionError:
            continue
        assert decided == number()


@given(expressions())
def test_dimensions_are_copied_and_pickled(expression):
    dim = expression[0]
    assert pickle.loads(pickle.dumps(dim)) == dim
    assert hash(copy.deepcopy(dim)) == hash(dim)


def test_equal_polynomials_are_equal_and_constants_are_ints():
    assert (n + 1) * (n - 1) == n * n - 1
    assert hash(n + m) == hash(m + n)
    assert n - n == 0
    assert isinstance(2 + n - n, int)
    assert n**3 == n * n * n
    assert n != 0
    assert n + 1 != n
    assert np.int64(2) * n == 2 * n
    assert sum([n, m, 1]) == n + m + 1


def test_division():
    assert (6 * n) // 3 == 2 * n
    assert (n * m + n) // n == m + 1
    assert (n * n - 1) // (n + 1) == n - 1
    assert (2 * n + 2) // (n + 1) == 2
    assert (4 * n) % 2 == 0
    assert (4 * n + 3) // 2 == 2 * n + 1
    assert divmod(3 * n + 4, 3) == (n + 1, 1)
    assert n // 2 // 3 == n // 6
    assert (n // 2 + 1) // 3 == (n + 2) // 6
    assert n // -1 == -n
    assert 0 // n == 0
    assert 3 // (n + 3) == 0
    assert repr((n + 1) // 2) == "(n + 1)//2"
    assert repr(3 * (n // 2)) == "3*(n//2)"
    assert repr(-(n // 2)) == "-(n//2)"
    assert repr(m // n) == "m//n"
    assert repr(m // (n + 1)) == "m//(n + 1)"
    assert (m + 3 * n) // n == m // n + 3
    assert (m + 3 * n) % n == m % n
    assert m // -n == -m // n
    assert divmod(n, n + 1) == (0, n)
    assert 0 <= m % n < n
    assert m // n <= m
    with pytest.raises(InconclusiveDimensionError, match=r'(?s)m - 1 >= 1, by which n is divided.*"m", min=2'):
        n // (m - 1)
    with pytest.raises(ZeroDivisionError):
        n // 0


def test_maxima_and_minima():
    assert repr(larger(n - 3, 0)) == "max(n - 3, 0)"
    assert repr(smaller(n, 5)) == "min(n, 5)"
    assert smaller(n, m) == smaller(m, n)
    assert smaller(n, m) + larger(n, m) == n + m
    assert smaller(n, 5) + larger(n - 5, 0) == n
    assert 1 <= smaller(n, 5) <= 5
    assert smaller(n, 5) <= n <= larger(n, m)
    assert (larger(n, 1), smaller(n, 1)) == (n, 1)
    assert smaller(n, 5).evaluate({"n": 7}) == 5
    assert smaller(n, 5).evaluate({"n": m + 5}) == 5
    assert larger(n, m) > smaller(n - 1, m - 1)
    # The elements of x[2:5].
    assert 0 <= smaller(n, 5) - smaller(n, 2) <= 3


def test_multiples_divide_exactly():
    rows = Dim("rows", multiple_of=8)
    assert rows // 8 * 8 == rows
    assert rows % 4 == 0
    assert rows // 2 * 2 == rows
    assert (rows + 3) // 8 == rows // 8
    assert rows * rows // 64 == (rows // 8) ** 2
    assert repr(rows // 4) == "rows//4"
    assert repr(3 * rows // 2 * rows) == "3*rows*(rows//2)"
    assert (rows + 1).bounds() == (9, None)
    assert rows != 12


def test_order_is_decided_where_it_holds_for_all_sizes():
    assert n >= 1
    assert n + 1 > n
    assert not n < 1
    assert n * m + 2 > 2
    assert n * m >= n
    assert n - n // 2 >= 1
    assert n > 0
    assert bool(n)
    assert abs(-n) == n
    short = Dim("short", min=4, max=64)
    assert short <= 64
    assert short * n >= 4
    assert max(n, 1) == n
    assert min(short, 100) == short


def test_what_is_open_names_the_symbol_the_line_and_the_bound():
    for question, bound in [
        (lambda: n > 3, 'Dim("n", min=4) or Dim("n", max=3)'),
        (lambda: n == 4, 'Dim("n", min=5) or Dim("n", max=3)'),
        (lambda: n == 1, 'Dim("n", min=2)'),
        (lambda: n == n // 2 * 2, 'Dim("n", multiple_of=2)'),
        (lambda: bool(n - 1), 'Dim("n", min=2)'),
        (lambda: Dim("q", min=0) >= 1, 'Dim("q", min=1)'),
        (lambda: Dim("q", max=64, multiple_of=8) <= 20, 'Dim("q", min=24, max=64, multiple_of=8) or'),
        (lambda: n * m > 10, 'Dim("m", min=11) or Dim("n", min=11)'),
        (lambda: n == m, "use one symbol for sizes that are equal"),
        (lambda: n < m, "use one symbol for sizes that are equal"),
    ]:
        with pytest.raises(InconclusiveDimensionError, match=re.escape(f"{bound}")) as caught:
            question()
        assert str(caught.value).startswith(f"{__file__}:{question.__code__.co_firstlineno} ")
        assert "depends on the size of " in str(caught.value)
    with pytest.raises(InconclusiveDimensionError, match="no fixed size, so that it is not an int of Python"):
        int(n)


def test_dimensions_in_text():
    assert f"{n + 1:>8}|{n}|{n!r:<3}|" == "   n + 1|n|n  |"


def test_our_own_rules_ask_for_equality_at_every_size():
    assert not dims.same_shape((n, 3), (m, 3))
    assert not dims.same_shape((n,), (1,))
    assert dims.broadcast_shapes((n, 1), (3,), ()) == (n, 3)
    assert dims.dim_product((2, n, m)) == 2 * n * m
    with pytest.raises(
        InconclusiveDimensionError, match=r"(?s)n == m depends .* use one symbol for sizes that are equal"
    ):
        dims.broadcast_shapes((n,), (m,))
    with pytest.raises(
        ValueError, match=r"Incompatible shapes for broadcasting: \[3,4\] and \[3\]: axis 1 has 4 and 3"
    ):
        dims.broadcast_shapes((3, 4), (3,))


def test_avals_hold_symbols():
    aval = shaped((n, 2 * n + 1), float32)
    assert short(aval) == "f32[n,2*n + 1]"
    assert aval == shaped((Dim("n"), n + n + 1), float32)
    assert repr(-n + m * m * 3 - 2) == "3*m**2 - n - 2"


def test_one_name_has_one_set_of_bounds():
    other = Dim("n", min=2)
    for mix in (
        lambda: n + other,
        lambda: n * m == other,
        lambda: n < other,
        lambda: symbols_of(avals((n,), (other,))),
    ):
        with pytest.raises(ValueError, match=r'n stands for two different dimensions, Dim\("n".*\) and Dim\("n".*\)'):
            mix()
    # The bounds are those of the actual sizes.
    assert Dim("n", min=3, multiple_of=4) + Dim("n", min=4, multiple_of=4) == 2 * Dim("n", multiple_of=4)


def test_what_a_symbol_is_made_of():
    for error, message, arguments in [
        (ValueError, "identifier, got '3n'", {"name": "3n"}),
        (ValueError, "identifier, got 3", {"name": 3}),
        (TypeError, "min of n must be an int, got 1.5", {"name": "n", "min": 1.5}),
        (TypeError, "max of n must be an int, got '8'", {"name": "n", "max": "8"}),
        (ValueError, "min of n must not be negative", {"name": "n", "min": -1}),
        (ValueError, "multiple_of of n must be at least 1", {"name": "n", "multiple_of": 0}),
        (ValueError, "at least two sizes, got from 5 to 4", {"name": "n", "min": 5, "max": 4}),
        (ValueError, "at least two sizes, got from 4 to 4", {"name": "n", "min": 4, "max": 4}),
        (ValueError, "from 1 to 9 there is no second multiple of 8", {"name": "n", "max": 9, "multiple_of": 8}),
    ]:
        with pytest.raises(error, match=message):
            Dim(**arguments)


def avals(*shapes):
    return [shaped(shape, float32) for shape in shapes]


def test_symbols_are_found_by_their_names():
    b = Dim("b", max=64, multiple_of=8)
    found = symbols_of(avals((n, 3), (2 * b,), (m * b + 1,)))
    assert [(s.name, s.min, s.max, s.multiple_of) for s in found] == [
        ("b", 8, 64, 8),
        ("m", 1, None, 1),
        ("n", 1, None, 1),
    ]


def test_sizes_follow_from_shapes():
    b = Dim("b", multiple_of=8)
    assert solve(avals((n, 3), (m,)), [(5, 3), (2,)]) == {"m": 2, "n": 5}
    assert solve(avals((2 * n + 1,)), [(7,)]) == {"n": 3}
    assert solve(avals((n + m,), (m, m // 2)), [(9,), (5, 2)]) == {"m": 5, "n": 4}
    assert solve(avals((b // 4, b + 1)), [(6, 25)]) == {"b": 24}
    assert solve(avals((3,)), [(3,)]) == {}
    assert list(solve(avals((n,), (b,), (m,)), [(1,), (8,), (2,)])) == ["b", "m", "n"]


@pytest.mark.parametrize(
    ("shapes", "given", "message"),
    [
        ([(n, 3), (n,)], [(5, 3), (7,)], "n is 5 by axis 0 of x, but 7 by axis 0 of y"),
        ([(n,), (2 * n,)], [(5,), (9,)], r"axis 0 of y is 9, expected 2\*n = 10: n is 5 by axis 0 of x"),
        ([(n, 3)], [(5, 4)], "axis 1 of x is 4, expected 3"),
        ([(n, 3)], [(5,)], r"x has 1 dimensions, \[5\]; expected 2, \[n,3\]"),
        ([(n,)], [(0,)], r'axis 0 of x is 0, but n must be 1 or more: it is Dim\("n"\)'),
        ([(Dim("s", max=8),)], [(9,)], "axis 0 of x is 9, but s must be from 1 to 8"),
        ([(Dim("s", multiple_of=8),)], [(12,)], "axis 0 of x is 12, but s must be 8 or more, a multiple of 8"),
        ([(2 * n + 1,)], [(4,)], r"axis 0 of x is 4 = 2\*n \+ 1, but n must be 1 or more"),
    ],
)
def test_shapes_that_do_not_fit(shapes, given, message):
    with pytest.raises(ValueError, match=message):
        solve(avals(*shapes), given, lambda index: "xy"[index])


def test_a_symbol_whose_size_does_not_follow():
    with pytest.raises(ValueError, match=r"size of m does not follow .*: argument 0 has m\*n on axis 0"):
        SizePlan(avals((n * m,)))
    with pytest.raises(ValueError, match=r"size of n does not follow"):
        SizePlan(avals((n // 2,)))


def test_a_dimension_is_a_number_where_it_meets_arrays():
    x = pc.ShapeDtypeStruct((n, 3), "float32")
    printed = str(pc.make_jaxpr(lambda x: x.sum() / x.shape[0])(x))
    assert "dim_as_value[dim=n dtype=int32]" in printed
    for function in (
        lambda x: x * x.shape[0],
        lambda x: x.shape[0] * x,
        lambda x: x / x.shape[0],
        lambda x: x.shape[0] ** -0.5 * x,
        lambda x: x * (x.shape[0] / 2),
        lambda x: x * (0.5 * x.shape[0]),
        lambda x: x - np.float32(2) * x.shape[0],
        lambda x: x + np.ones(3, np.float32) * x.shape[0],
    ):
        out = pc.eval_shape(function, x)
        assert (out.shape, out.dtype) == ((n, 3), "float32")
    weak = pc.eval_shape(lambda x: pc.numpy.asarray(x.shape[0]), x)
    assert (weak.shape, weak.dtype, weak.weak_type) == ((), "int32", True)
    with pytest.raises(TypeError, match="n has a value only inside of a traced function"):
        pc.numpy.asarray(n)


def test_dimensions_among_other_numbers():
    assert +n is n
    eight = Dim("eight", multiple_of=8)
    assert divmod(0, n) == (0, 0)
    assert divmod(8 * n, n) == (8, 0)
    assert eight // 1 == eight
    assert dims.surely_below(np.int64(1), np.int64(2))
    assert not dims.is_at_least(np.int64(1), np.int64(2))
    for sizes in ((1.5, 2), (2, 1.5)):
        with pytest.raises(TypeError, match=r"sizes, bounds and counts are integers, got 1\.5"):
            dims.is_at_least(*sizes)
    with pytest.raises(TypeError, match="not supported between instances of 'Dim' and 'str'"):
        _ = n < "a"
    for convert in (float, complex):
        with pytest.raises(
            InconclusiveDimensionError, match=f"is not a {convert.__name__} of Python; its symbols are n"
        ):
            convert(n)


def test_one_symbol_has_one_size():
    x, y = (pc.ShapeDtypeStruct((size,), "float32") for size in (n, n))
    exported = pc.export.export(pc.jit(lambda x, y: x + y))(x, y)
    with pytest.raises(ValueError, match=r"n is m, but m \+ 1 by axis 0 of"):
        pc.make_jaxpr(exported.call)(pc.ShapeDtypeStruct((m,), "float32"), pc.ShapeDtypeStruct((m + 1,), "float32"))


def test_a_symbolic_axis_has_no_slice_of_step_zero():
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        pc.make_jaxpr(lambda x: x[::0])(pc.ShapeDtypeStruct((n,), "float32"))
