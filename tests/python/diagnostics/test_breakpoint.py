"""`debug.breakpoint`: a debugger in the terminal at a place of a compiled program."""

import io
import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

GLOBAL = "of the module"


class Session:
    """The commands of a user, and what the terminal shows."""

    def __init__(self, *commands):
        self.stdin, self.stdout = io.StringIO("".join(f"{c}\n" for c in commands)), io.StringIO()

    @property
    def streams(self):
        return {"stdin": self.stdin, "stdout": self.stdout}

    def shown(self):
        pc.effects_barrier()
        assert self.stdout.getvalue().startswith("Entering jdb:\n")
        return [part for part in re.split(r"\(jdb\) |Entering jdb:\n", self.stdout.getvalue()) if part]


@pytest.mark.parametrize("jit", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_values_of_the_run(jit):
    session = Session("p x, y", "y + 1", "pp {'a': tree}", "p known", "p GLOBAL", "p missing", "", "c")

    @jit
    def f(x):
        y = pnp.sin(x)
        tree = {"b": [x, 2]}
        known = "static"
        pc.debug.breakpoint(**session.streams)
        return y, tree, known is None

    f(pnp.float32(0))
    assert session.shown() == [
        "(Array(0., dtype=float32), Array(0., dtype=float32))\n",
        "Array(1., dtype=float32)\n",
        "{'a': {'b': [Array(0., dtype=float32), 2]}}\n",
        "'static'\n",
        "'of the module'\n",
        "*** NameError: name 'missing' is not defined\n",
    ]


def test_frames_and_source():
    session = Session("l", "u", "p x", "u", "d", "d", "bt", "c")

    def inner(x):
        y = x + 1
        pc.debug.breakpoint(num_frames=2, **session.streams)
        return y

    @pc.jit
    def outer(x):
        x = x * 10
        return inner(x)

    outer(2)
    shown = session.shown()
    assert re.fullmatch(
        r"> .*test_breakpoint\.py\(\d+\)\n"
        r"        def inner\(x\):\n            y = x \+ 1\n"
        r"->          pc\.debug\.breakpoint\(num_frames=2, \*\*session\.streams\)\n            return y\n",
        shown[0],
    )
    assert "->          return inner(x)\n" in shown[1]
    assert shown[2] == "Array(20, dtype=int32)\n"
    assert shown[3].startswith("At topmost frame.\n")
    assert "pc.debug.breakpoint" in shown[4]
    assert shown[5].startswith("At bottommost frame.\n")
    assert re.match(r"Traceback:\n  File .*\n    return inner\(x\)\n  File .*\n    pc.debug.breakpoint", shown[6])


def test_in_loops_maps_and_derivatives():
    session = Session(*["p y", "c"] * 3)

    def f(x):
        y = x * 2
        pc.debug.breakpoint(ordered=True, num_frames=1, **session.streams)
        return y

    assert pc.jit(pc.vmap(f))(np.arange(3, dtype=np.int32)).tolist() == [0, 2, 4]
    assert session.shown() == [f"Array({2 * i}, dtype=int32)\n" for i in range(3)]
    session = Session(*["p y", "c"] * 3)
    pc.lax.fori_loop(0, 3, lambda _, x: f(x), 1)
    assert session.shown() == [f"Array({y}, dtype=int32)\n" for y in (2, 4, 8)]
    session = Session("p y", "c")
    assert float(pc.grad(f)(3.0)) == 2
    assert session.shown() == ["Array(6., dtype=float32)\n"]


def test_the_program_waits_and_quits():
    seen = []
    session = Session("marks.append(len(marks))", "c")

    @pc.jit
    def f(x):
        marks = seen
        pc.debug.breakpoint(**session.streams)
        return x + len(marks) + 1

    f(1).block_until_ready()
    assert seen == [0]
    session = Session("q")
    with pytest.raises(SystemExit):
        pc.jit(lambda x: (pc.debug.breakpoint(**session.streams), x + 1)[1])(1).block_until_ready()


def test_a_token_says_when():
    session = Session("p x", "c")

    def f(x, is_used):
        y = pc.debug.breakpoint(token=x * 2, **session.streams)
        return y if is_used else x

    assert int(pc.jit(f, static_argnums=1)(3, False)) == 3
    pc.effects_barrier()
    assert session.stdout.getvalue() == ""
    assert int(pc.jit(f, static_argnums=1)(3, True)) == 6
    assert session.shown() == ["Array(3, dtype=int32)\n"]


def test_wrong_arguments():
    with pytest.raises(ValueError, match="backend is 'web'"):
        pc.debug.breakpoint(backend="web")
    with pytest.raises(ValueError, match="`ordered` or `token`"):
        pc.debug.breakpoint(token=1, ordered=True)
    with pytest.raises(TypeError, match="unexpected arguments other"):
        pc.debug.breakpoint(other=1)
