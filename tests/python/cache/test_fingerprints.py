"""The digest of a graph covers all data of its code: all parameters that emission reads, and all differences."""

import os
import subprocess
import sys

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import kernel, lax
from pycompiler._compiler import ir
from pycompiler.cache import fingerprint as module
from pycompiler.cache.fingerprint import UnkeepableError, fingerprint_of
from pycompiler.compile import emit
from pycompiler.core.tracing.graph import ClosedGraph, Equation, Graph, Var
from pycompiler.core.types.aval import ShapedArray
from pycompiler.experimental import io_callback
from pycompiler.primitives import PRIMITIVES, TYPE_PARAMS
from pycompiler.primitives.control.host_calls import host_calls
from pycompiler.primitives.formulas import FORMULAS

ONES = np.ones((3, 3), np.float32)


def graph_of(fun, *args):
    return pc.make_jaxpr(fun)(*args).graph


def digest(fun, *args):
    return fingerprint_of(graph_of(fun, *args)).digest


class Recording(dict):
    """Parameters that record their reads."""

    def __init__(self, params):
        super().__init__(params)
        self.read = set()

    def __getitem__(self, name):
        self.read.add(name)
        return super().__getitem__(name)

    def items(self):
        for name in self:
            yield name, self[name]


def recorded(graph, found):
    """Replace the parameters of each equation of a graph, and of inner graphs, by recording ones."""
    for equation in graph.equations:
        if not isinstance(equation.params, Recording):
            equation.params = Recording(equation.params)
            found.append(equation)
            for value in dict(equation.params).values():
                for part in value if isinstance(value, tuple) else (value,):
                    if isinstance(part, ClosedGraph):
                        recorded(part.graph, found)
    return found


@pc.custom_jvp
def clipped(x):
    return pnp.clip(x, 0, 1)


clipped.defjvp(lambda primals, tangents: (clipped(*primals), tangents[0]))


def everything(x):
    """A program with each form of emission."""
    x = pc.jit(lambda x: pnp.sin(x))(x) + clipped(x)
    x = pc.checkpoint(lambda x: pnp.cos(x))(x)
    x = lax.while_loop(lambda c: c.sum() < 3, lambda c: c + x, x)
    x, ys = lax.scan(lambda c, y: (c * 2, y + 1), x, x, reverse=True)
    x = lax.cond(x.sum() > 0, lambda x: x + 1, lambda x: -x, x)
    x = x + pc.pure_callback(np.abs, x, x) + io_callback(np.abs, x, x, ordered=True)
    pc.debug.print("{}", x)
    x = lax.custom_linear_solve(lambda v: v * 2, x, lambda matvec, b: b / 2, symmetric=True)
    x = lax.custom_root(lambda v: v - x, x, lambda f, guess: guess, lambda g, y: y)
    x = kernel.kernel_call(lambda x, o: o.set(x[...] * 2), pc.ShapeDtypeStruct(x.shape, x.dtype))(x)
    return pc.device_put(x), ys.astype("int32"), pnp.argmax(x, axis=1)


def test_what_emission_reads_is_in_the_digest(monkeypatch):
    graph = graph_of(everything, ONES)
    equations = recorded(graph, [])
    # Formulas are of primitives without parameters.
    assert {*module.READ} >= {*emit._FORMS} - {*FORMULAS} - {
        # All parameters of the call are read; no code is made of the others.
        *(primitive for primitive in emit._FORMS if primitive.name in ("jit", "shard_map", "custom_lin", "take_first"))
    }
    emit.emit(graph, ir.Context())
    read = [equation.params.read for equation in equations]
    for equation in equations:
        equation.params.read = set()
    fingerprint_of(graph)
    seen = {equation.primitive.name for equation in equations}
    assert {"jit", "while", "scan", "cond", "custom_jvp_call", "checkpoint", "pure_callback", "io_callback"} <= seen
    assert {"custom_linear_solve", "custom_root"} <= seen
    for equation, names in zip(equations, read, strict=True):
        assert names - TYPE_PARAMS <= equation.params.read, equation.primitive.name


