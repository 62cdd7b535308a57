"""The cost of tracing, differentiating and lowering, in function calls: the count does not depend on the machine."""

import sys
import warnings

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.compile.output_views import find_output_views
from pycompiler.core.hooks import hooks


def calls_of(function):
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def lowered(length):
    def chain(x):
        for _ in range(length):
            x = pnp.sin(x) * 1.01
        return x

    return pc.jit(pc.grad(chain)).lower(1.0).compiler_ir()


@pytest.mark.parametrize(("has_types", "most"), [(False, 600), (True, 612)])
def test_calls_for_an_operation_are_few_and_as_many_in_a_long_program(has_types, most, monkeypatch):
    """Also after a program of this process had types with shardings: from then on, each operation is asked for them."""
    monkeypatch.setattr(hooks, "typing", hooks.type_results if has_types else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lowered(10)  # loads the compiler, meets each kind of operation
        short, long = (calls_of(lambda length=length: lowered(length)) for length in (100, 1100))
    # An operation and its number of calls: traced, linearized, transposed, pruned, emitted. The first count was 489.
    each = (long - short) / 1000
    assert each < most
    assert short < 100 * each + 5000


def test_calls_for_a_parameter_do_not_depend_on_how_many_there_are():
    def traced(count):
        params = {f"layer {i}": pnp.ones(3) for i in range(count)}
        pc.jit(pc.grad(lambda params: sum(p.sum() for p in params.values()))).trace(params)

    traced(10)
    calls = [calls_of(lambda count=count: traced(count)) for count in (50, 150, 250)]
    assert calls[2] - calls[1] < 1.2 * (calls[1] - calls[0])


def test_views_are_looked_for_in_one_pass_over_the_graph():
    class Equations(tuple):
        passes = 0

        def __iter__(self):
            Equations.passes += 1
            return super().__iter__()

    graph = pc.make_jaxpr(lambda xs: [x.reshape(8, 1000) for x in xs] + [xs[0] * 2])([pnp.ones(8000)] * 20).graph
    graph.equations = Equations(graph.equations)
    assert list(find_output_views(graph).values()) == [(i, 0) for i in range(20)]
    assert Equations.passes == 1
