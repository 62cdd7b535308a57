"""Dimensions from the expressions of affine maps."""

import pytest

from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.ranges import larger, smaller
from pycompiler.core.dims.text import dimension_from

N, M = Dim("n"), Dim("m")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("7", 7),
        ("s0", N),
        ("s0 * -2 + s1 * s0 - 1", N * M - 2 * N - 1),
        ("(s0 + 1) floordiv 2", (N + 1) // 2),
        ("s0 - s0 mod 4", N - N % 4),
        ("-s1 + 3", 3 - M),
        ("s0 // s1", N // M),
        ("max(s0 - 2, 0)", larger(N - 2, 0)),
        ("3 * min(s0, s1) + 1", 3 * smaller(N, M) + 1),
    ],
)
def test_expressions(text, wanted):
    assert str(dimension_from(text, {"s0": N, "s1": M})) == str(wanted)


def test_numbers():
    assert dimension_from("(d0 - 1) floordiv 2 + d1 mod 3", {"d0": 0, "d1": 5}) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [("s0 +", SyntaxError), ("s1", KeyError), ("f(s0)", TypeError), ("f(s0, 1)", KeyError), ("2 ** 99", ValueError)],
)
def test_what_is_no_size(text, error):
    with pytest.raises(error):
        dimension_from(text, {"s0": N})
