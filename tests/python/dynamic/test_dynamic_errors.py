"""What jit(f, dynamic=...) does not take: named, with what was expected."""

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
