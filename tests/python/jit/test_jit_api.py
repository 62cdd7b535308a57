"""jit's own parameters and methods: static and donated arguments, stages, methods, partials, keywords, closures."""

import functools
import inspect
import logging
import re
import warnings

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def test_the_signature_is_the_function_s():
    def f(x, *, scale: float = 2.0):
        """Scales."""
        return x * scale

    jitted = pc.jit(f)
    assert inspect.signature(jitted) == inspect.signature(f)
    assert (jitted.__name__, jitted.__doc__, jitted.__wrapped__) == ("f", "Scales.", f)
    assert float(jitted(3.0, scale=3.0)) == 9.0
    ours = set(inspect.signature(pc.jit).parameters) - {"dynamic"}
    assert ours <= set(inspect.signature(jax.jit).parameters)


def test_as_a_decorator_with_options():
    @pc.jit(static_argnames="n")
    def f(x, n):
        return x * n

    @functools.partial(pc.jit, static_argnums=(1,))
    def g(x, n):
        return x * n

    assert float(f(2.0, n=3)) == float(f(2.0, 3)) == float(g(2.0, 3)) == 6.0


class Model:
    def __init__(self, scale):
        self.scale = scale
        self.traces = 0

    @functools.partial(pc.jit, static_argnums=0)
    def __call__(self, x):
        self.traces += 1
        return x * self.scale

    @pc.jit
    def twice(self, x):
        return self.scale * x

    @staticmethod
    @pc.jit
    def once(x):
        return x


pc.tree_util.register_pytree_node(Model, lambda m: ((m.scale,), None), lambda _, children: Model(*children))


def test_methods_partials_and_callable_objects():
    first, second = Model(2.0), Model(3.0)
    assert [float(m(1.0)) for m in (first, second, first)] == [2.0, 3.0, 2.0]
    assert (first.traces, second.traces) == (1, 1)
    assert float(first.twice(2.0)) == 4.0  # an instance that is a tree is an argument
    assert float(Model.once(2.0)) == 2.0
    bound = pc.jit(Model(5.0).twice)
    assert float(bound(2.0)) == 10.0
    partial = pc.jit(functools.partial(lambda a, b, c: a * b + c, 2.0, c=1.0))
    assert float(partial(3.0)) == 7.0

    class Called:
        def __call__(self, x):
            return x + 1

    assert float(pc.jit(Called())(1.0)) == 2.0


def test_keywords_in_any_order_are_one_call():
    f = pc.jit(lambda **named: named["a"] - named["b"])
    assert float(f(a=3.0, b=1.0)) == float(f(b=1.0, a=3.0)) == 2.0
    assert f.cache_size() == 1


def test_static_values_of_equal_hash_are_not_mixed_up():
    f = pc.jit(lambda x, s: x * (2 if isinstance(s, bool) else 3), static_argnums=1)
    assert [float(f(1.0, s)) for s in (1, True, 1.0)] == [3.0, 2.0, 3.0]


def test_the_stages():
    f = pc.jit(lambda x, y, n: {"a": (x @ y) * n}, static_argnums=2)
    x, y = pnp.ones((2, 3)), pnp.ones((3, 4))
    traced = f.trace(x, y, 2)
    assert str(traced.jaxpr).startswith("{ lambda ; a:f32[2,3] b:f32[3,4]. let")
    assert traced.out_info["a"].shape == (2, 4)
    assert traced.in_avals[0][0].shape == (2, 3)
    assert traced.out_avals["a"].dtype == np.float32
    lowered = traced.lower()
    assert "array.dot" in lowered.as_text()
    assert lowered.in_tree == pc.tree.structure(((0, 0), {}))
    assert lowered.out_tree == pc.tree.structure({"a": 0})
    compiled = lowered.compile()
    np.testing.assert_array_equal(compiled(x, y)["a"], np.full((2, 4), 6.0))
    assert compiled.out_info["a"].shape == (2, 4)
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis().output_size_in_bytes == 32
    assert "pcrt_main" in compiled.as_text()
    assert compiled.runtime_executable() is not None
    with pytest.raises(TypeError, match=r"f32\[3,4\] as 'y', called with f32\[3,5\]"):
        compiled(x, pnp.ones((3, 5)))
    shape = pc.ShapeDtypeStruct((2, 3), np.float32)
    assert f.eval_shape(shape, y, 2)["a"].shape == (2, 4)
    assert f.lower(shape, pc.ShapeDtypeStruct((3, 4), "float32"), 2).out_info["a"].dtype == np.float32
    (first, second), _ = pc.jit(lambda x, y: (x, y), donate_argnums=1).lower(x, y).args_info
    assert (first.donated, second.donated) == (False, True)