def changed(value):
    """Another value of the same kind; None for values that are not plain."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, np.dtype):
        return np.dtype(np.int16)
    if isinstance(value, tuple):
        return (*value[:-1], changed(value[-1])) if value else (1,)
    return None


@pytest.mark.parametrize("name", sorted(PRIMITIVES))
def test_every_parameter_of_every_primitive_is_in_the_digest(name):
    primitive = PRIMITIVES[name]

    def of(avals, params):
        inferred = primitive.shape_rule(*avals, **params)
        return built(avals, params, inferred if primitive.multiple_results else (inferred,))

    def built(avals, params, outs):
        inputs, outputs = [Var(aval) for aval in avals], [Var(aval) for aval in outs]
        return fingerprint_of(Graph((), inputs, outputs, [Equation(primitive, inputs, params, outputs, None)])).digest

    found = {}
    for sample in primitive.sampler(np.random.default_rng(0)):
        avals = tuple(ShapedArray(x.shape, x.dtype) for x in sample.args)
        said = (avals, tuple((name, repr(value)) for name, value in sample.params.items()))
        own = of(avals, sample.params)
        # Other shapes and parameters give another digest, equal ones the same.
        assert found.setdefault(own, said) == said
        outs = primitive.shape_rule(*avals, **sample.params)
        outs = outs if primitive.multiple_results else (outs,)
        for param, value in sample.params.items():
            other = changed(value)
            if other is not None and param in module.READ.get(primitive, sample.params) and param not in TYPE_PARAMS:
                assert built(avals, {**sample.params, param: other}, outs) != own, param
        wider = [ShapedArray((*aval.shape, 1), aval.dtype) for aval in outs]
        assert built(avals, sample.params, wider) != own


def test_a_loop_and_its_bodies_are_in_the_digest():
    def loop(step, length=3, reverse=False):
        return digest(lambda x: lax.scan(step, x, None, length=length, reverse=reverse)[0], ONES)

    def plus(c, _):
        return c + 1, None

    def minus(c, _):
        return c - 1, None

    one = loop(plus)
    assert len({one, loop(plus, 4), loop(plus, 3, True), loop(minus)}) == 4
    assert loop(plus) == one
    branches = [lambda x: x + 1, lambda x: x * 2]
    there, back = (
        digest(lambda x, chosen=chosen: lax.cond(True, *chosen, x), ONES) for chosen in (branches, branches[::-1])
    )
    assert there != back


def test_literals_are_in_the_digest_bit_by_bit():
    values = [0.0, -0.0, 1.0, float("nan"), 1e-45, np.float32(1.5), np.float32(2.5), 2]
    assert len({digest(lambda x, value=value: x * value, ONES) for value in values}) == len(values)
    # Constants are arguments of the code.
    assert digest(lambda x: x + ONES, ONES) == digest(lambda x: x + 2 * ONES, ONES)
    assert digest(lambda x: x + ONES, ONES) != digest(lambda x: x + ONES[0], ONES)


def test_which_values_are_meant_is_in_the_digest():
    programs = [
        lambda x, y: x - y,
        lambda x, y: y - x,
        lambda x, y: x - x,
        lambda x, y: (x - y, y),
        lambda x, y: (y, x - y),
        lambda x, y: pnp.sin(x) - y,
        lambda x, y: pc.jit(lambda x: pnp.sin(x))(x) - y,
    ]
    assert len({digest(program, ONES, ONES) for program in programs}) == len(programs)
    assert digest(programs[0], ONES, ONES) != digest(programs[0], ONES[0], ONES[0])
    assert digest(programs[0], ONES, ONES) != digest(programs[0], ONES.astype("int32"), ONES.astype("int32"))


def test_one_graph_called_twice_is_not_two_graphs():
    f, g = (pc.jit(lambda x: pnp.sin(x)) for _ in range(2))
    twice, both = digest(lambda x: f(f(x)), ONES), digest(lambda x: f(g(x)), ONES)
    assert twice != both
    assert twice == digest(lambda x: g(g(x)), ONES)


def test_effects_and_their_order_are_in_the_digest():
    def printing(ordered):
        def f(x):
            pc.debug.print("{}", x, ordered=ordered)
            return x + 1

        return digest(f, ONES)

    assert printing(True) != printing(False)


def test_the_slots_of_calls_of_the_host_are_in_the_digest():
    def solving(matvec):
        def f(x):
            y = lax.custom_linear_solve(matvec, x, lambda matvec, b: b / 2, symmetric=True)
            return pc.pure_callback(np.abs, y, y)

        return graph_of(f, ONES)

    plain, calling = solving(lambda v: v * 2), solving(lambda v: pc.pure_callback(np.abs, v, v))
    # Of a solver, emission reads the computation of the solution, not the product that it inverts.
    assert [len(host_calls(graph)) for graph in (plain, calling)] == [1, 2]
    assert fingerprint_of(plain).digest != fingerprint_of(calling).digest


def test_lines_are_numbers_and_which_are_one_line_is_in_the_digest():
    def traced(text):
        scope = {"pnp": pnp}
        exec(compile(text, "model.py", "exec"), scope)
        return fingerprint_of(graph_of(scope["f"], ONES))

    first = traced("def f(x):\n  y = pnp.sin(x)\n  return y * 2")
    moved = traced("\n\n\ndef f(x):\n  y = pnp.sin(x)\n\n  return y * 2")
    joined = traced("def f(x):\n  y = pnp.sin(x); return y * 2")
    assert first.digest == moved.digest != joined.digest
    assert first.places == ("model.py:2", "model.py:3")
    assert moved.places == ("model.py:5", "model.py:7")
    assert joined.places == ("model.py:2",)


def test_the_lines_are_those_of_emission():
    graph = graph_of(everything, ONES)
    found = set()

    def look(graph):
        for equation in graph.equations:
            if equation.source:
                found.add(f"{equation.source.file}:{equation.source.line}")
            for name in module.READ.get(equation.primitive, equation.params):
                value = equation.params[name]
                for part in value if isinstance(value, tuple) else (value,):
                    if isinstance(part, ClosedGraph):
                        look(part.graph)

    look(graph)
    assert set(fingerprint_of(graph).places) - {""} == found


PROGRAM = """
import pycompiler as pc, pycompiler.numpy as pnp, numpy as np
from pycompiler.cache.fingerprint import fingerprint_of
def loss(w, x):
    for _ in range(3):
        x = pc.nn.gelu(x @ w["a"] + w["b"])
    return pc.lax.fori_loop(0, 3, lambda i, c: c * 2, x).sum()
w = {"a": np.ones((4, 4), np.float32), "b": np.ones(4, np.float32)}
print(fingerprint_of(pc.make_jaxpr(pc.value_and_grad(loss))(w, np.ones((2, 4), np.float32)).graph).digest.hex())
"""


def test_it_is_the_same_in_every_process_and_trace():
    said = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        said.add(subprocess.check_output([sys.executable, "-c", PROGRAM], env=environment, text=True))
    assert len(said) == 1
    assert digest(everything, ONES) == digest(everything, ONES)


def test_what_means_nothing_elsewhere_has_none():
    var = Var(ShapedArray((3,), np.dtype(np.float32)))
    bad = Equation(PRIMITIVES["sin"], [var], {"accuracy": object()}, [var], None)
    with pytest.raises(UnkeepableError, match="a parameter of type object"):
        fingerprint_of(Graph((), [var], [var], [bad]))
