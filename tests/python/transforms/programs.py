"""Random small programs over the table of primitives, for tests of properties of all programs.

A program is a chain of steps on arrays of SHAPE. Each step is bounded, so that an error of one step does not multiply
in the next: any number of steps gives numbers between -1.5 and 1.5 with moderate derivatives.
"""

import numpy as np
import pytest
from hypothesis import strategies as st

from pycompiler import lax
from pycompiler import numpy as pnp
from pycompiler.core.autodiff.call import call_graph
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import as_array, get_aval
from pycompiler.jit.jit import jit
from pycompiler.lax.branches import cond, switch
from pycompiler.lax.scans import associative_scan, scan
from pycompiler.primitives import PRIMITIVES as P
from pycompiler.random import uniform
from pycompiler.transforms import checkpoint, custom_jvp, custom_vjp, vmap

SHAPE = (2, 3)
_UNARY = ("sin", "cos", "tanh", "exp", "neg", "logistic", "abs", "erf", "expm1", "square_root", "reciprocal")
_BINARY = ("add", "sub", "mul", "max", "min", "atan2", "div")


def _scalar(x, value):
    """A scalar of the dtype of x."""
    return np.asarray(value, get_aval(x).dtype)[()]


def _full(x, value):
    return P["broadcast_in_dim"].bind(_scalar(x, value), shape=SHAPE, broadcast_dimensions=())


def _square_root(x):
    return P["sqrt"].bind(P["add"].bind(P["mul"].bind(x, x), _full(x, 0.5)))


def _reciprocal(x):
    return P["div"].bind(_full(x, 1), _square_root(x))


def _div(x, y):
    return P["div"].bind(x, _square_root(y))


def _atan2(x, y):
    return P["atan2"].bind(x, _square_root(y))


def _at(x):
    """`x.at`, also where operations are evaluated by NumPy."""
    return as_array(x).at


def _transposed_twice(x):
    return P["transpose"].bind(P["transpose"].bind(x, permutation=(1, 0)), permutation=(1, 0))


def _centered(x):
    total = P["reduce_sum"].bind(x, axes=(1,))
    spread = P["broadcast_in_dim"].bind(total, shape=SHAPE, broadcast_dimensions=(0,))
    return P["sub"].bind(x, P["mul"].bind(spread, _full(x, 0.3)))


def _contracted(x):
    dtype = get_aval(x).dtype
    square = {"lhs_contracting": (1,), "rhs_contracting": (1,), "lhs_batch": (), "rhs_batch": ()}
    gram = P["dot_general"].bind(x, x, **square, preferred_element_type=dtype)
    back = {"lhs_contracting": (1,), "rhs_contracting": (0,), "lhs_batch": (), "rhs_batch": ()}
    return P["dot_general"].bind(gram, x, **back, preferred_element_type=dtype)


def _batched(x):
    batch = {"lhs_contracting": (1,), "rhs_contracting": (1,), "lhs_batch": (0,), "rhs_batch": (0,)}
    lengths = P["dot_general"].bind(x, x, **batch, preferred_element_type=get_aval(x).dtype)
    return P["mul"].bind(x, P["broadcast_in_dim"].bind(lengths, shape=SHAPE, broadcast_dimensions=(0,)))


def _selected(x):
    # Both branches are 0 at the border, so that rounding there makes no difference.
    return P["select"].bind(P["gt"].bind(x, _full(x, 0)), P["sin"].bind(x), P["mul"].bind(x, x))


def _reshaped(x):
    flat = P["reshape"].bind(x, new_sizes=(6,))
    return P["reshape"].bind(P["reverse"].bind(flat, dimensions=(0,)), new_sizes=SHAPE)


def _sliced(x):
    part = P["slice"].bind(x, start_indices=(0, 1), limit_indices=(2, 3), strides=(1, 1))
    first = P["slice"].bind(x, start_indices=(0, 0), limit_indices=(2, 1), strides=(1, 1))
    return P["concatenate"].bind(part, first, dimension=1)


def _cumulated(x):
    ahead = P["cumsum"].bind(x, axis=1, reverse=False)
    return P["sub"].bind(ahead, P["cumsum"].bind(x, axis=0, reverse=True))


def _sorted(x):
    return pnp.sort(x, axis=1)


def _greatest(x):
    return x - pnp.max(x, axis=0, keepdims=True) * _scalar(x, 0.5)


def _product(x):
    return x * pnp.prod(x, axis=1, keepdims=True)


def _gathered(x):
    rows = as_array(x)[np.array([1, 0]), :]
    return as_array(rows)[:, np.array([2, 0, 2])]


def _scattered(x):
    added = _at(x)[np.array([1, 1]), np.array([0, 2])].add(x[0, :2])
    return _at(added)[0, 1].set(x[1, 1])