def test_a_trace_is_shared_by_all_stages():
    traces = []

    @pc.jit
    def f(x):
        traces.append(x)
        return x + 1

    f.trace(1.0)
    f.lower(1.0).compile()
    f.eval_shape(1.0)
    f(1.0)
    assert len(traces) == 1
    f.clear_cache()
    f(1.0)
    assert len(traces) == 2


def test_keep_unused():
    x, y = pnp.ones(3), pnp.ones(5)
    assert "tensor<5xf32>" not in pc.jit(lambda x, y: x + 1).lower(x, y).as_text()
    kept = pc.jit(lambda x, y: x + 1, keep_unused=True)
    assert "tensor<5xf32>" in kept.lower(x, y).as_text()
    np.testing.assert_array_equal(kept(x, y), np.full(3, 2.0))


def test_inline():
    inner = pc.jit(lambda x: pnp.sin(x) * 2, inline=True)
    outer = pc.jit(lambda x: inner(x) + inner(x))
    assert "jit" not in str(outer.trace(1.0).jaxpr)
    assert float(outer(1.0)) == pytest.approx(4 * np.sin(1.0))


def test_a_nested_jit_is_compiled_once():
    inner = pc.jit(lambda x: pnp.sin(x))
    outer = pc.jit(lambda x: inner(x) + inner(x + 1) + inner(x * 2))
    text = outer.lower(pnp.ones(4)).as_text()
    assert text.count("func.func private") == 1
    assert text.count("array.call") == 3


def test_recursion_on_a_static_argument():
    @functools.partial(pc.jit, static_argnums=1)
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert float(power(2.0, 6)) == 64.0


def test_large_closures_are_passed_and_not_embedded():
    table = pnp.arange(10_000_000.0)
    numbers = np.arange(10_000_000, dtype=np.float32)
    f = pc.jit(lambda x: (x + table).sum() + (x * numbers)[5])
    lowered = f.lower(pnp.float32(1.0))
    # The text is much shorter than that of ten million numbers.
    assert len(lowered.as_text()) < 10_000
    assert len(lowered.as_text("llvmir")) < 1_000_000
    lowered.compile()
    small = pc.jit(lambda x: x + table[:3])
    np.testing.assert_array_equal(small(1.0), [1.0, 2.0, 3.0])
    # The constant is a snapshot of the NumPy array: later writes change nothing.
    before = float(f(0.0))
    numbers[5] = 1e9
    assert float(f(0.0)) == before


def test_globals_are_read_when_tracing_only():
    scale = 2.0
    f = pc.jit(lambda x: x * scale)
    assert float(f(1.0)) == 2.0
    scale = 3.0
    assert float(f(1.0)) == 2.0
    f.clear_cache()
    assert float(f(1.0)) == 3.0


# Donation.


def test_donated_arrays_are_deleted():
    f = pc.jit(lambda state, x: ({"w": state["w"] + x}, x), donate_argnums=0)
    state, x = {"w": pnp.zeros(3)}, pnp.ones(3)
    for _ in range(3):
        before = state
        state, _ = f(state, x)
        assert before["w"].is_deleted()
    np.testing.assert_array_equal(state["w"], [3, 3, 3])
    assert not x.is_deleted()
    with pytest.raises(RuntimeError, match=r"donated to <lambda> at .*test_jit_api.py:\d+"):
        before["w"] + 1
    with pytest.raises(RuntimeError, match="donated"):
        np.asarray(before["w"])
    assert before["w"].shape == (3,)


