"""Random small programs over the table of primitives, for tests that hold for every program."""

import numpy as np
from hypothesis import strategies as st

from pycompiler.core.aval import get_aval
from pycompiler.core.call import call_graph
from pycompiler.core.record import make_graph
from pycompiler.core.trace import Origin
from pycompiler.ops import PRIMITIVES as P

SHAPE = (2, 3)
_UNARY = ("sin", "cos", "tanh", "exp", "neg", "logistic", "abs")
_BINARY = ("add", "sub", "mul", "max")


def _transposed_twice(x):
    return P["transpose"].bind(P["transpose"].bind(x, permutation=(1, 0)), permutation=(1, 0))


def _centered(x):
    total = P["reduce_sum"].bind(x, axes=(1,))
    spread = P["broadcast_in_dim"].bind(total, shape=SHAPE, broadcast_dimensions=(0,))
    return P["sub"].bind(x, P["mul"].bind(spread, _full(0.3)))


def _contracted(x):
    square = {"lhs_contracting": (1,), "rhs_contracting": (1,), "lhs_batch": (), "rhs_batch": ()}
    gram = P["dot_general"].bind(x, x, **square, preferred_element_type=get_aval(x).dtype)
    back = {"lhs_contracting": (1,), "rhs_contracting": (0,), "lhs_batch": (), "rhs_batch": ()}
    return P["tanh"].bind(P["dot_general"].bind(gram, x, **back, preferred_element_type=get_aval(x).dtype))


def _selected(x):
    return P["select"].bind(P["gt"].bind(x, _full(0.1)), P["sin"].bind(x), P["mul"].bind(x, x))


def _reshaped(x):
    flat = P["reshape"].bind(x, new_sizes=(6,))
    return P["reshape"].bind(P["reverse"].bind(flat, dimensions=(0,)), new_sizes=SHAPE)


def _sliced(x):
    part = P["slice"].bind(x, start_indices=(0, 1), limit_indices=(2, 3), strides=(1, 1))
    first = P["slice"].bind(x, start_indices=(0, 0), limit_indices=(2, 1), strides=(1, 1))
    return P["concatenate"].bind(part, first, dimension=1)


def _full(value):
    return P["broadcast_in_dim"].bind(np.float64(value), shape=SHAPE, broadcast_dimensions=())


_WHOLE = (_transposed_twice, _centered, _contracted, _selected, _reshaped, _sliced)


def called(fun):
    """`fun` behind a nested call, as `jit` makes it."""

    def call(*xs):
        graph = make_graph(lambda *ys: [fun(*ys)], [get_aval(x) for x in xs], Origin("jit", fun))
        return call_graph(graph, "program", xs)[0]

    return call


@st.composite
def programs(draw):
    """A function of two arrays of SHAPE, of which parts may be nested calls."""
    steps = draw(
        st.lists(
            st.one_of(
                st.tuples(st.sampled_from(_UNARY), st.integers(0, 9)),
                st.tuples(st.sampled_from(_BINARY), st.integers(0, 9), st.integers(0, 9)),
                st.tuples(st.sampled_from(_WHOLE), st.integers(0, 9)),
                st.tuples(st.sampled_from([called(_centered), called(_selected)]), st.integers(0, 9)),
            ),
            min_size=1,
            max_size=6,
        )
    )

    def program(x, y):
        values = [x, y]
        for operation, *places in steps:
            args = [values[-1 - place % len(values)] for place in places]
            values.append(operation(*args) if callable(operation) else P[operation].bind(*args))
        # Bounded, so that chains of exp stay finite.
        return P["sin"].bind(values[-1])

    return called(program) if draw(st.booleans()) else program


def arrays():
    """Arrays of SHAPE away from the kinks of the programs' steps."""
    return st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).uniform(-1.5, 1.5, SHAPE))
