"""`checkify`: the failures of a function as a value, beside jax's, in every transformation."""

from functools import partial

import jax
import numpy as np
import pytest
from jax.experimental import checkify as jax_checkify

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import checkify
from pycompiler.sharding import PartitionSpec as P


def programs(pc, pnp, lax, checkify):
    """name -> (function, arguments). The function may fail in one place at a time."""

    def positive(x):
        checkify.check(x > 0, "{x} and {} are not positive", 2 * x, x=x)
        return pnp.log(x)

    def total(x):
        checkify.check(pnp.all(x > 0), "of {}", x)
        return x.sum()

    def scanned(x):
        def body(carry, row):
            checkify.check(row > carry, "{} after {}", row, carry)
            return row, carry * row

        return lax.scan(body, pnp.float32(0), x)

    def looped(n):
        def cond(state):
            checkify.check(state[1] < 40, "condition: {}", state[1])
            return state[0] < n

        def body(state):
            checkify.check(state[1] != 16, "body: {}", state[1])
            return state[0] + 1, state[1] * 2

        return lax.while_loop(cond, body, (pnp.int32(0), pnp.int32(1)))

    def counted(n):
        def body(i, x):
            checkify.check(i < 3, "number {}", i)
            return x / (i - 1)

        return lax.fori_loop(0, n, body, pnp.float32(1))

    def chosen(x):
        def left(x):
            checkify.check(x < 5, "left {}", x)
            return 1 / (x - 2)

        def right(x):
            checkify.check(x > -5, "right {} {}", x, x.astype(pnp.int32))
            return pnp.sqrt(x + 3)

        return lax.cond(x > 0, left, right, x)

    def switched(i):
        branches = [lambda x, k=k: checkify.check(x < 0, f"branch {k}: {{}}", x) for k in range(3)]
        lax.switch(i, branches, i)
        return i

    def nested(x):
        @pc.jit
        def inner(x):
            checkify.check(x < 2, "inner {}", x)
            return x * 2

        return inner(inner(x))

    @pc.custom_jvp
    def clever(x):
        checkify.check(x > 0, "clever {}", x)
        return pnp.log(x)

    clever.defjvp(lambda primals, tangents: (pnp.log(*primals), tangents[0] / primals[0]))

    @pc.custom_vjp
    def backwards(x):
        checkify.check(x > 0, "backwards {}", x)
        return pnp.log(x)

    backwards.defvjp(lambda x: (pnp.log(x), x), lambda x, ct: (ct / x,))

    def recomputed(x):
        return pc.checkpoint(lambda x: pnp.log(positive(x)))(x)

    def twice(x):
        err, out = checkify.checkify(positive)(x)
        checkify.check_error(err)
        return out

    def at_loop(x):
        _, ys = lax.scan(lambda carry, _: (carry + 1, x[carry]), 1, None, length=3)
        return ys

    f32 = np.float32
    return {
        "check": (positive, [f32(1), f32(-1)]),
        "check of an array": (total, [np.ones(3, f32), np.arange(3, dtype=f32)]),
        "scan": (scanned, [np.array([1, 2, 3], f32), np.array([1, 3, 2], f32)]),
        "while": (looped, [np.int32(2), np.int32(5), np.int32(6)]),
        "fori": (counted, [np.int32(1), np.int32(2), np.int32(5)]),
        "cond": (chosen, [f32(1), f32(2), f32(7), f32(-3), f32(-4), f32(-7)]),
        "switch": (switched, [np.int32(0), np.int32(1), np.int32(2)]),
        "jit": (nested, [f32(0.5), f32(1), f32(3)]),
        "custom_jvp": (clever, [f32(1), f32(0)]),
        "custom_vjp": (backwards, [f32(1), f32(0)]),
        "checkpoint": (recomputed, [f32(2), f32(0), f32(0.5)]),
        "check_error": (twice, [f32(2), f32(0)]),
        "grad": (pc.grad(positive), [f32(2), f32(0)]),
        "jvp": (lambda x: pc.jvp(positive, (x,), (x,)), [f32(2), f32(0)]),
        "index": (lambda i: pnp.arange(4.0)[i], [np.int32(3), np.int32(4), np.int32(-4), np.int32(-5)]),
        "index of a row": (lambda i: pnp.ones((2, 3))[1, i], [np.int32(2), np.int32(3)]),
        "static index": (lambda x: x[5], [np.ones(6, f32), np.ones(3, f32)]),
        "indices": (lambda i: pnp.ones((4, 5))[i, i + 1], [np.array(x, np.int32) for x in ([0, 3], [1, 4], [3, 9])]),
        "update": (lambda i: pnp.ones((2, 3)).at[i].add(1.0), [np.int32(1), np.int32(2)]),
        "slice": (lambda i: lax.dynamic_slice(pnp.ones((4, 2)), (i, 0), (2, 1)), [np.int32(2), np.int32(3)]),
        "updated slice": (
            lambda i: lax.dynamic_update_slice(pnp.ones(4), pnp.zeros(2), (i,)),
            [np.int32(2), np.int32(3)],
        ),
        "index in a scan": (at_loop, [np.ones(4, f32), np.ones(3, f32)]),
        "division": (lambda x: 1 / x, [f32(1), f32(0)]),
        "division of integers": (lambda x: pnp.int32(7) // x, [np.int32(2), np.int32(0)]),
        "nan": (lambda x: pnp.sin(x) + 1, [f32(1), f32(np.inf)]),
        "nan of a matmul": (lambda x: x @ x, [np.ones((2, 2), f32), np.array([[0, np.inf], [0, 0]], f32)]),
    }


PROGRAMS = programs(pc, pnp, lax, checkify)
REFERENCES = programs(jax, jax.numpy, jax.lax, jax_checkify)


def close(ours, theirs):
    for a, b in zip(pc.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_failures_and_results_are_those_of_jax(name):
    function, arguments = PROGRAMS[name]
    reference = jax.jit(jax_checkify.checkify(REFERENCES[name][0], errors=jax_checkify.all_checks))
    checked = checkify.checkify(function, errors=checkify.all_checks)
    compiled = pc.jit(checked)
    inside = checkify.checkify(pc.jit(function), errors=checkify.all_checks)
    for argument in arguments:
        err, out = reference(argument)
        for form in (checked, compiled, inside):
            given, result = form(argument)
            assert given.get() == err.get()
            close(result, out)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("while", "fori")])
