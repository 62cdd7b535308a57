"""Tracebacks of errors: they end at the user's line, and show frames of the package only on request."""

import builtins
import traceback

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random

X, V = pnp.ones((3, 4)), pnp.ones(3)
SHAPE = pc.ShapeDtypeStruct((3,), "float32")


def bad(x):
    return pnp.ones((2, 3)) + pnp.ones(4) * x  # here


def branching(x):
    if x.sum() > 0:  # here
        return x
    return -x


def raising(*args):
    raise KeyError("mine")  # here


def custom_jvp(function, rule):
    f = pc.custom_jvp(function)
    f.defjvp(rule)
    return f


def custom_vjp(forward, backward):
    f = pc.custom_vjp(pnp.sin)
    f.defvjp(forward, backward)
    return f


def donated():
    x = pnp.ones(2000)
    pc.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x


def leaked():
    kept = []
    pc.jit(lambda x: kept.append(x) or x)(1.0)
    return kept[0]


def assign(x):
    x[0] = 1  # here


def iterate(x):
    for _ in x:  # here
        pass


# Programs whose error is at their line with the mark "here".
CASES = {
    "operator": lambda: X + V,  # here
    "comparison": lambda: X < V,  # here
    "matmul": lambda: X @ V,  # here
    "invert": lambda: ~X,  # here
    "function": lambda: pnp.dot(X, X),  # here
    "method": lambda: X.reshape(5),  # here
    "index": lambda: X[0, 0, 0],  # here
    "at set": lambda: X.at[0, 0, 0].set(1),  # here
    "at get": lambda: X.at[0, 0, 0].get(),  # here
    "assignment": lambda: assign(X),
    "iteration": lambda: iterate(pnp.float32(1)),
    "format": lambda: f"{X:d}",  # here
    "float": lambda: float(X),  # here
    "bool": lambda: bool(X),  # here
    "hash": lambda: hash(X),  # here
    "a name that is not there": lambda: pnp.nosuch,  # here
    "lax": lambda: lax.add(X, V),  # here
    "fft": lambda: pnp.fft.fft(pnp.float32(1)),  # here
    "linalg": lambda: pnp.linalg.cholesky(X),  # here
    "scipy": lambda: pc.scipy.special.erf("a"),  # here
    "random": lambda: random.normal(random.key(0), (2,), dtype="int32"),  # here
    "initializer": lambda: pc.nn.initializers.glorot_normal()(random.key(0), (3,)),  # here
    "tree": lambda: pc.tree.map(lambda a, b: a, [1], [1, 2]),  # here
    "tree of the user's": lambda: pc.tree.map(raising, [1]),
    "static": lambda: pc.jit(lambda x, s: x, static_argnums=1)(1.0, [1]),  # here
    "no array": lambda: pc.jit(lambda x: x)("a"),  # here
    "no function": lambda: pc.grad(3),  # here
    "donated": lambda: np.asarray(donated()) if donated() is None else donated() + 1,  # here
    "leaked": lambda: leaked() + 1,  # here
    "jit": lambda: pc.jit(bad)(1.0),
    "branch": lambda: pc.jit(branching)(V),
    "NumPy": lambda: pc.jit(lambda x: np.sin(x))(V),  # here
    "the user's own": lambda: pc.jit(pc.grad(pc.vmap(raising)))(V),
    "grad": lambda: pc.grad(lambda x: bad(x).sum())(1.0),
    "grad of jit": lambda: pc.grad(pc.jit(lambda x: bad(x).sum()))(1.0),
    "jit of grad": lambda: pc.jit(pc.grad(lambda x: bad(x).sum()))(1.0),
    "grad of an int": lambda: pc.grad(lambda x: x)(3),  # here
    "vmap": lambda: pc.vmap(bad)(V),
    "jvp": lambda: pc.jvp(bad, (1.0,), (1.0,)),
    "vjp": lambda: pc.vjp(bad, 1.0),
    "linearize": lambda: pc.linearize(bad, 1.0),
    "hessian": lambda: pc.hessian(lambda x: bad(x).sum())(1.0),
    "checkpoint": lambda: pc.grad(lambda x: pc.checkpoint(bad)(x).sum())(1.0),
    "scan": lambda: lax.scan(lambda c, x: (c, bad(x)), 0.0, V),
    "branch in scan": lambda: lax.scan(lambda c, x: (c, branching(x)), 0.0, V),
    "carry": lambda: lax.scan(lambda c, x: (V, x), 0.0, V),  # here
    "scan in jit": lambda: pc.jit(lambda v: lax.scan(lambda c, x: (c, bad(x)), 0.0, v))(V),
    "fori_loop": lambda: lax.fori_loop(0, 3, lambda i, c: bad(c), 1.0),
    "while_loop": lambda: lax.while_loop(bad, lambda c: c, 1.0),
    "cond": lambda: lax.cond(True, bad, lambda x: x, 1.0),
    "switch": lambda: lax.switch(1, [bad, bad], 1.0),
    "map": lambda: lax.map(bad, V),
    "vectorize": lambda: pnp.vectorize(bad)(V),
    "named_call": lambda: pc.named_call(bad)(1.0),
    "custom_jvp": lambda: custom_jvp(bad, lambda p, t: (p[0], t[0]))(1.0),
    "rule of custom_jvp": lambda: pc.grad(custom_jvp(pnp.sin, lambda p, t: (p[0], bad(t[0]))))(1.0),
    "forward of custom_vjp": lambda: pc.grad(custom_vjp(lambda x: (bad(x), x), lambda r, g: (g,)))(1.0),
    "backward of custom_vjp": lambda: pc.grad(custom_vjp(lambda x: (x, x), lambda r, g: (bad(g),)))(1.0),
    "callback": lambda: np.asarray(pc.pure_callback(raising, SHAPE, V)),
    "callback in jit": lambda: np.asarray(pc.jit(lambda v: pc.pure_callback(raising, SHAPE, v))(V)),
    "make_jaxpr": lambda: pc.make_jaxpr(bad)(1.0),
    "lower": lambda: pc.jit(bad).lower(1.0),
    "eval_shape": lambda: pc.eval_shape(bad, 1.0),
    "pmap": lambda: pc.pmap(bad)(pnp.ones(1)),
}


