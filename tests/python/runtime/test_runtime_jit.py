"""JitFunction: the parts of the key, leaves, errors, tracers; with miss functions of the tests."""

import functools
import gc
import inspect
import threading
import weakref

import numpy as np
import pytest

from pycompiler import _runtime as rt

VECTOR = rt.ShapedArray((4,), np.float32)
LEAF = rt.tree_flatten(0)[1]


class Recorder:
    """A miss function that returns the leaves of the arguments unchanged, and records its calls."""

    def __init__(self):
        self.calls = []

    def __call__(self, args, kwargs, key):
        self.calls.append((args, kwargs, key))
        count = len(key.avals)
        tree = rt.tree_flatten([0] * count)[1]
        return rt.CompiledCall(None, (), tuple(("arg", i) for i in range(count)), (), tree)


def shares(result, given) -> bool:
    """Whether a result is another array in the memory of an argument."""
    return result is not given and rt.buffer_pointer(result) == rt.buffer_pointer(given)


def make(fun=lambda *args, **kwargs: None, **options):
    recorder = Recorder()
    return rt.JitFunction(fun, recorder, lambda *args, **kwargs: ("traced", args, kwargs), **options), recorder.calls


def test_a_call_runs_the_executable(load, vector):
    call = rt.CompiledCall(load("add_one"), (0,), (("result", 0),), (VECTOR,), LEAF)
    jitted = rt.JitFunction(lambda x: x, lambda args, kwargs, key: call, None)
    np.testing.assert_array_equal(np.asarray(jitted(vector(1, 2, 3, 4))), [2, 3, 4, 5])
    np.testing.assert_array_equal(np.asarray(jitted(jitted(vector(1, 2, 3, 4)))), [3, 4, 5, 6])
    assert jitted.cache_size() == 1


def test_outputs_are_results_arguments_and_constants(load, vector):
    tree = rt.tree_flatten({"sum": 0, "args": (0, 0), "const": [0, 0]})[1]
    constant = vector(9, 9, 9, 9)
    call = rt.CompiledCall(
        load("sum_and_difference"),
        (2,),
        (("arg", 1), ("arg", 0), ("const", constant), ("result", 1), ("result", 0)),
        (VECTOR, VECTOR),
        tree,
        (constant,),
    )
    jitted = rt.JitFunction(lambda *x: x, lambda args, kwargs, key: call, None)
    a, b, c = vector(1, 1, 1, 1), vector(2, 2, 2, 2), vector(3, 3, 3, 3)
    result = jitted(a, b, c)
    assert shares(result["args"][0], b)
    assert shares(result["args"][1], a)
    assert shares(result["const"][0], constant)
    again = jitted(a, b, c)
    result["const"][0].delete()
    result["args"][0].delete()
    np.testing.assert_array_equal(again["const"][0], 9)
    np.testing.assert_array_equal(b, 2)
    np.testing.assert_array_equal(np.asarray(result["const"][1]), -6)
    np.testing.assert_array_equal(np.asarray(result["sum"]), 12)
    np.testing.assert_array_equal(np.asarray(call(a, b, c)["sum"]), 12)


def test_a_miss_may_return_any_callable(vector):
    misses = []

    def miss(args, kwargs, key):
        misses.append(key)
        return lambda *args, **kwargs: (args, kwargs)

    jitted = rt.JitFunction(lambda *args, **kwargs: None, miss, None)
    x, tree = vector(), {"a": [vector()]}
    for _ in range(2):
        args, kwargs = jitted(x, tree, named=x)
        assert args[0] is x
        assert args[1] is tree
        assert kwargs == {"named": x}
    assert len(misses) == jitted.cache_size() == 1


def test_the_cache_keeps_what_was_used_last(vector):
    jitted, calls = make(static_argnums=(0,))
    rt.set_call_limit(3)
    try:
        for number in (1, 2, 3, 1, 4):  # 2 is the least recently used one when 4 comes
            jitted(number, vector())
        assert jitted.cache_size() == 3
        assert [dict(key.static_args)[0] for key in jitted.cached_keys()] == [1, 3, 4]
        before = len(calls)
        jitted(1, vector())
        assert len(calls) == before
        jitted(2, vector())
        assert len(calls) == before + 1
    finally:
        rt.set_call_limit(2048)