def test_mapped_failures_are_those_of_jax(name):
    function, arguments = PROGRAMS[name]
    arguments = np.stack([a for a in arguments if a.shape == arguments[0].shape])
    expected = jax.vmap(jax_checkify.checkify(REFERENCES[name][0], errors=jax_checkify.all_checks))(arguments)
    checked = checkify.checkify(function, errors=checkify.all_checks)
    err, out = pc.jit(pc.vmap(checked))(arguments)
    assert err.get() == expected[0].get()
    close(out, expected[1])


def test_the_first_argument_that_fails_in_a_mapped_loop():
    function, arguments = PROGRAMS["while"]
    err, _ = pc.vmap(checkify.checkify(function))(np.array(arguments))
    assert err.get() == "at mapped index 1: body: 16 (`check` failed)\nat mapped index 2: body: 16 (`check` failed)"


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        (checkify.user_checks, "must be negative (`check` failed)"),
        (checkify.div_checks, "division by zero"),
        (checkify.nan_checks, "nan generated by primitive: sin."),
        (checkify.index_checks, "out-of-bounds indexing for array of shape (2,): index 500"),
        (checkify.float_checks, "division by zero"),
        (checkify.automatic_checks, "division by zero"),
        (checkify.all_checks, "must be negative"),
        (frozenset(), None),
    ],
)
def test_kinds_of_failures(errors, text):
    def several(x):
        checkify.check(pnp.all(x < 0), "must be negative")
        return pnp.sin(x / 0)[500]

    err, _ = checkify.checkify(several, errors=errors)(pnp.ones(2))
    assert err.get() is None if text is None else err.get().startswith(text)


# Mapped programs inside: only members that take part can fail. jax refuses the loop, and checks all members of a cond.


def test_members_of_a_loop_that_have_ended_do_not_fail():
    def body(x):
        checkify.check(x < 5, "{} is not below 5", x)
        return x + 1

    err, out = checkify.checkify(pc.vmap(lambda x: lax.while_loop(lambda x: x < 5, body, x)))(pnp.arange(7))
    assert err.get() is None
    np.testing.assert_array_equal(out, [5, 5, 5, 5, 5, 5, 6])


