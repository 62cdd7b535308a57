"""`vmap` with unmapped arguments that are not arrays, and the forms of in_axes that jax accepts and refuses."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


class Anything:
    scale = 3.0


@pytest.mark.parametrize(
    ("given", "scale"),
    [
        (lambda x: 2 * x, 2),
        ("3", 3),
        (4, 4),
        (2.5, 2.5),
        (True, 1),
        (Anything(), 3),
        (Anything, 3),
        (np.dtype("float32"), 4),
        (range(5), 5),
        (slice(0, 2), 2),
        (b"ab", 2),
        (np.float32(1.5), 1.5),
        (np.arange(3.0), 3),
    ],
    ids=lambda x: type(x).__name__,
)
@pytest.mark.parametrize("outer", ["eager", "jit", "grad", "vmap"])
def test_what_is_not_mapped_is_handed_on(given, scale, outer):
    seen = []

    def f(x, thing):
        seen.append(thing)
        kinds = {
            str: lambda: float(thing),
            np.dtype: lambda: thing.itemsize,
            range: lambda: len(thing),
            slice: lambda: thing.stop,
            bytes: lambda: len(thing),
            np.ndarray: lambda: thing.sum(),
        }
        for kind, make in kinds.items():
            if isinstance(thing, kind):
                return x * make()
        if hasattr(thing, "scale"):
            return x * thing.scale
        return thing(x) if callable(thing) else x * thing

    def mapped(x):
        return pc.vmap(f, in_axes=(0, None))(x, given)

    x = pnp.arange(3.0)
    found = {
        "eager": lambda: mapped(x),
        "jit": lambda: pc.jit(mapped)(x),
        "grad": lambda: pc.grad(lambda x: (mapped(x) * x).sum())(x) / 2,
        "vmap": lambda: pc.vmap(mapped)(x[None])[0],
    }[outer]()
    np.testing.assert_allclose(found, np.arange(3.0) * scale)
    assert all(thing is given for thing in seen)
    assert seen


def test_trees_of_things():
    def f(config, x):
        assert config["name"] == "a"
        assert type(config["n"]) is int
        return config["f"](x) * config["n"] * config["w"]

    config = {"name": "a", "n": 2, "f": pnp.sin, "w": pnp.arange(3.0)}
    axes = {"name": None, "n": None, "f": None, "w": 0}
    found = pc.vmap(f, in_axes=(axes, None))(config, 1.0)
    np.testing.assert_allclose(found, np.sin(1.0) * 2 * np.arange(3), rtol=1e-6)
    assert pc.vmap(lambda c: c["x"] * len(c["s"]), in_axes=({"x": 0, "s": None},))(
        {"x": pnp.ones(2), "s": "abc"}
    ).tolist() == [3, 3]


def test_ints_stay_ints_as_sizes_and_results():
    found, n = pc.vmap(lambda x, n: (x * pnp.ones(n), n), in_axes=(0, None), out_axes=(0, None))(pnp.arange(2.0), 3)
    assert found.shape == (2, 3)
    assert n == 3
    assert type(n) is int


def test_a_result_that_is_no_array_is_refused():
    with pytest.raises(TypeError, match=r"returned 'a' of type str at output\[1\], not an array"):
        pc.vmap(lambda x: (x, "a"), out_axes=(0, None))(pnp.arange(3.0))


def test_what_is_mapped_must_be_an_array():
    with pytest.raises(TypeError, match="argument 'y' of <lambda> is 'a' of type str, not an array"):
        pc.vmap(lambda x, y: x)(pnp.arange(3.0), "a")
    with pytest.raises(TypeError, match="argument 'y' of <lambda>"):
        pc.vmap(lambda x, y: x)(pnp.arange(3.0), y="a")


@pytest.mark.parametrize(
    ("in_axes", "kind", "message"),
    [
        ({"a": 0}, TypeError, "in_axes must be an int, None, or a tuple"),
        (0.0, TypeError, "in_axes holds ints and None, got 0.0"),
        ((0, "a"), TypeError, "in_axes holds ints and None, got 'a'"),
        ((0, object), TypeError, "in_axes holds ints and None"),
        ((0, True), TypeError, "in_axes holds ints and None, got True"),
        ((0,), ValueError, "has 1 entries, the call has 2"),
        (({"a": 0}, 0), ValueError, r"in_axes\[0\], for argument 'x' of <lambda>, is not a prefix"),
        ((0, (0, 0)), ValueError, r"in_axes\[1\], for argument 'y' of <lambda>, is not a prefix"),
    ],
)
def test_wrong_axes(in_axes, kind, message):
    with pytest.raises(kind, match=message):
        pc.vmap(lambda x, y: x + y, in_axes=in_axes)(pnp.arange(3.0), pnp.arange(3.0))


def test_axes_as_a_list_and_in_trees():
    x, y = pnp.arange(3.0), pnp.arange(3.0)
    assert pc.vmap(lambda x, y: x + y.sum(), in_axes=[0, None])(x, y).tolist() == [3, 4, 5]
    tree = {"a": (x, 2.0), "b": [y]}
    axes = {"a": (0, None), "b": [0]}
    found = pc.vmap(lambda t: t["a"][0] * t["a"][1] + t["b"][0], in_axes=(axes,))(tree)
    assert found.tolist() == [0, 3, 6]
