"""`ffi.ffi_call`: one compiled handler gives the same here and in jax."""

import threading

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import ffi, lax
from pycompiler.errors import ExecutionError, NotDifferentiableError
from pycompiler.experimental.layout import Layout

X = np.array([0.5, -1.5, 2.0], np.float32)
Y = np.array([1.0, 2.0, 0.25], np.float32)


def saxpy(a, x, y, call=ffi.ffi_call, **kwargs):
    return call("Saxpy", jax.ShapeDtypeStruct(x.shape, x.dtype), **kwargs)(x, y, a=np.float32(a))


def described(each, *args, outs=(), **attributes):
    text = each.ffi_call("Describe", (each.ShapeDtypeStruct((500,), np.uint8), *outs))(*args, **attributes)[0]
    return bytes(np.asarray(text)).rstrip(b"\0").decode()


def both(handlers, run):
    """The result here, checked against jax's."""
    found, expected = run(ffi.ffi_call, pc), run(jax.ffi.ffi_call, jax)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    return found


def test_values_eager_and_compiled(handlers):
    for jit in (lambda f: f, pc.jit):
        assert jit(lambda x, y: saxpy(2, x, y))(X, Y).tolist() == (2 * X + Y).tolist()
    both(handlers, lambda call, m: m.jit(lambda x: saxpy(3, x, m.numpy.sin(x), call) + 1)(X))


def test_several_results_and_their_container(handlers):
    one, cube = both(handlers, lambda call, m: call("Powers", [jax.ShapeDtypeStruct((3,), np.float32)] * 2)(X))
    assert cube.tolist() == (X**3).tolist()
    declared = pc.ShapeDtypeStruct((3,), np.float32)
    assert isinstance(ffi.ffi_call("Powers", (declared, declared))(X), tuple)
    assert isinstance(ffi.ffi_call("Powers", [declared, declared])(X), list)
    assert one.dtype == np.float32
    both(handlers, lambda call, m: call("Variadic", [jax.ShapeDtypeStruct((), np.float32)] * 3)(X, Y, 1.0))


@pytest.mark.parametrize(
    "value",
    [
        True, 3, -(2**40), 2.5, "text", b"bytes", "", np.float32(1.5), np.float64(-2), np.int8(-1), np.int16(300),
        np.int32(7), np.uint8(200), np.uint32(2**31), np.bool_(False), np.arange(3), np.array(1.0),
        np.ones((2, 2), np.float32), np.zeros(0, np.int32), np.arange(4, dtype=np.uint8)[::2], {}, {"a": 1, "b": "x"},
    ],
    ids=repr,
)  # fmt: skip
def test_attributes_of_all_kinds_arrive_as_in_jax(handlers, value):
    with pc.enable_x64(True):
        texts = []
        for module in (pc, jax):
            module.clear_caches()  # in jax, equal numbers of different types are one
            each = type(
                "each", (), {"ffi_call": staticmethod(module.ffi.ffi_call), "ShapeDtypeStruct": jax.ShapeDtypeStruct}
            )
            texts.append(described(each, value=value, other=1, Upper=2))
    assert texts[0] == texts[1]
    assert "value=" in texts[0]


def test_attributes_that_jax_does_not_pass(handlers):
    """Dicts in dicts and arrays of small floats: jax 0.10.2 fails on them."""
    each = type("each", (), {"ffi_call": staticmethod(ffi.ffi_call), "ShapeDtypeStruct": pc.ShapeDtypeStruct})
    assert described(each, v={"a": {"b": 1}}).endswith("v={a={b=scalar S64 0100000000000000;};};")
    assert described(each, v={"z": np.int8(2), "a": np.ones(1, np.float32)}).endswith(
        "v={a=array F32 1 0000803f;z=scalar S8 02;};"
    )
    assert described(each, v=np.ones(2, np.float16)).endswith("v=array F16 2 003c003c;")
    assert described(each, v=np.complex64(1j)).endswith("v=scalar C64 000000000000803f;")
    # Equal numbers of different types are different attributes.
    assert described(each, v=True) != described(each, v=1) != described(each, v=1.0)


