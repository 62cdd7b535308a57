"""debug.breakpoint: a terminal in traced and compiled programs, with the values of this run."""

import io
import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def session(*commands):
    return {"stdin": io.StringIO("\n".join(commands) + "\n"), "stdout": io.StringIO()}


def answers(terminal):
    """What the terminal answered to each command."""
    return terminal["stdout"].getvalue().removeprefix("Entering jdb:\n").split("(jdb) ")[1:]


def stopping(terminal, **options):
    def f(x):
        scale = 3
        y = x * scale
        pc.debug.breakpoint(**terminal, **options)
        return y + 1

    return f


WAYS = {
    "eager": lambda f: f,
    "jit": pc.jit,
    "jit in jit": lambda f: pc.jit(lambda x: pc.jit(f)(x)),
    "grad": lambda f: pc.value_and_grad(f),
    "grad of jit": lambda f: pc.value_and_grad(pc.jit(f)),
    "cond": lambda f: pc.jit(lambda x: lax.cond(x > 0, f, lambda x: x, x)),
    "checkpoint": lambda f: pc.jit(pc.checkpoint(f)),
}


@pytest.mark.parametrize("way", WAYS)
def test_names_have_the_values_of_the_run(way):
    terminal = session("p x, scale", "y + scale", "pp {'y': y}", "c")
    WAYS[way](stopping(terminal))(2.0)
    seen = answers(terminal)
    x, y = (re.findall(r"\d+\.", text) for text in (seen[0], seen[1]))
    assert x == ["2."]
    assert y == ["9."]
    assert ", 3)" in seen[0]
    assert "6." in seen[2]


def test_the_call_waits_for_the_terminal():
    terminal = session("c")
    pc.jit(stopping(terminal))(2.0)
    # No barrier: the session is over when the call returns.
    assert terminal["stdout"].getvalue() == "Entering jdb:\n(jdb) "


@pytest.mark.parametrize("make", [lambda f: f, pc.jit])
def test_quit_ends_the_program(make):
    for commands in (["q"], []):
        with pytest.raises(SystemExit):
            make(stopping(session(*commands)))(2.0)


def test_once_for_each_element_and_iteration():
    terminal = session("p x", "c", "p x", "c")
    pc.vmap(stopping(terminal))(pnp.array([1.0, 2.0]))
    found = sorted(re.findall(r"Array\((\d)", terminal["stdout"].getvalue()))
    assert found == ["1", "2"]
    terminal = session("p x", "c", "p x", "c", "p x", "c")
    pc.jit(lambda x: lax.fori_loop(0, 3, lambda _, x: stopping(terminal, ordered=True)(x), x))(1.0)
    assert re.findall(r"Array\((\d+)", terminal["stdout"].getvalue()) == ["1", "4", "13"]


def test_frames_and_source():
    def inner(z):
        name = "inner"
        pc.debug.breakpoint(**terminal)
        return z * len(name)

    def outer(w):
        name = "outer"
        return inner(w + 1) if name else w

    terminal = session("p name", "l", "u", "p name, w", "d", "d", "p z", "bt", "p missing", "c")
    pc.jit(outer)(1.0)
    name, source, up, at_outer, down, bottom, z, trace, missing, _ = answers(terminal)
    assert name == "'inner'\n"
    assert re.search(r"\n->  +pc.debug.breakpoint", source)
    assert __file__ in source
    assert "return inner(w + 1)" in up
    assert at_outer.startswith("('outer', Array(1.")
    assert "breakpoint" in down
    assert bottom.startswith("At bottommost frame.")
    assert "Array(2." in z
    assert trace.index("return inner") < trace.index("pc.debug.breakpoint")
    assert missing.startswith("*** NameError")
    limited = session("u", "c")
    pc.jit(stopping(limited, num_frames=1))(1.0)
    assert answers(limited)[0].startswith("At topmost frame.")


def test_a_token_orders_it():
    terminal = session("p x", "c")

    @pc.jit
    def f(x):
        y = pc.debug.breakpoint(**terminal, token=(x * 2, {"a": x}))
        return y[0] + y[1]["a"]

    assert f(3.0) == 9.0
    assert "Array(3." in answers(terminal)[0]
    unused = session("c")
    pc.jit(lambda x: (pc.debug.breakpoint(**unused, token=x), x)[1])(1.0)
    assert unused["stdout"].getvalue() == ""


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r"'cli'.*got 'web'"):
        pc.debug.breakpoint(backend="web")
    with pytest.raises(TypeError, match="stdin and stdout, got tty"):
        pc.debug.breakpoint(tty=None)
    with pytest.raises(ValueError, match="ordered=True or a token"):
        pc.debug.breakpoint(token=np.ones(2), ordered=True)
