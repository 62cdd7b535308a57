"""Refused arguments of jit(f, dynamic=...): the message names them and the expected form."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def double(x, y=1):
    return x * 2


@pytest.mark.parametrize(
    ("dynamic", "kind", "message"),
    [
        ({"z": ("n",)}, ValueError, r"dynamic has 'z', but the parameters of .* are \['x', 'y'\]"),
        ({5: ("n",)}, ValueError, "dynamic has 5, but .* has 2 positional parameters"),
        ({"x": "n"}, TypeError, r"dynamic has 'n' of type str for 'x'; expected a tuple .* write \('n',\)"),
        ({"x": [("n", 2.5)]}, TypeError, r"dynamic has \('n', 2.5\) of type tuple for 'x'"),
        ({"x": ("n",), 0: ("n",)}, ValueError, "the parameter 'x' twice"),
        ("always", TypeError, "must be \"auto\" or a dict .* got 'always' of type str"),
        ({1.5: ("n",)}, TypeError, "the key 1.5 of type float"),
        (
            {"x": (pc.Dim("n", max=4),), "y": (pc.Dim("n", max=8),)},
            ValueError,
            r"two symbols of the name 'n', .*max=4.* and .*max=8",
        ),
        ({"x": ("not a name",)}, ValueError, "identifier"),
    ],
)
def test_what_is_not_taken(dynamic, kind, message):
    with pytest.raises(kind, match=message):
        pc.jit(double, dynamic=dynamic)


def test_a_static_argument_has_no_dimensions():
    with pytest.raises(ValueError, match="dynamic has 'y', which is a static argument"):
        pc.jit(double, static_argnames="y", dynamic={"y": ("n",)})
    with pytest.raises(ValueError, match="dynamic has 1, which is a static argument"):
        pc.jit(double, static_argnums=1, dynamic={1: ("n",)})


def test_another_rank():
    function = pc.jit(double, dynamic={"x": ("n", None)})
    with pytest.raises(
        ValueError,
        match=r"dynamic has \(n, None\), of 2 axes, for argument 'x' of double, which is f32\[3\] of 1 axes",
    ):
        function(np.ones(3, np.float32))


def test_no_prefix():
    function = pc.jit(lambda tree: tree["a"], dynamic={"tree": {"a": ("n",), "b": ("n",)}})
    with pytest.raises(ValueError, match="for argument 'tree' of <lambda>, which is no prefix of its tree"):
        function({"a": np.ones(3, np.float32)})


def test_a_tuple_of_arguments():
    with pytest.raises(
        ValueError, match=r"dynamic has 'xs', the tuple \*xs of .*; name its entries by their positions"
    ):
        pc.jit(lambda *xs: xs, dynamic={"xs": ("n",)})
    function = pc.jit(lambda *xs: [x + 1 for x in xs], dynamic={1: ("n",)})
    assert [x.shape for x in function(np.ones(2), np.ones(3))] == [(2,), (3,)]
    with pytest.raises(ValueError, match="dynamic has 'k', but the parameters"):
        pc.jit(lambda *xs: xs, dynamic={"k": ("n",)})
    named = pc.jit(lambda **kw: kw["k"] + 1, dynamic={"k": ("n",)})
    assert named(k=np.ones(3)).shape == (3,)


def test_a_fixed_size_is_held():
    function = pc.jit(double, dynamic={"x": ("n", 3)})
    assert function(np.ones((2, 3), np.float32)).shape == (2, 3)
    with pytest.raises(ValueError, match="axis 1 of argument 'x' of double is 4, expected 3"):
        function(np.ones((2, 4), np.float32))


def test_what_a_reshape_leaves_open():
    rows = pc.jit(lambda x: x.reshape(-1, 2), dynamic={"x": ("n",)})
    message = r"(?s)whether n is a multiple of 2 depends .* as Dim\(\"n\", multiple_of=2\)"
    with pytest.raises(pc.errors.InconclusiveDimensionError, match=message):
        rows(np.ones(4, np.float32))
    even = pc.jit(lambda x: x.reshape(-1, 2), dynamic={"x": (pc.Dim("n", multiple_of=2),)})
    assert [even(np.ones(size)).shape for size in (4, 6)] == [(2, 2), (3, 2)]


def test_what_broadcasts_at_some_sizes():
    def halves(x):
        half = x.shape[0] // 2
        return x[:half] + x[half:]

    message = r"(?s)x\[:half\] \+ x\[half:\].*whether n//2 == n - n//2 depends .* as Dim\(\"n\", multiple_of=2\)"
    with pytest.raises(pc.errors.InconclusiveDimensionError, match=message):
        pc.jit(halves, dynamic={"x": ("n",)})(np.ones(4, np.float32))
    even = pc.jit(halves, dynamic={"x": (pc.Dim("n", multiple_of=2),)})
    assert [even(np.ones(size)).shape for size in (4, 6)] == [(2,), (3,)]
    with pytest.raises(ValueError, match="shapes do not broadcast"):
        pc.jit(lambda x: x[1:] + x, dynamic={"x": (pc.Dim("n", min=3),)})(np.ones(4, np.float32))


@pytest.mark.parametrize("function", [pnp.array_equal, pnp.array_equiv])
def test_arrays_of_two_sizes_are_not_said_to_differ(function):
    compared = pc.jit(function, dynamic={0: ("n",), 1: ("m",)})
    with pytest.raises(pc.errors.InconclusiveDimensionError, match="use one symbol for sizes that are equal"):
        compared(np.ones(3), np.ones(3))
    same = pc.jit(function, dynamic={0: ("n",), 1: ("n",)})
    assert same(np.ones(3), np.ones(3))
    assert not pc.jit(lambda x: function(x, x[1:]), dynamic={0: (pc.Dim("n", min=3),)})(np.ones(4))


def test_a_size_that_python_needs():
    def steps(x):
        return sum(x[i] for i in range(x.shape[0]))

    function = pc.jit(steps, dynamic={"x": ("n",)})
    with pytest.raises((pc.errors.InconclusiveDimensionError, TypeError), match="n"):
        function(np.ones(3, np.float32))


BELOW_NOTHING = {
    "zeros": lambda x: pnp.zeros(x.shape[0] - 5).sum(),
    "a part": lambda x: pnp.concatenate([pnp.ones(x.shape[0] - 5), x]),
    "padding": lambda x: pnp.concatenate([x, pnp.zeros(8 - x.shape[0])]),
    "broadcast": lambda x: pnp.broadcast_to(x[0], (x.shape[0] - 5,)),
    "iota": lambda x: pc.lax.iota("int32", 8 - x.shape[0]),
    "one_hot": lambda x: pc.nn.one_hot(pnp.arange(3), 8 - x.shape[0]),
    "steps": lambda x: pc.lax.scan(lambda c, _: (c + 1, None), 0, None, length=8 - x.shape[0]),
    "keys": lambda x: pc.random.normal(pc.random.key(0), (x.shape[0] - 5,)),
}


@pytest.mark.parametrize("name", BELOW_NOTHING)
def test_a_size_that_may_be_negative(name):
    function = BELOW_NOTHING[name]
    message = r"(?s)whether (-n \+ 8|n - 5) >= 0 depends on .* as Dim\(\"n\", (min=5|max=8)\)\n"
    with pytest.raises(pc.errors.InconclusiveDimensionError, match=message):
        pc.jit(function, dynamic={"x": ("n",)})(np.ones(7, np.float32))
    bounded = pc.jit(function, dynamic={"x": (pc.Dim("n", min=5, max=8),)})
    for size in (5, 8):
        x = np.arange(size, dtype=np.float32)
        for one, other in zip(*(pc.tree.leaves(f(x)) for f in (bounded, pc.jit(function))), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_size_that_is_negative():
    with pytest.raises(ValueError, match="the size -n is negative"):
        pc.jit(lambda x: pnp.zeros(-x.shape[0]), dynamic={"x": ("n",)})(np.ones(7, np.float32))


def test_auto_takes_the_sizes_as_they_are_where_one_may_be_negative():
    padded = pc.jit(BELOW_NOTHING["padding"], dynamic="auto")
    for size in (5, 6, 7, 8):
        assert padded(np.ones(size, np.float32)).sum() == size
    with pytest.raises(ValueError, match="negative"):
        padded(np.ones(30, np.float32))


@pytest.mark.parametrize(
    ("inner", "outer", "message"),
    [
        (pc.Dim("n", max=8), pc.Dim("a", min=20), r"axis 0 of argument 'z' of .* is a, but n must be from 1 to 8"),
        (pc.Dim("n", max=8), pc.Dim("n"), r'whether 8 >= n depends on .* bound, as Dim\("n", max=8\)'),
        (pc.Dim("n", multiple_of=4), pc.Dim("a"), r'whether a is a multiple of 4 .* as Dim\("a", multiple_of=4\)'),
        (pc.Dim("n", min=9), pc.Dim("a", max=4), "is a, but n must be 9 or more"),
    ],
)
def test_bounds_hold_inside_of_another_function(inner, outer, message):
    doubled = pc.jit(lambda z: z * 2, dynamic={"z": (inner,)})
    outside = pc.jit(lambda x: doubled(x), dynamic={"x": (outer,)})
    size = outer.bounds()[0] * 3 if outer.bounds()[1] is None else 3
    with pytest.raises(ValueError, match=f"(?s){message}"):
        outside(np.ones(size, np.float32))


def test_equal_sizes_inside_of_another_function():
    added = pc.jit(lambda x, y: x.sum() + y.sum(), dynamic={0: ("n",), 1: ("n",)})
    outside = pc.jit(lambda x, y: added(x, y), dynamic={0: ("a",), 1: ("b",)})
    with pytest.raises(ValueError, match="use one symbol for sizes that are equal"):
        outside(np.ones(3, np.float32), np.ones(3, np.float32))
    assert pc.jit(lambda x: added(x, x), dynamic={0: ("a",)})(np.ones(3, np.float32)) == 6


def test_transforms_of_a_length_that_may_be_none():
    with pytest.raises(pc.errors.InconclusiveDimensionError, match=r'2\*n - 2 >= 1 depends.*\n.*Dim\("n", min=2\)'):
        pc.jit(pnp.fft.irfft, dynamic={0: ("n",)})(np.ones(4, np.complex64))


def test_bytes_of_a_traced_array():
    assert pc.jit(lambda x: x * x.nbytes)(np.ones(3, np.float32))[0] == 12
    assert pc.jit(lambda x: x * x.nbytes, dynamic={0: ("n",)})(np.ones(3, np.float32))[0] == 12


def test_a_bound_beyond_any_size():
    with pytest.raises(ValueError, match=r"max of n must be less than 2\*\*63"):
        pc.Dim("n", max=2**70)