def test_large_attributes_are_told_apart(handlers):
    """Graphs are found again by their text, in which NumPy shortens arrays."""
    texts = set()
    for i in range(3):
        value = np.zeros(2000, np.uint8)
        value[1000] = i

        def body(_, x, value=value):
            return ffi.ffi_call("Describe", pc.ShapeDtypeStruct((4096,), np.uint8))(v=value)

        texts.add(bytes(np.asarray(lax.fori_loop(0, 2, body, np.zeros(4096, np.uint8)))))
    assert len(texts) == 3


@pytest.mark.parametrize("value", [[1], (1, 2), None, X.dtype, object()], ids=lambda value: type(value).__name__)
def test_other_attributes_are_refused(handlers, value):
    call = ffi.ffi_call("Describe", pc.ShapeDtypeStruct((8,), np.uint8))
    with pytest.raises(TypeError, match="the attribute v is "):
        call(v=value)
    with pytest.raises(TypeError, match="positional arguments"):
        call(v=pnp.ones(2))


def test_element_types_and_dimensions(each):
    names = ["bool_", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "complex64"]
    args = [np.zeros((2, 3), name) for name in names] + [np.zeros((), np.int8), np.zeros((0, 4), np.float32)]
    text = described(each, *args, outs=[each.ShapeDtypeStruct((4, 1), np.float16)])
    assert text.startswith("PRED[2,3,]S8[2,3,]S16[2,3,]S32[2,3,]U8[2,3,]U16[2,3,]U32[2,3,]F16[2,3,]F32[2,3,]C64[2,3,]")
    assert text.strip().endswith("S8[]F32[0,4,]->U8[500,]F16[4,1,]")


def test_small_floats_and_keys(handlers):
    each = type("each", (), {"ffi_call": staticmethod(ffi.ffi_call), "ShapeDtypeStruct": pc.ShapeDtypeStruct})
    assert described(each, pnp.zeros(2, pnp.bfloat16), pnp.zeros(2, pnp.float8_e5m2)).startswith("BF16[2,]F8E5M2[2,]")
    assert described(each, pc.random.key(0)).startswith("U32[2,]")


@pytest.mark.parametrize(
    "method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]
)
def test_vmap_methods(handlers, method):
    xs = np.arange(6, dtype=np.float32).reshape(2, 3)

    def run(call, m):
        def one(x, y):
            given = call("Describe", jax.ShapeDtypeStruct((60,), np.uint8), vmap_method=method)(x, y)
            return given

        return m.jit(m.vmap(one, in_axes=(0, None)))(xs, Y)

    both(handlers, run)
    both(handlers, lambda call, m: m.vmap(lambda x: call(
        "Powers", [jax.ShapeDtypeStruct((3,), np.float32)] * 2, vmap_method=method)(x))(xs))  # fmt: skip


def test_vmap_without_a_method(handlers):
    with pytest.raises(NotImplementedError, match="vmap_method"):
        pc.vmap(lambda x: saxpy(1, x, x))(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match="vmap_method is 'other'"):
        saxpy(1, X, X, vmap_method="other")


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
@pytest.mark.parametrize("layout", [(1, 0), (0, 1), None], ids=str)
def test_layouts(handlers, layout, method):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    shape = jax.ShapeDtypeStruct((2, 3), np.float32)

    def run(call, m, ins, outs):
        return call("InMemory", shape, input_layouts=[ins], output_layouts=outs, vmap_method=method)

    xs = np.stack([x, -x])
    for ins, outs in ((layout, None), (None, layout), (layout, layout)):
        both(handlers, lambda call, m, ins=ins, outs=outs: run(call, m, ins, outs)(x))
        both(handlers, lambda call, m, ins=ins, outs=outs: m.vmap(run(call, m, ins, outs))(xs))
    if layout:
        tiles = ffi.ffi_call("InMemory", shape, input_layouts=[Layout(layout)])(x)
        assert tiles.tolist() == ffi.ffi_call("InMemory", shape, input_layouts=[layout])(x).tolist()
    text = ffi.ffi_call("Describe", pc.ShapeDtypeStruct((40,), np.uint8), input_layouts=[layout])(x)
    assert bytes(np.asarray(text)).startswith(b"F32[2,3,]")