def test_members_that_do_not_take_a_branch_do_not_fail():
    def left(x):
        checkify.check(x < 3, "{} is too large", x)
        return 2 * x

    checked = checkify.checkify(pc.vmap(lambda x: lax.cond(x > 0, left, lambda x: x, x)))
    assert checked(pnp.array([1.0, -7.0, 2.0]))[0].get() is None
    assert checked(pnp.array([-1.0, 7.0, 2.0]))[0].get() == "7.0 is too large (`check` failed)"


def test_derivatives_of_checked_functions():
    checked = checkify.checkify(PROGRAMS["custom_vjp"][0], errors=checkify.all_checks)
    for form in (checked, pc.jit(checked)):
        gradient, err = pc.grad(lambda x: form(x)[::-1], has_aux=True)(2.0)  # noqa: B023
        assert (float(gradient), err.get()) == (0.5, None)
    scanned = checkify.checkify(PROGRAMS["scan"][0])
    gradient, err = pc.grad(lambda x: scanned(x)[1][1].sum(), has_aux=False)(pnp.array([1.0, 3.0, 2.0])), None
    np.testing.assert_array_equal(gradient, [3, 3, 3])


def test_checks_of_devices():
    count = min(4, len(pc.devices()))
    mesh = pc.make_mesh((count,), ("x",))

    @partial(pc.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def local(x):
        checkify.check(x[0] > 0, "{} on device {}", x[0], lax.axis_index("x"))
        return 1 / x

    x = np.ones(2 * count, np.float32)
    checked = checkify.checkify(local, errors=checkify.all_checks)
    assert checked(x)[0].get() is None
    x[-1] = 0
    assert checked(x)[0].get() == f"at mapped index {count - 1}: division by zero"
    x[0] = -3
    err, out = pc.jit(checked)(x)
    assert err.get().startswith("at mapped index 0: -3.0 on device 0 (`check` failed)")
    np.testing.assert_array_equal(out[:-1], 1 / x[:-1])
    with pytest.raises(checkify.JaxRuntimeError, match="on device 0"):
        err.throw()


def test_a_check_after_those_of_devices():
    mesh = pc.make_mesh((1,), ("x",))

    @partial(pc.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    def local(x):
        checkify.check(x[0] > 0, "{} first", x[0])
        return x

    def later(x):
        y = local(x)
        checkify.check(y[1] > 0, "{} second", y[1])
        return y

    checked = checkify.checkify(later)
    for form in (checked, pc.jit(checked)):
        found = [form(np.array(x, np.float32))[0].get() for x in ([1, 2], [-1, -2], [1, -2])]
        assert found == [
            None,
            "at mapped index 0: -1.0 first (`check` failed)",
            "at mapped index 0: -2.0 second (`check` failed)",
        ]


# Raising.


def test_outside_of_checkify_a_check_raises_at_once():
    checkify.check(True, "never")
    checkify.check(pnp.array(True), "never")
    with pytest.raises(checkify.JaxRuntimeError, match=r"^x is 3 .`check` failed.\n.*test_checkify.py:\d+"):
        checkify.check(False, "x is {x}", x=pnp.int32(3))
    with pytest.raises(ValueError, match="x is 2"):
        pc.vmap(lambda x: checkify.check(x < 2, "x is {}", x))(pnp.arange(4))
    with pytest.raises(ValueError, match="x is 2"):
        pc.grad(lambda x: checkify.check(x < 2, "x is {}", x) or x)(2.5)


@pytest.mark.parametrize("form", [pc.jit, lambda f: lambda x: lax.map(f, pnp.array([x]))])
def test_compiled_code_refuses_a_check(form):
    def checked(x):
        checkify.check(x > 0, "no")
        return x

    with pytest.raises(ValueError, match=r'test_checkify.py:\d+(.|\n)*check\(x > 0, "no"\)(.|\n)*not functionalized'):
        form(checked)(1.0)
    assert pc.eval_shape(checked, 1.0).shape == ()


def test_checks_for_debugging_do_nothing_elsewhere():
    def f(x):
        checkify.debug_check(x > 0, "{} fails", pnp.asarray(x))
        checkify.check(x > 0, "{} fails, too", pnp.asarray(x), debug=True)
        return x

    assert f(-1.0) == pc.jit(f)(-1.0) == pc.grad(f)(-1.0) - 2 == -1
    np.testing.assert_array_equal(pc.jit(pc.vmap(f))(pnp.array([-1.0, 1.0])), [-1, 1])
    assert checkify.checkify(f)(-1.0)[0].get() == "-1.0 fails (`check` failed)"
    assert checkify.checkify(f, errors={})(-1.0)[0].get() is None


def test_the_error_is_a_tree():
    err, out = checkify.checkify(PROGRAMS["check"][0])(pnp.float32(-2))
    leaves, tree = pc.tree.flatten(err)
    assert all(pc.typeof(leaf).shape == () for leaf in leaves)
    assert tree.unflatten(leaves).get() == err.get() == "-2.0 and -4.0 are not positive (`check` failed)"
    # Through compiled functions, as an argument and as a result.
    assert pc.jit(lambda err: err)(err).get() == err.get()
    assert type(err.get_exception()).__name__ == "FailedCheckError"
    assert checkify.init_error.get() is None
    assert checkify.init_error.get_exception() is None
    checkify.init_error.throw()
    assert str(checkify.init_error) == "Error(None)"
    assert issubclass(checkify.JaxRuntimeError, ValueError)
    assert all(issubclass(kind, Exception) for kind in checkify.all_checks)
    assert checkify.ErrorCategory == type[next(iter(checkify.all_checks)).__base__]
    assert isinstance(err, checkify.Error)
    assert np.isnan(out)


def test_a_compiled_function_is_compiled_once():
    traced = []

    @pc.jit
    def f(x):
        traced.append(x)
        checkify.check(x > 0, "no")
        return x

    checked = checkify.checkify(f)
    assert [checked(x)[0].get() is None for x in (1.0, -1.0, 2.0)] == [True, False, True]
    assert len(traced) == 1


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: checkify.check(pnp.ones(3) > 0, "no"), r"takes a scalar pred as argument, got bool\[3\]"),
        (lambda: checkify.check(1.5, "no"), "takes a scalar pred"),
        (lambda: checkify.check("yes", "no"), "takes a scalar pred as argument, got 'yes' of type str"),
        (lambda: checkify.check(False, "{}", "text"), "Formatting arguments to checkify.check need to be PyTrees"),
        (lambda: checkify.debug_check(False, "{a}", a=3), "Formatting arguments to checkify.debug_check"),
        (lambda: checkify.check(False, 3), "the message must be a str, got 3"),
        (lambda: checkify.check_error("text"), "check_error takes an Error as argument, got type str"),
        (lambda: checkify.checkify(3), "checkify: takes a function"),
        (lambda: checkify.checkify(lambda: "text")(), "checkify: .* returned 'text'"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("run", ["eager", "jit", "loop", "vmap of it", "it of vmap"])
def test_the_first_of_many_positions_outside_is_named(run):
    x = pnp.arange(1000.0)
    place = np.arange(100, dtype=np.int32)
    place[[40, 60]] = [2000, -1500]
    sound = np.arange(100, dtype=np.int32)

    def take(x, i):
        return x[i]

    checked = checkify.checkify(take, errors=checkify.index_checks)
    want = "index 2000 is out of bounds for axis 0 with size 1000"
    if run in ("eager", "jit"):
        f = checked if run == "eager" else pc.jit(checked)
        assert want in f(x, place)[0].get()
        err, out = f(x, sound)
        assert err.get() is None
        np.testing.assert_array_equal(out, np.arange(100.0))
    elif run == "loop":

        def sums(x, i):
            return lax.fori_loop(0, 3, lambda k, c: c + x[i + 950 * (k // 2)].sum(), 0.0)

        f = pc.jit(checkify.checkify(sums, errors=checkify.index_checks))
        assert "index 1000 is out of bounds" in f(x, sound)[0].get()
        assert f(x, sound[:50])[0].get() is None
    else:
        rows = np.stack([sound, place, place[::-1]])
        if run == "vmap of it":
            message = pc.jit(pc.vmap(checked, in_axes=(None, 0)))(x, rows)[0].get()
            assert f"at mapped index 1: out-of-bounds indexing for array of shape (1000,): {want}" in message
            assert "at mapped index 2: out-of-bounds indexing for array of shape (1000,): index -500 is" in message
        else:
            f = checkify.checkify(pc.vmap(take, in_axes=(None, 0)), errors=checkify.index_checks)
            assert want in pc.jit(f)(x, rows)[0].get()