def test_donated_leaves_are_deleted(load, vector):
    tree = rt.tree_flatten((0, 0))[1]
    outputs = (("result", 0), ("arg", 0))
    call = rt.CompiledCall(load("add_one"), (0,), outputs, (VECTOR,), tree, (), (0, 1))
    jitted = rt.JitFunction(lambda x, y: x, lambda args, kwargs, key: call, None)
    x, y = vector(1, 2, 3, 4), vector()
    more, same = jitted(x, y)
    np.testing.assert_array_equal(np.asarray(more), [2, 3, 4, 5])
    np.testing.assert_array_equal(np.asarray(same), [1, 2, 3, 4])
    assert x.is_deleted()
    assert y.is_deleted()
    assert not same.is_deleted()
    for use in (np.asarray, lambda x: jitted(x, vector())):
        with pytest.raises(RuntimeError, match=r"donated to add_one at .*test_runtime_jit.py:\d+"):
            use(x)


def test_the_key_is_the_tree_and_the_avals(vector, converter):
    jitted, calls = make()
    x = vector()
    different = [
        (x,),
        (x, x),
        ([x],),
        ((x,),),
        ({"a": x},),
        ({"b": x},),
        ({"a": x, "b": None},),
        (rt.reshaped(x, rt.ShapedArray((2, 2), np.float32)),),
        (rt.with_weak_type(x, True),),
        (np.ones(4, np.int32),),
        (1,),
        (1.0,),
        (True,),
        (),
    ]
    for args in different:
        jitted(*args)
    assert jitted.cache_size() == len(calls) == len(different)
    for args in different:
        jitted(*args)
    jitted(vector(5, 6, 7, 8))
    jitted(2)
    jitted({"b": None, "a": x})
    assert len(calls) == len(different)


def test_what_a_miss_is_given(vector):
    jitted, calls = make(static_argnums=(1,), static_argnames=("mode",))
    x, y = vector(), vector()
    jitted({"w": x}, "static", mode=3, second=y, first=x)
    (args, kwargs, key) = calls[0]
    assert args[0]["w"] is x
    assert args[1] == "static"
    assert set(kwargs) == {"mode", "first", "second"}
    assert kwargs["first"] is x
    assert key.in_tree == rt.tree_flatten((({"w": 0},), {"first": 0, "second": 0}))[1]
    assert key.avals == (VECTOR,) * 3
    assert key.static_args == ((1, "static"),)
    assert key.static_kwargs == (("mode", 3),)
    assert key.context is rt.context_key()
    assert jitted.last_miss == key
    assert jitted.cached_keys() == [key]


def test_leaves_have_the_order_of_the_tree(vector):
    jitted, calls = make()
    arrays = [vector(i, 0, 0, 0) for i in range(5)]
    result = jitted(arrays[0], {"z": arrays[2], "a": arrays[1]}, y=arrays[4], x=[arrays[3]])
    assert all(shares(a, b) for a, b in zip(result, arrays, strict=True))
    leaves, in_tree = rt.tree_flatten(
        ((arrays[0], {"z": arrays[2], "a": arrays[1]}), {"y": arrays[4], "x": [arrays[3]]})
    )
    assert in_tree == calls[0][2].in_tree
    assert all(a is b for a, b in zip(leaves, arrays, strict=True))


def test_keywords_in_another_order_are_the_same_call(vector):
    jitted, calls = make()
    x = vector()
    jitted(a=x, b=x)
    jitted(b=x, a=x)
    jitted(x, b=x)
    assert len(calls) == 2


def test_static_values_are_compared_by_type_and_value(vector):
    jitted, calls = make(static_argnums=(1,))
    x = vector()
    for value in (1, 1.0, True, "a", (1, "b"), None):
        jitted(x, value)
    assert len(calls) == 6
    jitted(x, (1, "".join(["b"])))
    jitted(x, "".join(["a"]))
    assert len(calls) == 6


def test_static_values_must_be_hashable(vector):
    def scaled(x, shape):
        return x

    jitted, _ = make(scaled, static_argnums=(1,), static_argnames=("shape",))
    for call in (lambda: jitted(vector(), [1]), lambda: jitted(vector(), shape=[1])):
        with pytest.raises(ValueError, match=r"scaled: argument 'shape' is static, so it must be hashable: .*list"):
            call()


def test_what_is_no_array_is_named(vector, converter):
    def model(params, *rest, training=False):
        return params

    jitted, _ = make(model)
    with pytest.raises(TypeError, match=r"model: argument 'params', at \['w'\]\[1\]: str is not an array"):
        jitted({"w": [vector(), "no"], "b": 1})
    with pytest.raises(TypeError, match=r"model: argument 'training': object is not an array"):
        jitted(vector(), training=object())
    with pytest.raises(TypeError, match=r"model: argument 'rest': set is not an array"):
        jitted(vector(), {1})
    with pytest.raises(ValueError, match="cannot be sorted"):
        jitted({"a": 1, 2: 3})
    assert jitted.cache_size() == 0


