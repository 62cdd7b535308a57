"""Mutable arrays in jitted functions: as arguments, closed over, made inside; ahead of time; errors."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def held(ref):
    return np.asarray(ref[...])


def add_and_read(ref, x):
    ref[...] += x
    ref[0] += 1
    ref[1] += 5
    return ref[...] * 2


def test_an_argument_is_written():
    f = pc.jit(add_and_read)
    for ref in (pc.new_ref(pnp.zeros(3)), pc.new_ref(pnp.ones(3))):
        before = held(ref)
        for n in range(1, 4):
            np.testing.assert_array_equal(f(ref, 1.0), 2 * (before + np.array([2, 6, 1]) * n))
            np.testing.assert_array_equal(held(ref), before + np.array([2, 6, 1]) * n)


def test_a_closed_over_one_is_written_by_compiled_code():
    ref, traces = pc.new_ref(pnp.zeros(3)), []

    @pc.jit
    def f(x):
        traces.append(x)
        return add_and_read(ref, x)

    for n in range(1, 4):
        np.testing.assert_array_equal(f(1.0), 2.0 * n * np.array([2, 6, 1]))
    ref[...] = pnp.ones(3)
    np.testing.assert_array_equal(f(0.0), [4, 12, 2])
    assert len(traces) == 1


def test_one_trace_serves_all_references_of_a_type():
    traces = []

    @pc.jit
    def f(refs, scale):
        traces.append(scale)
        refs["a"][...] = refs["b"][...] * scale
        return refs["a"][...].sum()

    for n in range(3):
        refs = {"a": pc.new_ref(pnp.zeros(2)), "b": pc.new_ref(pnp.full(2, float(n)))}
        assert f(refs, 3.0) == 6 * n
        np.testing.assert_array_equal(held(refs["a"]), [3 * n, 3 * n])
        np.testing.assert_array_equal(held(refs["b"]), [n, n])
    assert len(traces) == 1


def test_a_reference_and_an_array_are_different_arguments():
    f = pc.jit(lambda x: x[...] * 2)
    assert f(pnp.float32(2)) == 4
    assert f(pc.new_ref(2.0)) == 4


def test_made_inside():
    @pc.jit
    def f(x):
        ref = pc.new_ref(x)
        for i in range(3):
            ref[i] += ref[(i + 1) % 3]
        return pc.freeze(ref)

    np.testing.assert_array_equal(f(pnp.arange(3.0)), [1, 3, 3])
    np.testing.assert_array_equal(f(np.arange(3, 6)), [7, 9, 12])


def test_nested_functions_write_the_references_of_the_outer_one():
    outer = pc.new_ref(pnp.zeros(2))

    @pc.jit
    def add(ref, x):
        ref[...] += x

    @pc.jit
    def f(x, given):
        inner = pc.new_ref(x)
        add(inner, 1.0)
        pc.jit(lambda: add(inner, 2.0))()
        add(given, inner[...])
        add(outer, given[...])
        return inner[...]

    given = pc.new_ref(pnp.ones(2))
    for n in range(1, 3):
        np.testing.assert_array_equal(f(pnp.zeros(2), given), [3, 3])
        np.testing.assert_array_equal(held(given), [1 + 3 * n] * 2)
    np.testing.assert_array_equal(held(outer), [4 + 7] * 2)


def test_static_and_keyword_arguments():
    @pc.jit(static_argnames="how")
    def f(how, *, ref):
        ref[...] = ref[...] * 2 if how == "double" else ref[...] + 1

    ref = pc.new_ref(3.0)
    f("double", ref=ref)
    f("next", ref=ref)
    assert held(ref) == 7


def test_the_memory_is_updated_in_place():
    ref = pc.new_ref(pnp.zeros(1 << 16))
    f = pc.jit(lambda ref, i: ref.set(1.0, i))
    f(ref, 3)
    address = ref.unsafe_buffer_pointer()
    ref.owned = True  # as before the address was asked for, which is a read
    f(ref, 5)
    assert ref.unsafe_buffer_pointer() == address
    assert np.flatnonzero(held(ref)).tolist() == [3, 5]
    # What was read stays.
    y = ref[...]
    f(ref, 7)
    assert np.flatnonzero(y).tolist() == [3, 5]


def test_donated_arguments_beside_references():
    ref = pc.new_ref(pnp.zeros(3))
    x = pnp.ones(3)

    def f(x, ref):
        ref[...] += x
        return x * 2

    np.testing.assert_array_equal(pc.jit(f, donate_argnums=0)(x, ref), [2, 2, 2])
    assert x.is_deleted()
    np.testing.assert_array_equal(held(ref), [1, 1, 1])


def test_ahead_of_time():
    ref = pc.new_ref(pnp.zeros(3))
    compiled = pc.jit(add_and_read).lower(ref, 1.0).compile()
    for n in range(1, 3):
        np.testing.assert_array_equal(compiled(ref, 1.0), 2.0 * n * np.array([2, 6, 1]))
    np.testing.assert_array_equal(held(ref), [4, 12, 2])
    closed = pc.jit(lambda x: add_and_read(ref, x)).lower(1.0).compile()
    np.testing.assert_array_equal(closed(0.0), [10, 34, 4])
    described = pc.jit(add_and_read).lower(pc.ShapeDtypeStruct((3,), "float32", is_ref=True), 1.0).compile()
    described(ref, 0.0)
    np.testing.assert_array_equal(held(ref), [6, 22, 2])
    assert pc.eval_shape(add_and_read, ref, 1.0) == pc.ShapeDtypeStruct((3,), "float32")
    np.testing.assert_array_equal(held(ref), [6, 22, 2])


def test_the_graph_is_pure():
    ref = pc.new_ref(pnp.zeros(3))
    graph = pc.make_jaxpr(lambda x: ref.addupdate(x))(pnp.ones(3))
    assert repr(graph) == "{ lambda ; a:f32[3] b:f32[3]. let c:f32[3] = add b a in (c,) }"
    np.testing.assert_array_equal(held(ref), [0, 0, 0])


def test_checks_of_results_see_the_program():
    ref = pc.new_ref(pnp.zeros(3))
    with pc.debug_nans(True), pytest.raises(FloatingPointError):
        pc.jit(lambda x: ref.set(pnp.log(x)))(pnp.full(3, -1.0)).block_until_ready()
    pc.jit(lambda x: ref.set(pnp.log(x)))(pnp.ones(3))
    np.testing.assert_array_equal(held(ref), [0, 0, 0])


def test_without_compilation():
    ref = pc.new_ref(pnp.zeros(3))
    with pc.disable_jit():
        np.testing.assert_array_equal(pc.jit(add_and_read)(ref, 1.0), [4, 12, 2])
    np.testing.assert_array_equal(held(ref), [2, 6, 1])


REF = pc.new_ref(pnp.zeros(3))


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (
            lambda: pc.jit(lambda x_ref: x_ref)(REF),
            r"traced for jit returned a mutable.*passed in as the argument x_ref",
        ),
        (lambda: pc.jit(pc.new_ref)(pnp.ones(3)), r"traced for jit returned a mutable.*was created on line"),
        (lambda: pc.jit(lambda: {"hi": REF})(), r"at output\['hi'\].*was created on line"),
        (lambda: pc.jit(lambda x, y: x[...])(REF, REF), "appeared at both x and y"),
        (lambda: pc.jit(lambda x: x["a"][...])({"a": REF, "b": [REF]}), r"appeared at both x\['a'\] and x\['b'\]\[0\]"),
        (lambda: pc.jit(lambda y: REF[...] + y[...])(REF), "closed over and passed as the argument y"),
        (lambda: pc.jit(lambda x: pc.jit(lambda a, b: a[...])(x, x))(REF), "appeared at both a and b"),
        (lambda: pc.export.export(pc.jit(lambda: REF[...]))(), "reference"),
    ],
)
def test_errors(run, text):
    with pytest.raises((ValueError, TypeError), match=f"(?s){text}"):
        run()
    np.testing.assert_array_equal(held(REF), [0, 0, 0])


def test_a_reference_that_leaks_says_so():
    kept = []

    @pc.jit
    def f(x):
        kept.append(pc.new_ref(x))

    f(1.0)
    with pytest.raises(pc.errors.UnexpectedTracerError, match="used after that call has ended"):
        kept[0][...]