def test_donation_by_name_and_of_what_is_returned_as_it_is():
    f = pc.jit(lambda x, y: (y, x + y), donate_argnames="y")
    x, y = pnp.ones(3), pnp.arange(3.0)
    same, _ = f(x, y=y)
    assert y.is_deleted()
    assert not x.is_deleted()
    np.testing.assert_array_equal(same, [0, 1, 2])
    f(x, same)
    assert same.is_deleted()


def test_a_donation_that_no_result_can_take_is_told_once():
    f = pc.jit(lambda x, y: x.sum() + y, donate_argnums=(0, 1))
    with pytest.warns(UserWarning, match=r"donated 'x' f32\[7\]: no result .*; the results are \(f32\[\]\)"):
        f(pnp.ones(7), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(pnp.ones(7), 1.0)


def test_what_is_donated_to_a_nested_jit_stays():
    inner = pc.jit(lambda x: x + 1, donate_argnums=0)
    np.testing.assert_array_equal(pc.jit(lambda x: inner(x) + x)(pnp.ones(2)), [3, 3])
    np.testing.assert_array_equal(pc.grad(lambda x: inner(x).sum())(pnp.ones(2)), [1, 1])


def test_options_that_do_not_fit():
    with pytest.raises(ValueError, match="static and donated"):
        pc.jit(lambda x: x, static_argnums=0, donate_argnames="x")
    with pytest.raises(ValueError, match="donate_argnames has 'z'"):
        pc.jit(lambda x: x, donate_argnames="z")
    with pytest.raises(TypeError, match="takes a function"):
        pc.jit(3)


# Messages about misses and compilations.


def explained(function, *calls):
    for args, kwargs in calls:
        function(*args, **kwargs)
    return function.explain_last_miss()


def test_the_difference_is_named():
    x = pnp.ones(3)
    f = pc.jit(lambda params, n: params["w"] * n, static_argnums=1)
    said = explained(f, (({"w": x}, 1), {}), (({"w": pnp.ones(4)}, 1), {}))
    assert said.endswith("because the shape of 'params['w']' was [3] and is [4]")
    assert "the static argument 1 was 1 and is 2" in explained(f, (({"w": x}, 2), {}))
    assert "(with params['b'])" in explained(f, (({"w": x, "b": x}, 2), {}))
    assert "the dtype of 'params['w']' was float32 and is int32" in explained(f, (({"w": pnp.arange(3)}, 1), {}))
    g = pc.jit(lambda x: x)
    assert "the weak type of 'x' was True and is False" in explained(g, ((1.0,), {}), ((pnp.float32(1),), {}))
    with pc.enable_x64():
        assert "the setting enable_x64 was False and is True" in explained(g, ((pnp.float32(1),), {}))


def test_a_new_function_in_each_pass_is_told():
    for _ in range(2):
        f = pc.jit(lambda x: x + 1)
        f(1.0)
    said = f.explain_last_miss()
    assert "test_jit_api.py" in said
    assert "make the function, and jit it, once" in said


def test_logs(caplog):
    f = pc.jit(lambda x: x + 1)
    with caplog.at_level(logging.WARNING):
        f(1.0)
    assert not caplog.records
    with (
        pc.config.override("enable_compilation_cache", False),
        pc.log_compiles(),
        caplog.at_level(logging.WARNING),
    ):
        f(pnp.ones(3))
    assert [re.sub(r"[\d.]+ ms", "ms", r.getMessage()) for r in caplog.records] == [
        "Traced <lambda> in ms",
        "Compiled <lambda> for (f32[3]) in ms",
    ]
    caplog.clear()
    with pc.explain_cache_misses(), caplog.at_level(logging.WARNING):
        f(pnp.ones(4))
    assert "the shape of 'x' was [3] and is [4]" in caplog.records[0].getMessage()


def test_loops_are_donated_to_as_well():
    f = pc.jit(lambda x: lax.fori_loop(0, 10, lambda i, c: c.at[i].add(1.0), x), donate_argnums=0)
    x = pnp.zeros(20)
    np.testing.assert_array_equal(f(x), np.r_[np.ones(10), np.zeros(10)])
    assert x.is_deleted()


def test_numbers_and_names_that_are_both_given_are_taken_as_they_are():
    """As jax does: the signature may be that of another function, which functools.wraps copied."""

    def inner(first, kind):
        return first if kind == "same" else -first

    @functools.wraps(inner)
    def outer(tag, arrays, *args, **kwargs):
        return inner(arrays["x"], **kwargs)

    f = pc.jit(outer, static_argnums=(0,), static_argnames=("kind",))
    assert f("tag", {"x": pnp.ones(())}, kind="same") == 1
    assert f("tag", {"x": pnp.ones(())}, kind="other") == -1


def test_the_signature_of_a_jitted_function_is_the_users():
    def f(x, y=1, *, z: int = 2):
        return x

    class Methods:
        @pc.jit
        def m(self, x):
            return x

    for look in (inspect.signature, inspect.getfullargspec):
        assert look(pc.jit(f)) == look(f)
    assert str(inspect.signature(Methods().m)) == "(x)"


def test_a_jitted_function_is_shown_as_in_jax():
    class Unshown:
        def __call__(self):
            pass

        def __repr__(self):
            raise ValueError

    def f():
        pass

    assert repr(pc.jit(f)) == f"<PjitFunction of {f!r}>"
    hidden = pc.jit(Unshown())
    assert repr(hidden) == "<PjitFunction>"
    del hidden.__wrapped__
    assert repr(hidden) == "<PjitFunction>"


@pytest.mark.parametrize("kind", ["static", "donate"])
def test_parameters_that_no_keyword_names(kind):
    def f(a, /, b, *args, c, **kwargs):
        pass

    for name in ("a", "args"):
        with pytest.raises(ValueError, match=f"'{name}', which no keyword of a call .*; use {kind}_argnums"):
            pc.jit(f, **{f"{kind}_argnames": (name, "c")})
    pc.jit(f, **{f"{kind}_argnames": ("b", "c", "kwargs", "other")})
    # A function of any number of arguments has no number that is too large or too small.
    assert pc.jit(lambda *xs: xs[0], **{f"{kind}_argnums": -9})(1) == 1


def test_names_of_donated_arguments_need_a_signature():
    class Unknown:
        @property
        def __signature__(self):
            raise TypeError("none")

        def __call__(self, *args):
            pass

    with pytest.raises(ValueError, match=r"has no signature .*; use donate_argnums"):
        pc.jit(Unknown(), donate_argnames="a")


def test_formats_of_arrays_and_of_compiled_functions():
    x = pnp.ones((2, 3))
    assert x.format.layout.major_to_minor == (0, 1)
    assert x.format.sharding == x.sharding
    compiled = pc.jit(lambda x, *, y: {"z": x.sum() + y}).lower(x, y=1.0).compile()
    (of_x,), named = compiled.input_formats
    assert (of_x, named["y"].layout.major_to_minor) == (x.format, ())
    assert compiled.output_formats["z"].sharding == compiled.output_shardings["z"]
    np.testing.assert_array_equal(pc.device_put(x, compiled.input_formats[0][0]), x)


def test_arguments_that_jax_refuses_by_a_value_error():
    """A masked array, and an object that functions of numpy take as an array: the error is a TypeError, too."""

    class Standing:
        def __jax_array__(self):
            return pnp.ones(3)

    f = pc.jit(lambda x: x)
    for transform in (f, pc.grad(f), pc.vmap(f)):
        for argument in (np.ma.array([1.0], mask=[True]), Standing()):
            for kind in (ValueError, TypeError):
                with pytest.raises(kind, match="argument 'x'"):
                    transform(argument)
