"""Documented behaviour of tracing: the transformations that see values, and errors about traced values."""

import gc
import os
import traceback

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors, lax


def ternary(x, y):
    return x if y > 0 else -x


def counts(n):
    return sum(range(n))


def ones(x, n):
    return pnp.ones(n) * x


def entry(x, n):
    return ["zero", "one"][n] and x


def host(x):
    return np.sin(x)


def masked(x):
    return x[x > 0]


def shaped(x, n):
    return x.reshape(n, -1)


def number(x):
    return float(x)


def places(x):
    return pnp.nonzero(x)


def numbers(n):
    return pnp.arange(n)


X = np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("kind", "function", "args", "line", "name", "advice"),
    [
        (errors.TracerBoolConversionError, ternary, (1.0, 2.0), "return x if y > 0 else -x", "y", "`where`"),
        (errors.TracerIntegerConversionError, counts, (3,), "return sum(range(n))", "n", "static_argnums"),
        (errors.TracerIntegerConversionError, ones, (1.0, 3), "return pnp.ones(n) * x", "n", "static_argnums"),
        (errors.TracerIntegerConversionError, entry, (1.0, 1), '["zero", "one"][n]', "n", "static_argnums"),
        (errors.TracerIntegerConversionError, shaped, (X, 2), "x.reshape(n, -1)", "n", "static_argnums"),
        (errors.TracerArrayConversionError, host, (X,), "return np.sin(x)", "x", "pycompiler.numpy"),
        (errors.NonConcreteBooleanIndexError, masked, (X,), "return x[x > 0]", "x", "where(mask, x, y)"),
        (errors.ConcretizationTypeError, number, (1.0,), "return float(x)", "x", ".astype(float)"),
        (errors.ConcretizationTypeError, places, (X,), "return pnp.nonzero(x)", "x", "size="),
        (errors.ConcretizationTypeError, numbers, (3,), "return pnp.arange(n)", "n", "static_argnums"),
    ],
)
def test_a_value_that_is_not_there(kind, function, args, line, name, advice):
    with pytest.raises(errors.ConcretizationTypeError) as caught:
        pc.jit(function)(*args)
    assert caught.type is kind
    message = str(caught.value)
    first, shown, marks, *rest, pointer = message.splitlines()
    assert first.startswith(__file__)
    assert function.__name__ in first
    assert line in shown
    assert set(marks) == {" ", "^"}
    assert f"'{name}'" in "\n".join(rest)
    assert advice in rest[-1]
    assert "What to do" in rest[-1]
    assert pointer == f"Explained by: python -m pycompiler.errors {kind.__name__}"
    # Only the user's frames, with the faulty one last.
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert all(frame.filename == __file__ for frame in frames)
    assert frames[-1].name == function.__name__


def test_the_error_names_the_leaf_of_a_tree():
    with pytest.raises(errors.TracerBoolConversionError, match=r"'params\['w'\]'"):
        pc.jit(lambda params: 1.0 if params["w"] > 0 else params["b"])({"w": 1.0, "b": 2.0})


def test_static_arguments_are_values():
    assert float(pc.jit(ternary, static_argnums=1)(1.0, 2.0)) == 1.0
    assert pc.jit(ones, static_argnames="n")(1.0, n=3).shape == (3,)


# The transformations that trace abstract values.


def sees_values(x):
    return (x * 2 if x > 0 else -x).sum()


def transformed(name):
    return {
        "jit": lambda f: pc.jit(f),
        "vmap": lambda f: lambda x: pc.vmap(f)(pnp.stack([x, x])),
        "make_jaxpr": lambda f: pc.make_jaxpr(f),
        "fori_loop": lambda f: lambda x: lax.fori_loop(0, 3, lambda i, c: f(c), x),
        "while_loop": lambda f: lambda x: lax.while_loop(lambda c: c < 9, lambda c: f(c), x),
        "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2),
        "cond": lambda f: lambda x: lax.cond(True, f, f, x),
        "jit of grad": lambda f: pc.jit(pc.grad(f)),
        "vmap of grad": lambda f: lambda x: pc.vmap(pc.grad(f))(pnp.stack([x, x])),
        "grad of jit": lambda f: pc.grad(pc.jit(f)),
    }[name]


@pytest.mark.parametrize(
    "name", ["jit", "vmap", "make_jaxpr", "fori_loop", "while_loop", "jit of grad", "vmap of grad", "grad of jit"]
)
def test_abstract_values(name):
    with pytest.raises(errors.TracerBoolConversionError):
        transformed(name)(sees_values)(pnp.float32(1.0))


