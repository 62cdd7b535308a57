"""Documented behaviour of `jit`: tracing once, caching by signature, static arguments, errors, inspection."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors


def test_side_effects_run_once_and_the_first_global_stays(capsys):
    y = 0

    def impure(x):
        print("Inside:", y)
        return x + y

    f = pc.jit(impure)
    results = []
    for x in range(3):
        results.append(int(f(x)))
        y = x + 1
    assert results == [0, 1, 2]
    assert capsys.readouterr().out == "Inside: 0\n"


def test_a_tracer_says_what_it_is_and_which_transformation_made_it(capsys):
    def func(x):
        print(x)
        return pnp.cos(x)

    f = pc.jit(func)
    assert float(f(0.0)) == 1.0
    assert float(f(0.0)) == 1.0
    assert capsys.readouterr().out == "Traced<float32[]>with<jit>\n"
    pc.jit(func)(pnp.ones(3))
    assert capsys.readouterr().out == "Traced<float32[3]>with<jit>\n"


def test_a_debug_print_prints_at_every_execution_and_a_print_once(capsys):
    @pc.jit
    def f(x):
        pc.debug.print("Printing value of {arr} during execution", arr=x)
        print("traced")
        return x + 1

    for x in range(3):
        assert int(f(x)) == x + 1
    pc.effects_barrier()
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("traced") == 1
    # Without `ordered`, any order is right.
    assert sorted(lines)[:3] == [f"Printing value of {x} during execution" for x in range(3)]

    @pc.jit
    def g(x):
        pc.debug.print("{}", x, ordered=True)
        pc.debug.print("{}", x + 0.5, ordered=True)

    for x in range(20):
        g(float(x))
    pc.effects_barrier()
    assert capsys.readouterr().out.split() == [str(x / 2) for x in range(40)]


def test_compiled_code_is_kept_by_shape_dtype_and_tree():
    traces = []

    @pc.jit
    def f(x):
        traces.append(x)
        return pc.tree.map(lambda a: a * 2, x)

    for values in ([1, 2, 3], [4, 5], [4, 5, 6, 7], [7, 8, 9], [1, 2]):
        np.testing.assert_array_equal(f(pnp.array(values)), np.array(values) * 2)
    assert len(traces) == 3
    f(pnp.array([1.0, 2.0, 3.0]))
    assert len(traces) == 4
    f([pnp.array([1, 2, 3])])
    assert len(traces) == 5
    assert f.cache_size() == 5


def test_explain_last_miss_says_in_one_line_what_differed():
    f = pc.jit(lambda x: x + 1)
    f(pnp.array([1, 2, 3]))
    assert "first time" in f.explain_last_miss()
    f(pnp.array([1, 2]))
    said = f.explain_last_miss()
    assert "\n" not in said
    assert "shape" in said
    assert "3" in said
    assert "2" in said
    f(pnp.array([1.0, 2.0]))
    assert "dtype" in f.explain_last_miss()


def test_static_arguments():
    @pc.jit
    def plain(n, x):
        return x * n

    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    f = pc.jit(power, static_argnums=1)
    assert float(f(2.0, 5)) == 32.0
    assert float(f(2.0, n=3)) == 8.0
    g = pc.jit(power, static_argnames="n")
    assert float(g(3.0, 2)) == 9.0
    assert float(plain(2, 3.0)) == 6.0
    with pytest.raises(ValueError, match="static") as caught:
        pc.jit(lambda x, n: x, static_argnums=1)(1.0, [1, 2])
    assert "hashable" in str(caught.value)


def divide(x, y):
    return x / y if y >= 1.0 else 0.0


def test_a_branch_on_a_traced_value_is_an_error_that_names_the_argument_and_the_line():
    with pytest.raises(errors.ConcretizationTypeError) as caught:
        pc.jit(divide)(3.0, 2.0)
    message = str(caught.value)
    assert caught.type is errors.TracerBoolConversionError
    assert "'y'" in message
    assert "test_jit.py" in message
    assert "return x / y if y >= 1.0 else 0.0" in message
    assert float(pc.jit(divide, static_argnums=1)(3.0, 2.0)) == 1.5
    assert float(pc.grad(divide)(3.0, 2.0)) == 0.5


def test_assignment_to_an_element_shows_what_to_write():
    x = pnp.array([0, 0, 0])
    with pytest.raises(TypeError, match=r"x = x\.at\[2\]\.set\(1\)"):
        x[2] = 1
    with pytest.raises(TypeError, match=r"x = x\.at\[2\]\.set\(1\)"):
        pc.jit(lambda x: x.__setitem__(2, 1))(x)
    assert str(x.at[2].set(1)) == "[0 0 1]"
    assert str(pc.jit(lambda x: x.at[2].add(5))(x)) == "[0 0 5]"


def test_where_selects():
    x, y = pnp.array([1, 2, 3]), pnp.array([1, 0, 0])
    assert str(pnp.where(y == 1, x, 10)) == "[ 1 10 10]"


def test_a_leaked_tracer_names_its_maker_and_line():
    kept = []

    @pc.jit
    def leaky(x):
        kept.append(x * 2)
        return x

    leaky(1.0)
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        _ = kept[0] + 1
    assert "leaky" in str(caught.value)
    assert "test_jit.py" in str(caught.value)


def test_stages_can_be_read():
    x = pnp.ones((8, 8))
    lowered = pc.jit(lambda x: (x * 2 + 1).sum()).lower(x)
    assert "array.reduce_sum" in lowered.as_text()
    assert "linalg.generic" in lowered.as_text("linalg")
    assert "memref" in lowered.as_text("bufferized")
    assert "vector" in lowered.as_text("loops")
    assert "llvm.func" in lowered.as_text("llvm")
    assert "pcrt_main" in lowered.as_text("asm")
    with pytest.raises(ValueError, match="stages are"):
        lowered.as_text("wasm")
    compiled = lowered.compile()
    assert float(compiled(x)) == 192.0
    assert compiled.cost_analysis()["flops"] > 64
    assert compiled.memory_analysis().argument_size_in_bytes == 256
    with pytest.raises(TypeError, match=r"f32\[8,8\]"):
        compiled(pnp.ones((4, 4)))


def test_the_graph_prints():
    assert str(pc.make_jaxpr(lambda x: pnp.sin(x) * 2)(pnp.ones(3))).startswith("{ lambda ; a:f32[3]. let")


def test_a_long_python_loop_gives_a_warning_with_the_line():
    def f(x):
        for _ in range(1001):
            x = pnp.sin(x)
        return x

    with pytest.warns(UserWarning, match="test_jit.py"):
        pc.make_jaxpr(f)(1.0)


def test_outputs_that_need_no_computation():
    x, y = pnp.arange(3), pnp.ones(2)
    a, b, c, d = pc.jit(lambda x, y: (x, y, 3, x))(x, y)
    np.testing.assert_array_equal(a, [0, 1, 2])
    np.testing.assert_array_equal(b, [1, 1])
    assert int(c) == 3
    np.testing.assert_array_equal(d, [0, 1, 2])


def test_constants_of_a_closure_and_nested_calls():
    table = pnp.arange(1000.0)
    inner = pc.jit(lambda x: x + table)

    @pc.jit
    def outer(x):
        return inner(x) + inner(x * 2)

    np.testing.assert_allclose(outer(pnp.ones(1000)), 3 + 2 * np.arange(1000.0))
    text = outer.lower(pnp.ones(1000)).as_text()
    assert text.count("array.call") == 2
    assert text.count("func.func private") == 1
    grads = pc.grad(lambda x: outer(x).sum())(pnp.ones(1000))
    np.testing.assert_allclose(grads, np.full(1000, 3.0))