def _updated(x):
    """The place depends on the values."""
    place = (x[0, 0] > 0).astype(np.int32)
    part = lax.dynamic_slice(x, (place, 0), (1, 2))
    return lax.dynamic_update_slice(x, part * x[0, 0], (place, 1))


def _padded(x):
    wide = lax.pad(x, _scalar(x, 0.25), ((1, 0, 1), (-1, 2, 0)))
    return wide[:2, :3] + wide[2:, 1:4]


def _noisy(x):
    return x + uniform(np.array([0, 7], np.uint32), SHAPE, get_aval(x).dtype)


def _scanned(x):
    def step(carry, row):
        carry = pnp.tanh(carry * row + row)
        return carry, carry * row[0]

    last, rows = scan(step, x[0], x, reverse=True)
    return rows + last


def _counted(x):
    """A loop of fixed length, which has a reverse mode."""

    def step(carry, i):
        return _at(carry)[i % 2].set(pnp.sin(carry[1] + x[0])), None

    return scan(step, pnp.asarray(x), np.arange(3, dtype=np.int32))[0]


def _associated(x):
    return associative_scan(lambda a, b: a * b * _scalar(x, 0.5) + a + b, x, axis=1)


def _branched(x):
    return cond(x[0, 0] + x[1, 1] > 0, lambda y: pnp.sin(y) * x, lambda y: y * y, x)


def _switched(x):
    index = (x[0, 1] > 0).astype(np.int32) + (x[1, 0] > 0).astype(np.int32)
    return switch(index, [pnp.tanh, lambda y: y * _scalar(y, 0.5), lambda y: pnp.cos(y) - x], x)


@custom_jvp
def _ruled(x):
    return pnp.tanh(x) * _scalar(x, 2)


@_ruled.defjvp
def _ruled_jvp(primals, tangents):
    (x,), (t,) = primals, tangents
    out = _ruled(x)
    return out, t * (_scalar(x, 2) - out * out * _scalar(x, 0.5))


@custom_vjp
def _pulled(x):
    return x * pnp.sum(pnp.sin(x))


def _pulled_forward(x):
    return _pulled(x), (x, pnp.sum(pnp.sin(x)))


def _pulled_backward(saved, ct):
    x, total = saved
    return (ct * total + pnp.sum(ct * x) * pnp.cos(x),)


_pulled.defvjp(_pulled_forward, _pulled_backward)


def _over_rows(x):
    """A mapped function with a sum over the mapped axis."""
    return vmap(lambda row: pnp.sin(row) - lax.psum(row * row[0], "rows") * _scalar(row, 0.2), axis_name="rows")(x)


def _windowed(x):
    greatest = lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 1), ((0, 0), (1, 0)))
    return greatest - lax.reduce_window(x, 0.0, lax.add, (2, 1), (1, 1), ((1, 0), (0, 0)))


def _convolved(x):
    kernel = pnp.stack([x[0, :2], x[1, 1:]])[:, None]
    wide = lax.conv_general_dilated(x[:, None], kernel, (1,), ((1, 0),))
    return wide[:, 0] + wide[:, 1]


def _positive(x):
    """A positive definite matrix."""
    return pnp.matmul(x.T, x) + pnp.eye(3, dtype=get_aval(x).dtype)


def _solved(x):
    return pnp.linalg.solve(_positive(x), x.T).T


def _factored(x):
    return pnp.matmul(x, pnp.linalg.cholesky(_positive(x)))


def _determined(x):
    return x / pnp.linalg.det(_positive(x))


def _fourier(x):
    spectrum = pnp.fft.rfft(x, axis=1)
    return pnp.fft.irfft(spectrum * pnp.abs(spectrum), n=3, axis=1)


def _folded(x):
    """A loop with known bounds becomes a scan; an inner loop reads the outer index."""

    def inner(j, carry, i):
        return carry + pnp.sin(carry * _scalar(x, 0.5)) * (i + j).astype(get_aval(x).dtype)

    def outer(i, carry):
        return pnp.cos(lax.fori_loop(1, 3, lambda j, c: inner(j, c, i), carry)) * x

    return lax.fori_loop(0, 2, outer, x)


def _bounded(x):
    """A loop whose length depends on the values, with a bound: it has a reverse mode."""

    def going_on(state):
        return state[0] < 2 + (state[1][0, 0] > 0).astype(np.int32)

    def next_one(state):
        return state[0] + 1, pnp.sin(state[1] * x + state[1])

    return lax.while_loop(going_on, next_one, (np.int32(0), x), max_steps=5)[1]


def _mapped(x):
    return lax.map(lambda row: cond(row[0] > 0, pnp.sin, lambda r: r * r[1], row), x, batch_size=1)


@checkpoint
def _recomputed(x):
    return pnp.tanh(scan(lambda c, row: (c * row + pnp.sin(row), c), x[0], x)[1]) * x


