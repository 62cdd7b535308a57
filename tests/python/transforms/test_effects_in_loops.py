"""Effects in loops that derivatives recompute: they happen once for each iteration of the program."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import errors, lax
from pycompiler.experimental import io_callback


def noted(seen, max_steps, branch):
    """A loop that records its carry, in a branch with results or without them."""

    def note(c):
        io_callback(lambda x: seen.append(float(x)), None, lax.stop_gradient(c))

    def body(c):
        if branch:
            lax.cond(c > 1, lambda: note(c), lambda: None)
        else:
            note(c)
        return c * 2

    return lambda x: lax.while_loop(lambda c: c < 5, body, x, max_steps=max_steps)


@pytest.mark.parametrize("branch", [False, True])
@pytest.mark.parametrize("jitted", [False, True])
def test_io_of_a_loop_happens_once(jitted, branch):
    one = np.float32(1)
    calls = {
        "grad": (9, lambda f: pc.grad(f)(one)),
        "second": (9, lambda f: pc.grad(pc.grad(lambda x: f(x) * x))(one)),
        "jvp": (None, lambda f: pc.jvp(f, (one,), (one,))[1]),
        "linearize": (None, lambda f: pc.linearize(f, one)[1](one)),
    }
    for name, (max_steps, call) in calls.items():
        seen = []
        f = noted(seen, max_steps, branch)
        slope = call(pc.jit(f) if jitted else f)
        pc.effects_barrier()
        assert float(slope) == (16 if name == "second" else 8), name
        assert seen == ([2, 4] if branch else [1, 2, 4]), name


def test_prints_of_a_loop_are_those_of_its_iterations(capsys):
    def body(c):
        pc.debug.print("{}", c, ordered=True)
        return lax.scan(lambda c, _: (c + (pc.debug.print("in"), 1)[1], None), c * 2, None, length=2)[0]

    pc.grad(lambda x: lax.while_loop(lambda c: c < 9, body, x, max_steps=5))(pnp.float32(1))
    pc.effects_barrier()
    assert sorted(capsys.readouterr().out.split()) == ["1.0", "4.0", "in", "in", "in", "in"]


def test_results_of_io_cannot_be_asked_for_again():
    shape = pc.ShapeDtypeStruct((), np.float32)

    def body(c):
        return c * io_callback(lambda: np.float32(2), shape)

    with pytest.raises(
        errors.NotDifferentiableError, match=r"(?s)while_loop: .*max_steps=.*What to do: call it outside"
    ):
        pc.grad(lambda x: lax.while_loop(lambda c: c < 5, body, x, max_steps=4))(1.0)
    assert float(pc.jvp(lambda x: lax.while_loop(lambda c: c < 5, body, x), (1.0,), (1.0,))[1]) == 8