def test_aliases(handlers):
    def run(call, m):
        return m.jit(
            lambda x: call("Increment", jax.ShapeDtypeStruct((3,), np.float32), input_output_aliases={0: 0})(x * 2)
        )(X)

    both(handlers, run)
    x = pnp.asarray(X)
    f = ffi.ffi_call("Increment", x, input_output_aliases={0: 0})
    assert f(x).tolist() == (X + 1).tolist()
    assert x.tolist() == X.tolist()  # the input is still needed
    assert pc.jit(lambda x: (f(x), x, f(f(x))))(x)[2].tolist() == (X + 2).tolist()
    donated = pc.jit(f, donate_argnums=0)
    assert donated(pnp.asarray(X)).tolist() == (X + 1).tolist()
    loop = pc.jit(lambda x: lax.fori_loop(0, 10, lambda _, x: f(x), x))
    assert loop(x).tolist() == (X + 10).tolist()
    with pytest.raises(ExecutionError, match="the input and the output are apart"):
        ffi.ffi_call("Increment", x)(x).tolist()


@pytest.mark.parametrize(
    ("aliases", "shape", "why"),
    [
        ({1: 0}, (3,), "has the input 1, and there is 1 input"),
        ({0: 2}, (3,), "has the output 2"),
        ({0: 0}, (4,), r"the input 0, f32\[3\], and the output 0, f32\[4\]"),
        ({-1: 0}, (3,), "has the input -1"),
    ],
)
def test_wrong_aliases(handlers, aliases, shape, why):
    with pytest.raises(ValueError, match=why):
        ffi.ffi_call("Increment", pc.ShapeDtypeStruct(shape, np.float32), input_output_aliases=aliases)(X)


def test_errors_surface_where_a_result_is_read(handlers):
    def fails(x):
        return ffi.ffi_call("Fail", pc.ShapeDtypeStruct((3,), np.float32))(x, code=np.int32(3), message="why not")

    failed = pc.jit(lambda x: fails(x) + 1)(X)
    assert failed.shape == (3,)
    dependent = failed * 2
    other = pc.jit(fails)(np.abs(X))
    for _ in range(2):
        with pytest.raises(ExecutionError, match=r"INVALID_ARGUMENT: why not"):
            failed.block_until_ready()
    with pytest.raises(ExecutionError, match=r"ffi_call: Fail: INVALID_ARGUMENT: why not[^$]*test_ffi_call.py"):
        np.asarray(dependent)
    assert other.tolist() == np.abs(X).tolist()
    assert pc.jit(fails)(np.abs(X)).tolist() == np.abs(X).tolist()


@pytest.mark.parametrize("code", range(1, 17))
def test_error_codes_have_their_names(handlers, code):
    texts = []
    for call in (ffi.ffi_call, jax.ffi.ffi_call):
        with pytest.raises(RuntimeError) as raised:
            np.asarray(call("Fail", jax.ShapeDtypeStruct((3,), np.float32))(X, code=np.int32(code), message="told"))
        texts.append(str(raised.value))
    assert texts[1].partition(" told")[0] + " told" in texts[0]


def test_an_exception_of_a_handler_is_an_error(each):
    call = each.ffi_call("Fail", each.ShapeDtypeStruct((3,), np.float32))
    with pytest.raises(RuntimeError, match=r"UNKNOWN: .*told"):
        np.asarray(call(X, code=np.int32(0), message="told"))
    np.testing.assert_array_equal(call(np.abs(X), code=np.int32(0), message="told"), np.abs(X))


def test_a_handler_may_throw_any_object(handlers):
    call = ffi.ffi_call("Fail", pc.ShapeDtypeStruct((3,), np.float32))
    with pytest.raises(ExecutionError, match=r"Fail: UNKNOWN: the handler threw an object that is no std::exception"):
        np.asarray(call(X, code=np.int32(-1), message="told"))