@pytest.mark.parametrize("name", ["scan", "cond"])
def test_abstract_values_in_branches_and_scans(name):
    with pytest.raises(errors.TracerBoolConversionError):
        transformed(name)(sees_values)(pnp.float32(1.0))


def test_concrete_values():
    assert float(pc.grad(sees_values)(1.0)) == 2.0
    assert float(pc.grad(sees_values)(-1.0)) == -1.0
    value, tangent = pc.jvp(sees_values, (1.0,), (1.0,))
    assert (float(value), float(tangent)) == (2.0, 2.0)
    printed = []
    pc.grad(lambda x: (printed.append(float(x)), x * x)[1])(3.0)
    assert printed == [3.0]


# Nans and compositions.


def my_log(x):
    return pnp.where(x > 0, pnp.log(x), 0.0)


def safe_for_grad_log(x):
    return pnp.where(x > 0, pnp.log(pnp.where(x > 0, x, 1.0)), 0.0)


def test_the_gradient_of_what_is_not_taken():
    assert np.isnan(float(pc.grad(my_log)(0.0)))
    assert float(pc.grad(safe_for_grad_log)(0.0)) == 0.0
    with pc.debug_nans(), pytest.raises(FloatingPointError) as caught:
        pc.grad(my_log)(0.0)
    message = str(caught.value)
    assert "return pnp.where(x > 0, pnp.log(x), 0.0)" in message
    assert "div" in message
    assert "backward pass" in message


def test_transformations_compose_in_any_order():
    def f(x):
        return pnp.sin(x) * x

    def derivative(x):
        return pnp.cos(x) * x + pnp.sin(x)

    def by_jvp(g):
        return lambda x: pc.jvp(g, (x,), (pnp.ones_like(x),))[1]

    def by_vjp(g):
        return lambda x: pc.vjp(g, x)[1](pnp.ones_like(x))[0]

    x = pnp.array([0.5, 1.0, 2.0])
    wanted = np.asarray(derivative(x))
    for derive in (pc.grad, pc.jacfwd, pc.jacrev, by_jvp, by_vjp):
        for wrapped in (
            pc.vmap(derive(f)),
            pc.jit(pc.vmap(derive(f))),
            pc.vmap(pc.jit(derive(f))),
            pc.vmap(derive(pc.jit(f))),
        ):
            np.testing.assert_allclose(wrapped(x), wanted, rtol=1e-5)
    second = 2 * np.cos(np.asarray(x)) - np.asarray(x) * np.sin(np.asarray(x))
    for derive in (
        pc.hessian,
        lambda g: pc.grad(pc.grad(g)),
        lambda g: pc.jacfwd(pc.jacrev(g)),
        lambda g: by_jvp(pc.grad(g)),
    ):
        np.testing.assert_allclose(pc.jit(pc.vmap(derive(f)))(x), second, rtol=1e-4)


# Leaks.


def test_a_leaked_value_is_no_missing_one():
    kept = []

    def leaky(x):
        kept.append(x * 2)
        return x

    for transform in (pc.jit(leaky), pc.grad(leaky), lambda x: pc.vmap(leaky)(pnp.stack([x, x]))):
        transform(pnp.float32(1.0))
        for use in (lambda x: x + 1, lambda x: pc.jit(lambda y: x + y)(1.0)):
            with pytest.raises(errors.UnexpectedTracerError) as caught:
                use(kept[-1])
            message = str(caught.value)
            assert "leaky" in message
            assert "test_tracing_rules.py:" in message
            assert "return the value from the function" in message
    pc.jit(leaky)(pnp.ones(7))
    with pytest.raises(errors.UnexpectedTracerError, match=r"made at .*test_tracing_rules.py:\d+ \(leaky\)"):
        kept[-1] + 1
    for convert in (float, bool, np.asarray):
        with pytest.raises(errors.UnexpectedTracerError):
            convert(kept[0])


held = []


def leak_globally(x):
    held.append(x)
    return x