def _scanned_calls(x):
    """A nested call with an inner loop, called in a loop."""

    @jit
    def doubled(row):
        return lax.fori_loop(0, 2, lambda _, r: r * pnp.cos(r), row)

    return scan(lambda carry, row: (doubled(carry) + row, doubled(row * carry)), x[1], x)[1]


def _solved_by_hand(x):
    """A system that is solved by iteration, with the derivative of its solution."""

    def matvec(v):
        return pnp.matmul(_positive(x) * _scalar(x, 0.1) + pnp.eye(3, dtype=get_aval(x).dtype), v)

    def solve(matvec, b):
        return lax.fori_loop(0, 80, lambda _, v: v + _scalar(x, 0.5) * (b - matvec(v)), b)

    return x * lax.custom_linear_solve(matvec, pnp.sin(x[0]), solve, transpose_solve=solve)


def _root(x):
    """The y of y + y^3 / 3 = x by Newton's method, with the derivative of this equation."""

    def equation(y):
        return y + y * y * y * _scalar(x, 1 / 3) - x

    def solve(f, y):
        return lax.fori_loop(0, 12, lambda _, y: y - f(y) / (1 + y * y), y)

    return lax.custom_root(equation, x * _scalar(x, 0.5), solve, lambda g, ct: ct / g(pnp.ones_like(ct)))


def looped(x):
    """A loop whose length depends on the values: it has no reverse mode."""
    return lax.while_loop(
        lambda state: state[0] < 3 + (state[1][0, 0] > 0).astype(np.int32),
        lambda state: (state[0] + 1, pnp.sin(state[1] + x)),
        (np.int32(0), pnp.asarray(x)),
    )[1]


_NAMED = {"square_root": _square_root, "reciprocal": _reciprocal, "div": _div, "atan2": _atan2}
_WHOLE = (
    _transposed_twice,
    _centered,
    _contracted,
    _batched,
    _selected,
    _reshaped,
    _sliced,
    _cumulated,
    _sorted,
    _greatest,
    _product,
    _gathered,
    _scattered,
    _updated,
    _padded,
    _noisy,
    _ruled,
    _over_rows,
    _windowed,
    _convolved,
)
# There for dtypes of 32 and 64 bits.
_WIDE = (_solved, _factored, _determined, _fourier, _solved_by_hand)
_CONTROL = (
    _scanned,
    _counted,
    _associated,
    _branched,
    _switched,
    _folded,
    _bounded,
    _mapped,
    _recomputed,
    _scanned_calls,
    _root,
)


def called(fun):
    """`fun` in a nested call, as `jit` makes it."""

    def call(*xs):
        graph = make_graph(lambda *ys: [fun(*ys)], [get_aval(x) for x in xs], DebugInfo("jit", fun))
        return call_graph(graph, "program", xs)[0]

    call.__name__ = f"called_{fun.__name__}"
    return call


SHORT = (*_WHOLE, *_CONTROL, *map(called, (_centered, _selected, _scanned)))
EVERY = (*SHORT, *_WIDE)
# With steps that have only a reverse mode.
REVERSE = (*EVERY, _pulled)


def program_of(steps):
    """The function of a chain of steps: (operation, the places of its operands, counted from the last value)."""

    def program(x, y):
        values = [x, y]
        for operation, *places in steps:
            args = [values[-1 - place % len(values)] for place in places]
            apply = operation if callable(operation) else _NAMED.get(operation) or P[operation].bind
            values.append(P["sin"].bind(apply(*args)))
        return values[-1]

    # The text of a failing program.
    names = [(_name_of(op), *places) for op, *places in steps]
    program.__name__ = program.__qualname__ = f"program {names}"
    return program


def _name_of(operation):
    return operation if isinstance(operation, str) else getattr(operation, "__name__", str(operation))


def _alone(whole):
    return [
        pytest.param(program_of([(op, *places)]), id=_name_of(op))
        for operations, places in ((_UNARY, (1,)), (_BINARY, (0, 1)), (whole, (1,)))
        for op in operations
    ]


# Each step alone.
ALONE, SHORT_ALONE = _alone(REVERSE), _alone(SHORT)


@st.composite
def programs(draw, most=6, whole=EVERY):
    """A function of two arrays of SHAPE. Parts of it may be nested calls."""
    steps = draw(
        st.lists(
            st.one_of(
                st.tuples(st.sampled_from(_UNARY), st.integers(0, 9)),
                st.tuples(st.sampled_from(_BINARY), st.integers(0, 9), st.integers(0, 9)),
                st.tuples(st.sampled_from(whole), st.integers(0, 9)),
            ),
            min_size=1,
            max_size=most,
        )
    )

    program = program_of(steps)
    return called(program) if draw(st.booleans()) else program


def arrays():
    """Arrays of SHAPE away from the kinks of the programs' steps."""
    return st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).uniform(-1.5, 1.5, SHAPE))