def test_other_errors_of_the_converter_pass_through(vector):
    def convert(leaf):
        raise OverflowError("too large")

    before = rt.set_leaf_converter(convert)
    try:
        with pytest.raises(OverflowError, match="too large"):
            make()[0](1 << 80)
    finally:
        rt.set_leaf_converter(before)


def test_common_leaves_are_converted_without_python_once_learned(converter):
    jitted, calls = make()
    leaves = [True, 3, 2.5, np.ones((2, 3), np.float32), np.zeros(3, np.int8)]
    first = [jitted(leaf)[0] for leaf in leaves]
    assert len(converter) == len(leaves)
    for leaf, expected in zip(leaves, first, strict=True):
        (array,) = jitted(leaf)
        assert array.aval is expected.aval
        np.testing.assert_array_equal(np.asarray(array), np.asarray(leaf, array.dtype))
    assert len(converter) == len(leaves)
    assert len(calls) == len(leaves)


def test_uncommon_leaves_always_ask_python(converter):
    jitted, _ = make()
    jitted(1)
    jitted(1.0)
    jitted(np.ones(3, np.float32))
    count = len(converter)
    with pytest.raises(OverflowError):
        jitted(1 << 40)
    strided = np.arange(8, dtype=np.float32)[::2]
    np.testing.assert_array_equal(np.asarray(jitted(strided)[0]), strided)
    for _ in range(2):
        assert jitted(np.ones(3))[0].dtype == np.float32
        assert jitted(np.float64(3))[0].dtype == np.float32
    assert len(converter) == count + 6


def test_a_write_to_an_argument_changes_no_result(converter):
    jitted, _ = make()
    values = np.ones(3, np.float32)
    results = [jitted(values)[0] for _ in range(2)]
    values[:] = 7
    for result in results:
        np.testing.assert_array_equal(np.asarray(result), 1)


def test_what_was_learned_holds_for_one_configuration(converter):
    jitted, _ = make()
    jitted(1.0)
    own = rt.swap_context_key("other")
    try:
        jitted(1.0)
        assert len(converter) == 2
    finally:
        rt.swap_context_key(own)


def test_the_configuration_is_part_of_the_key(vector):
    jitted, calls = make()
    jitted(vector())
    own = rt.swap_context_key(("x64", True))
    try:
        jitted(vector())
        assert calls[-1][2].context == ("x64", True)
        assert rt.swap_context_key(("x64", len("a") == 1)) == ("x64", True)
        jitted(vector())
    finally:
        rt.swap_context_key(own)
    jitted(vector())
    assert len(calls) == 2
    with pytest.raises(TypeError):
        rt.set_context_key([])


def test_the_context_and_the_trace_belong_to_the_thread(vector):
    common = rt.context_key()
    own, trace = rt.swap_context_key("mine"), rt.swap_trace("tracing")
    seen = []
    try:
        thread = threading.Thread(target=lambda: seen.append((rt.context_key(), rt.current_trace())))
        thread.start()
        thread.join()
        assert (rt.context_key(), rt.current_trace()) == ("mine", "tracing")
    finally:
        rt.swap_context_key(own)
        rt.swap_trace(trace)
    assert seen == [(common, None)]


def test_tracers_and_traces_go_to_traced(vector):
    class Tracer:
        pass

    class Special(Tracer):
        pass

    before = rt.set_tracer_type(Tracer)
    try:
        jitted, calls = make()
        tracer, x = Special(), vector()
        word, args, kwargs = jitted(x, [tracer], k=1)
        assert (word, kwargs) == ("traced", {"k": 1})
        assert args[0] is x
        assert args[1][0] is tracer
        trace = rt.swap_trace(object())
        try:
            assert jitted(x)[0] == "traced"
        finally:
            rt.swap_trace(trace)
        assert not calls
        assert shares(jitted(x)[0], x)
    finally:
        rt.set_tracer_type(before)


def test_it_is_a_function(vector):
    @functools.partial(rt.JitFunction, miss=Recorder(), traced=None)
    def documented(x: int, *, scale: float = 1.0):
        """Says what it does."""

    assert documented.__name__ == "documented"
    assert documented.__doc__ == "Says what it does."
    assert inspect.signature(documented) == inspect.signature(documented.__wrapped__)
    documented.attribute = 3
    assert documented.attribute == 3
    assert weakref.ref(documented)() is documented
    assert callable(documented)
    assert "documented" in repr(documented)