def test_checking_leaks_names_what_holds_a_tracer():
    gc.unfreeze()  # what is frozen (conftest.py) is no referrer that the collector names
    with pc.checking_leaks():
        assert float(pc.jit(lambda x: pnp.sin(x) + pc.jit(pnp.cos)(x))(0.0)) == 1.0
        assert float(pc.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, x))(2.0)) == 16.0
        np.testing.assert_array_equal(pc.vmap(pc.grad(lambda x: x * x))(pnp.ones(2)), [2, 2])
        assert float(pc.grad(lambda x: lax.scan(lambda c, _: (c * x, None), x, None, length=2)[0])(1.0)) == 3.0
        rule = pc.custom_vjp(lambda x: x * x)
        rule.defvjp(lambda x: (x * x, x), lambda x, ct: (3 * x * ct,))
        assert float(pc.jit(pc.grad(rule))(2.0)) == float(pc.grad(rule)(2.0)) == 6.0
        assert float(pc.grad(pc.checkpoint(lambda x: pnp.sin(x)))(0.0)) == 1.0
        for transform in (pc.jit, pc.grad, lambda f: lambda x: pc.vmap(f)(pnp.stack([x, x]))):
            with pytest.raises(errors.UnexpectedTracerError) as caught:
                transform(leak_globally)(pnp.float32(1.0))
            message = str(caught.value)
            assert "leak_globally" in message
            assert "the global held of test_tracing_rules" in message
            held.clear()

    kept = {}

    def leaky(x):
        kept["x"] = x + 1
        return x

    jitted = pc.jit(leaky)
    jitted(1.0)
    with (
        pc.checking_leaks(),
        pytest.raises(errors.UnexpectedTracerError, match=r"variable kept that .*leaky closes over"),
    ):
        jitted(1.0)


def test_an_attribute_that_holds_a_tracer():
    class Model:
        def __call__(self, x):
            self.last = x
            return x

    model = Model()
    with pc.checking_leaks(), pytest.raises(errors.UnexpectedTracerError, match="the attribute last of a Model"):
        pc.jit(lambda x: model(x))(1.0)


# Reading values and types.


def test_typeof():
    assert str(pc.typeof(pnp.ones((2, 3), pnp.float16))) == "f16[2,3]"
    assert pc.typeof(1.0).weak_type
    seen = []
    pc.jit(lambda x: (seen.append(pc.typeof(x)), x)[1])(pnp.ones(3, pnp.int32))
    assert (seen[0].shape, seen[0].dtype) == ((3,), np.int32)
    with pytest.raises(TypeError, match="typeof: takes an array or a scalar"):
        pc.typeof("text")


def test_ensure_compile_time_eval():
    @pc.jit
    def f(x):
        with pc.ensure_compile_time_eval():
            total = pnp.arange(4).sum()
            if total > 5:
                return pnp.full(int(total), x)
        return x

    np.testing.assert_array_equal(f(2.0), np.full(6, 2.0))
    with pytest.raises(errors.TracerBoolConversionError):
        pc.jit(lambda x: x if pnp.arange(4).sum() > 5 else -x)(1.0)


def test_print_environment_info(capsys):
    with pc.debug_nans():
        text = pc.print_environment_info(return_string=True)
    assert "debug_nans=True" in text
    assert np.__version__ in text
    # Settings that the tests change.
    with pc.config.override("compilation_cache_dir", None):
        assert pc.print_environment_info() is None
    changed = "PYCOMPILER_PLATFORM" in os.environ  # set by the caller of the tests
    assert ("as by default" in capsys.readouterr().out) is not changed


def test_named_scopes_are_part_of_a_place():
    def f(x):
        with pc.named_scope("outer"), pc.named_scope("inner"):
            y = pnp.log(x)
        return y + 1

    with pc.debug_nans(), pytest.raises(FloatingPointError, match=r"\(f, in outer/inner\)"):
        pc.jit(f)(-1.0)
    with pc.debug_nans(), pytest.raises(FloatingPointError, match=r"in the_root\)"):
        pc.named_call(lambda x: pnp.sqrt(x), name="the_root")(-1.0)

    @pc.named_scope("decorated")
    def branching(x):
        return x if x > 0 else -x

    with pytest.raises(errors.TracerBoolConversionError, match="in decorated"):
        pc.jit(branching)(1.0)
    assert float(pc.named_call(branching)(2.0)) == 2.0
    with pytest.raises(TypeError, match="named_scope"):
        pc.named_scope(3)


def test_the_precision_of_products_by_default():
    a = pnp.ones((2, 3), pnp.bfloat16)
    wanted = pc.jit(lambda a: lax.dot(a, a.T, precision="BF16_BF16_F32")).lower(a).as_text()
    f = pc.jit(lambda a: lax.dot(a, a.T))
    plain = f.lower(a).as_text()
    with pc.default_matmul_precision("BF16_BF16_F32"):
        assert f.lower(a).as_text() == wanted != plain
        np.testing.assert_array_equal(f(a).astype(np.float32), np.full((2, 2), 3.0))
    with pytest.raises(ValueError, match="default_matmul_precision must be 'default'"):
        pc.default_matmul_precision("exact").__enter__()


def test_a_tracer_in_garbage_that_is_a_cycle_is_no_leak():
    class Holder:
        pass

    def square(x):
        holder = Holder()
        holder.itself, holder.value = holder, x
        return x * x

    with pc.checking_leaks():
        y, pull = pc.vjp(square, pnp.ones(2))
        np.testing.assert_array_equal(pull(y)[0], [2, 2])