def test_wrong_calls_name_what_the_handler_expects(handlers):
    with pytest.raises(ExecutionError, match="Wrong number of arguments: expected 2 but got 1"):
        ffi.ffi_call("Saxpy", pc.ShapeDtypeStruct((3,), np.float32))(X, a=np.float32(1)).block_until_ready()
    with pytest.raises(ExecutionError, match="Saxpy"):
        ffi.ffi_call("Saxpy", pc.ShapeDtypeStruct((3,), np.float32))(X, Y, a=1).block_until_ready()
    with pytest.raises(ExecutionError, match=r"no target 'Missing' is registered.*Saxpy.*register_ffi_target"):
        ffi.ffi_call("Missing", pc.ShapeDtypeStruct((3,), np.float32))(X)
    with pytest.raises(TypeError, match="the argument 0 is 'x'"):
        ffi.ffi_call("Saxpy", pc.ShapeDtypeStruct((3,), np.float32))("x")
    for wrong, place in ((None, 0), ((pc.ShapeDtypeStruct((), np.float32), ()), 1)):
        with pytest.raises(ValueError, match=f"position {place} of result_shape_dtypes"):
            ffi.ffi_call("Saxpy", wrong)
    with pytest.raises(ValueError, match="legacy_backend_config"):
        ffi.ffi_call("Saxpy", pc.ShapeDtypeStruct((), np.float32), legacy_backend_config="x")
    with pytest.raises(ValueError, match="custom_call_api_version is 2"):
        ffi.ffi_call("Saxpy", pc.ShapeDtypeStruct((), np.float32), custom_call_api_version=2)(1.0)


def test_lowering_needs_no_handler(handlers):
    lowered = pc.jit(ffi.ffi_call("Missing", pc.ShapeDtypeStruct((3,), np.float32))).lower(X)
    assert "array.host_call" in lowered.as_text()
    assert "target=" in str(pc.make_jaxpr(ffi.ffi_call("Missing", X))(X))


def test_in_loops_and_branches(handlers):
    def run(call, m):
        def f(x):
            x = m.lax.fori_loop(0, 5, lambda i, x: saxpy(0.5, x, m.numpy.sin(x), call), x)
            x, sums = m.lax.scan(lambda c, y: (saxpy(2, c, y, call), c.sum()), x, np.ones((4, 3), np.float32))
            return m.lax.cond(sums[0] > 0, lambda x: saxpy(1, x, x, call), lambda x: x, x), sums

        return m.jit(f)(X)

    found, expected = run(ffi.ffi_call, pc), run(jax.ffi.ffi_call, jax)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), found, expected)


def test_derivatives_come_from_custom_rules(handlers):
    with pytest.raises(NotDifferentiableError, match=r"Saxpy has no derivative.*custom_vjp"):
        pc.grad(lambda x: saxpy(1, x, x).sum())(X)

    def run(call, m):
        @m.custom_vjp
        def f(x, y):
            return saxpy(2, x, y, call)

        f.defvjp(lambda x, y: (f(x, y), None), lambda _, g: (2 * g, g))

        @m.custom_jvp
        def h(x):
            return saxpy(2, x, x, call)

        h.defjvp(lambda p, t: (h(*p), 3 * t[0]))
        return m.jit(m.grad(lambda x, y: (f(x, y) ** 2).sum(), (0, 1)))(X, Y), m.jvp(h, (X,), (Y,))

    both(handlers, run)


def test_effects(handlers):
    """A call without readers happens only with has_side_effect."""
    before = handlers.callCount()
    for has_side_effect, most in ((False, 0), (True, 1)):
        pc.jit(lambda x, e=has_side_effect: (ffi.ffi_call("Counts", (), has_side_effect=e)(x), x + 1)[1])(X).tolist()
        pc.effects_barrier()
        assert handlers.callCount() - before == most
    pc.jit(lambda x: lax.fori_loop(0, 3, lambda _, x: (ffi.ffi_call("Counts", (), has_side_effect=True)(x), x)[1], x))(
        X
    )
    pc.effects_barrier()
    assert handlers.callCount() - before == 4