def frames(error):
    """The frames of an error, and of all its causes and contexts."""
    found, left = [], [error]
    while left:
        found += traceback.extract_tb(left[0].__traceback__)
        left = [*left[1:], *(other for other in (left[0].__cause__, left[0].__context__) if other is not None)]
    return found


def failure(program):
    with pytest.raises(Exception) as caught:  # noqa: PT011 (of any kind)
        program()
    return caught.value


@pytest.mark.parametrize("name", CASES)
def test_a_traceback_ends_at_the_users_line(name):
    error = failure(CASES[name])
    assert {frame.filename for frame in frames(error)} == {__file__}
    last = traceback.extract_tb(error.__traceback__)[-1]
    assert "# here" in (last.line or ""), str(error)


def test_what_an_error_was_raised_from_is_filtered_too():
    error = failure(lambda: pc.linear_transpose(pnp.sin, 1.0)(1.0))
    assert isinstance(error.__context__, pc.errors.NotDifferentiableError)
    assert {frame.filename for frame in frames(error)} == {__file__}


def own_frames(mode):
    """The package's frames of an error under a setting, and those of them that are marked as hidden."""
    with pc.config.override("traceback_filtering", mode):
        error = failure(lambda: pc.jit(bad)(1.0))
    found = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in found if "/pycompiler/" in frame.f_code.co_filename]
    return own, [frame for frame in found if frame.f_locals.get("__tracebackhide__")]


def test_the_setting(monkeypatch):
    assert own_frames("auto") == ([], [])
    assert own_frames("remove_frames") == ([], [])
    shown, marked = own_frames("off")
    assert shown
    assert not marked
    shown, marked = own_frames("tracebackhide")
    assert shown
    assert shown == marked
    # IPython does not print marked frames, and its debugger still reaches them.
    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    shown, marked = own_frames("auto")
    assert shown
    assert shown == marked


def test_the_setting_as_a_bool_and_as_another_word():
    before = pc.config.read("traceback_filtering")
    try:
        for given, meant in ((False, "off"), (True, "auto"), ("0", "off"), ("1", "auto")):
            pc.config.update("jax_traceback_filtering", given)
            assert pc.config.read("traceback_filtering") == meant
        with pytest.raises(ValueError, match="traceback_filtering must be 'off' or 'tracebackhide' or 'remove_frames'"):
            pc.config.update("traceback_filtering", "some")
    finally:
        pc.config.update("traceback_filtering", before)
