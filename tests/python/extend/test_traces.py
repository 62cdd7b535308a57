"""Traces: what runs innermost, and traces that users define."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.extend import core, tracing
from pycompiler.interpreters import ad, partial_eval


class Counted(tracing.Tracer):
    def __init__(self, trace, value):
        super().__init__(trace)
        self.value = value

    @property
    def aval(self):
        return tracing.get_aval(self.value)


class Counting(tracing.Trace):
    """Computes each operation under the trace outside of it, and notes its name."""

    def __init__(self, parent):
        super().__init__()
        self.parent = parent
        self.names = []

    def process_primitive(self, primitive, tracers, params):
        self.names.append(primitive.name)
        values = [x.value if isinstance(x, Counted) else x for x in tracers]
        with tracing.set_current_trace(self.parent):
            out = primitive.bind(*values, **params)
        if primitive.multiple_results:
            return [Counted(self, x) for x in out]
        return Counted(self, out)


def names_of_operations(f):
    def run(*args):
        with tracing.take_current_trace() as parent:
            trace = Counting(parent)
            with tracing.set_current_trace(trace):
                out = f(*[Counted(trace, x) for x in args])
        return out.value, trace.names

    return run


def test_a_users_trace():
    def f(x):
        return pnp.sin(x) + pc.jit(pnp.cos)(x) * pnp.ones(3)

    x = np.float32([1, 2, 3])
    value, names = names_of_operations(f)(x)
    np.testing.assert_allclose(value, np.sin(x) + np.cos(x), rtol=1e-6)
    assert names == ["sin", "jit", "broadcast_in_dim", "mul", "add"]
    within = pc.jit(lambda x: names_of_operations(f)(x)[0])
    np.testing.assert_allclose(within(x), value, rtol=1e-6)
    slope = pc.grad(lambda x: names_of_operations(pnp.sin)(x)[0])
    np.testing.assert_allclose(slope(1.0), np.cos(1), rtol=1e-6)
    np.testing.assert_allclose(pc.vmap(lambda x: names_of_operations(pnp.sin)(x)[0])(x), np.sin(x), rtol=1e-6)


def test_a_trace_without_a_rule_is_told():
    class Silent(tracing.Trace):
        pass

    with pytest.raises(NotImplementedError, match="Silent does not define process_primitive"):
        pnp.sin(Counted(Silent(), 1.0))


def test_the_innermost_trace_tells_transformations_apart():
    outside = core.get_opaque_trace_state()
    seen = {}

    def note(name):
        def f(x):
            seen[name] = (core.get_opaque_trace_state(), core.find_top_trace((x,)))
            assert core.get_opaque_trace_state() == core.get_opaque_trace_state()
            return x * 1.0

        return f

    pc.jit(note("jit"))(1.0)
    pc.vmap(note("vmap"))(pnp.ones(2))
    pc.grad(note("grad"))(1.0)
    pc.jvp(note("jvp"), (1.0,), (1.0,))
    pc.make_jaxpr(pc.vmap(note("traced vmap")))(pnp.ones(2))
    lax.scan(lambda c, x: (note("scan")(c), None), 1.0, pnp.ones(2))
    states = [outside, *[state for state, _ in seen.values()]]
    assert all(one != other for i, one in enumerate(states) for other in states[:i])
    assert core.get_opaque_trace_state() == outside
    assert isinstance(seen["jvp"][1], ad.JVPTrace)
    note("nothing")(1.0)
    assert seen["nothing"][0] == outside


def test_what_runs():
    answers = {}

    def note(name):
        def f(x):
            jit = core.unsafe_am_i_under_a_jit_DO_NOT_USE()
            vmap = core.unsafe_am_i_under_a_vmap_DO_NOT_USE()
            answers[name] = jit, vmap, core.unsafe_get_axis_names_DO_NOT_USE(), isinstance(x, tracing.Tracer)
            return x

        return f

    note("nothing")(1.0)
    pc.jit(note("jit"))(1.0)
    pc.vmap(note("vmap"), axis_name="i")(pnp.ones(2))
    pc.vmap(pc.jit(note("jit in vmap")))(pnp.ones(2))
    assert answers == {
        "nothing": (False, False, [], False),
        "jit": (True, False, [], True),
        "vmap": (False, True, ["i"], True),
        "jit in vmap": (True, True, [], True),
    }
    with tracing.eval_context():
        assert not core.unsafe_am_i_under_a_jit_DO_NOT_USE()


def test_values_at_once_while_a_function_is_traced():
    @pc.jit
    def f(x):
        assert isinstance(pnp.ones(2) + 1, tracing.Tracer)
        with tracing.eval_context():
            assert not isinstance(pnp.ones(2) + 1, tracing.Tracer)
        with tracing.take_current_trace() as trace:
            assert not isinstance(pnp.ones(2) + 1, tracing.Tracer)
            with tracing.set_current_trace(trace):
                assert isinstance(pnp.ones(2) + 1, partial_eval.DynamicJaxprTracer)
        return x

    assert f(1.0) == 1


def test_concrete_or_error():
    assert core.concrete_or_error(int, np.float32(3)) == 3
    assert pc.grad(lambda x: core.concrete_or_error(None, x) * x)(3.0) == 3

    @pc.jit
    def f(x):
        return core.concrete_or_error(int, x, "It is a size.")

    with pytest.raises(pc.errors.ConcretizationTypeError, match="It is a size"):
        f(3)
    assert core.valid_jaxtype(1.0)
    assert not core.valid_jaxtype("text")
    assert tracing.is_constant_shape((2, 3))
    assert (tracing.max_dim(2, 3), tracing.min_dim(2, 3)) == (3, 2)
    assert core.primal_dtype_to_tangent_dtype(np.dtype("int32")) == pc.float0