def test_state_between_stages(handlers):
    out = pc.ShapeDtypeStruct((1,), np.int32)
    count = pc.jit(lambda: ffi.ffi_call("Count", out, has_side_effect=True)(start=5))
    assert [int(count()[0]) for _ in range(3)] == [5, 6, 7]
    assert handlers.countersAlive() >= 1
    with pytest.raises(ExecutionError, match="INVALID_ARGUMENT: start is negative"):
        ffi.ffi_call("Count", out)(start=-1)
    theirs = jax.jit(lambda: jax.ffi.ffi_call("Count", out, has_side_effect=True)(start=5))
    assert [int(theirs()[0]) for _ in range(3)] == [5, 6, 7]
    alive = handlers.countersAlive()
    del count
    pc.clear_caches()
    import gc

    gc.collect()
    assert handlers.countersAlive() < alive


def test_the_pool_and_futures(handlers):
    x = np.arange(50, dtype=np.float32)
    both(handlers, lambda call, m: call("Pooled", jax.ShapeDtypeStruct((50,), np.float32))(x))
    with pytest.raises(ExecutionError, match="INVALID_ARGUMENT: negative"):
        ffi.ffi_call("Pooled", pc.ShapeDtypeStruct((50,), np.float32))(-x).block_until_ready()
    waits = pc.jit(ffi.ffi_call("Waits", pc.ShapeDtypeStruct((1,), np.float32)))
    many = [waits(np.float32([i])) for i in range(20)]
    assert [float(y[0]) for y in many] == [i + 1 for i in range(20)]


def test_memory_and_numbers_of_the_context(handlers):
    """jax 0.10.2 has no scratch memory on a CPU."""
    assert ffi.ffi_call("Context", pc.ShapeDtypeStruct((2,), np.int32))().tolist() == [0, 1]


def test_a_call_does_not_hold_the_lock_of_python(handlers):
    """The handler waits for Python; a call returns before, and independent calls are in the handler together."""
    handlers.closeGate()
    f = pc.jit(ffi.ffi_call("Gated", pc.ShapeDtypeStruct((1,), np.float32)))
    results = [f(np.float32([i])) for i in range(2)]
    assert not results[0].is_ready()
    handlers.openGate()
    assert [float(y[0]) for y in results] == [0, 1]


def test_from_several_threads(handlers):
    f = pc.jit(lambda x, a: saxpy(2, x, x * a))
    found = {}

    def work(i):
        found[i] = [f(X, float(i + j)).tolist() for j in range(20)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: [(2 * X + X * np.float32(i + j)).tolist() for j in range(20)] for i in range(6)}


def test_registration(handlers):
    ffi.register_ffi_target("Saxpy", ffi.pycapsule(handlers.Saxpy))  # the same again
    ffi.register_ffi_target("Saxpy", ffi.pycapsule(handlers.Fail), platform="CUDA")
    with pytest.raises(ValueError, match="'Saxpy' has another handler for cpu"):
        ffi.register_ffi_target("Saxpy", ffi.pycapsule(handlers.Fail))
    with pytest.raises(TypeError, match="must be a PyCapsule, got 3 of type int"):
        ffi.register_ffi_target("New", 3)
    with pytest.raises(ValueError, match="expected 'execute'"):
        ffi.register_ffi_target("New", {"instantiate": ffi.pycapsule(handlers.Saxpy)})
    with pytest.raises(ValueError, match="api_version is 0"):
        ffi.register_ffi_target("New", ffi.pycapsule(handlers.Saxpy), api_version=0)
    with pytest.raises(TypeError, match="unexpected arguments other"):
        ffi.register_ffi_target("New", ffi.pycapsule(handlers.Saxpy), other=1)
    ffi.register_ffi_target("Saxpy", ffi.pycapsule(handlers.Saxpy), platform="cpu", traits=0)


def test_symbolic_sizes(handlers):
    f = pc.jit(lambda x: saxpy(2, x, x), dynamic="auto")
    for size in (3, 5, 8):
        x = np.arange(size, dtype=np.float32)
        assert f(x).tolist() == (3 * x).tolist()