def test_it_binds_as_a_method(vector):
    class Model:
        @functools.partial(rt.JitFunction, miss=Recorder(), traced=None, static_argnums=(0,))
        def apply(self, x):
            pass

    x = vector()
    model = Model()
    assert shares(model.apply(x)[0], x)
    assert shares(Model.apply(model, x)[0], x)
    assert Model.apply.cache_size() == 1


def test_clear_cache(vector):
    jitted, calls = make()
    jitted(vector())
    jitted.clear_cache()
    assert jitted.cache_size() == 0
    jitted(vector())
    assert len(calls) == 2


def test_a_miss_that_fails_is_not_cached(vector):
    def miss(args, kwargs, key):
        raise KeyError("not today")

    jitted = rt.JitFunction(lambda x: x, miss, None)
    with pytest.raises(KeyError, match="not today"):
        jitted(vector())
    assert jitted.cache_size() == 0
    assert jitted.last_miss.avals == (VECTOR,)


def test_what_a_miss_returns_is_checked(vector):
    with pytest.raises(TypeError, match="neither a CompiledCall nor callable"):
        rt.JitFunction(lambda x: x, lambda *args: 3, None)(vector())
    call = rt.CompiledCall(None, (), (("arg", 3),), (), LEAF)
    with pytest.raises(ValueError, match="more leaves"):
        rt.JitFunction(lambda x: x, lambda *args: call, None)(vector())
    with pytest.raises(TypeError, match="4 are needed"):
        call(vector())
    with pytest.raises(TypeError, match="leaf 0 is not an Array"):
        call(1, 2, 3, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"executable": 3}, "not an Executable"),
        ({"executable": None}, "results without an executable"),
        ({"outputs": (("result", 1),)}, "does not have"),
        ({"outputs": (("const", 3),)}, "not an Array"),
        ({"outputs": (("other", 3),)}, "neither"),
        ({"outputs": ()}, "another number of leaves"),
        ({"outputs": (3,)}, "not a pair"),
        ({"out_avals": (3,)}, "concrete ShapedArrays"),
        ({"out_tree": 3}, "not a PyTreeDef"),
        ({"consts": (3,)}, "must be Arrays"),
        ({"in_used": [0]}, "must be tuples"),
        ({"in_used": (-1,)}, "negative"),
    ],
)
def test_compiled_call_checks_its_parts(load, change, message):
    parts = {
        "executable": load("add_one"),
        "in_used": (0,),
        "outputs": (("result", 0),),
        "out_avals": (VECTOR,),
        "out_tree": LEAF,
    }
    rt.CompiledCall(**parts)
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        rt.CompiledCall(**{**parts, **change})


def test_nested_calls_of_itself_while_compiling(vector):
    depth = []

    def miss(args, kwargs, key):
        depth.append(len(key.avals))
        if len(args) < 4:
            jitted(*args, args[0])
        return Recorder()(args, kwargs, key)

    jitted = rt.JitFunction(lambda *x: x, miss, None)
    jitted(vector())
    assert depth == [1, 2, 3, 4]
    assert jitted.cache_size() == 4


def test_comparisons_that_change_the_cache(vector):
    class Static:
        def __init__(self, value):
            self.value = value

        def __hash__(self):
            return 1

        def __eq__(self, other):
            jitted.clear_cache()
            return self.value == other.value

    jitted, calls = make(static_argnums=(1,))
    for value in (1, 2, 1, 2):
        jitted(vector(), Static(value))
    assert len(calls) >= 2


def cyclic(x):
    """A weak reference to a jitted function that only its own function references."""

    def fun(x):
        return jitted

    jitted, _ = make(fun)
    jitted(x)
    return weakref.ref(jitted)


def test_cycles_are_collected(vector):
    reference = cyclic(vector())
    gc.collect()
    assert reference() is None


def test_memory_is_steady(load, vector, converter):
    call = rt.CompiledCall(load("add_one"), (0,), (("result", 0),), (VECTOR,), LEAF)
    jitted = rt.JitFunction(lambda x, y: x, lambda args, kwargs, key: call, None)
    x = vector()
    jitted(x, {"a": 1.0})
    gc.collect()
    before = rt.memory_stats(), rt.live_arrays()
    for _ in range(1000):
        jitted(x, {"a": 1.0})
    assert (rt.memory_stats(), rt.live_arrays()) == before
