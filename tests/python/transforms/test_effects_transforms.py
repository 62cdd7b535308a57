"""Effects under transformations: the values and prints of jax, in order if they are ordered."""

import types

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.experimental
import pycompiler.numpy as pnp
from pycompiler import errors, lax

OURS = types.SimpleNamespace(
    api=pc, np=pnp, lax=lax, barrier=pc.effects_barrier, io=pycompiler.experimental.io_callback
)
PEER = types.SimpleNamespace(api=jax, np=jnp, lax=jax.lax, barrier=jax.effects_barrier, io=jax.experimental.io_callback)
SCALAR = np.zeros((), np.float32)


class Programs:
    """Functions of x, over the library `m`, with ordered or unordered prints."""

    def __init__(self, m, ordered):
        self.m = m
        self.ordered = ordered

    def show(self, fmt, *args):
        self.m.api.debug.print(fmt, *args, ordered=self.ordered)

    def plain(self, x):
        self.show("plain {}", x)
        return self.m.np.sin(x) * x

    def twice(self, x):
        y = self.plain(x)
        self.show("between {} {}", x, y)
        return self.plain(y)

    def nested(self, x):
        inner = self.m.api.jit(self.plain)
        return inner(x) + inner(x + 1)

    def scanned(self, x):
        def body(c, i):
            self.show("step {} {}", i, c)
            return c * x, c

        return self.m.np.sum(self.m.lax.scan(body, x, self.m.np.arange(3))[1])

    def scanned_constant(self, x):
        def body(c, _):
            self.show("constant {}", x)
            return c * x, None

        return self.m.lax.scan(body, x, None, length=3)[0]

    def counted(self, x):
        return self.m.lax.fori_loop(0, 2, lambda i, c: self.plain(c), x)

    def looped(self, x):
        return self.m.lax.while_loop(lambda c: c < 5, lambda c: self.plain(c) * 0 + c + 2, x)

    def chosen(self, x):
        return self.m.lax.cond(x > 0, self.plain, lambda x: (self.show("other"), x)[1], x)

    def silent(self, x):
        """A branch without results."""
        self.m.lax.cond(x > 0, lambda: self.show("positive {}", x), lambda: None)
        self.m.lax.cond(x > 9, lambda: self.show("never {}", x), lambda: None)
        return x * x

    def handed_on(self, x):
        """Branches that return their arguments."""
        return x * self.m.lax.cond(x > 0, lambda y: (self.show("kept {}", y), y)[1], lambda y: y, x)

    def switched(self, x):
        def shows(i):
            return lambda: self.show(f"branch {i} of {{}}", x)

        index = self.m.np.int32(x > 0) + 1
        self.m.lax.switch(index, [shows(i) for i in range(4)])
        return self.m.np.sin(x)

    def silent_inside(self, x):
        """A branch in a branch, in a compiled function."""

        def inner():
            self.m.lax.cond(x < 2, lambda: self.show("inner {}", x), lambda: self.show("other"))

        self.m.api.jit(lambda x: self.m.lax.cond(x > 0, inner, lambda: None))(x)
        return x * 3

    def silent_in_loops(self, x):
        def body(c, i):
            self.m.lax.cond(i > 0, lambda: self.show("scan {}", i), lambda: None)
            return c * x, None

        def counted(i, c):
            self.m.lax.cond(i > 1, lambda: self.show("fori {}", i), lambda: None)
            return c + x

        x = self.m.lax.scan(body, x, self.m.np.arange(3))[0]
        return self.m.lax.fori_loop(0, 3, counted, x)

    def silent_in_while(self, x):
        def body(c):
            self.m.lax.cond(c > 2, lambda: self.show("large {}", c), lambda: None)
            return c + 2

        return self.m.lax.while_loop(lambda c: c < 5, body, x)

    def silent_recomputed(self, x):
        return self.m.api.checkpoint(self.silent)(x) * x

    def recomputed(self, x):
        return self.m.api.checkpoint(self.plain)(x) * x

    def ruled(self, x):
        @self.m.api.custom_jvp
        def f(x):
            self.show("primal {}", x)
            return x * x

        @f.defjvp
        def f_jvp(primals, tangents):
            self.show("rule {}", primals[0])
            return f(*primals), 2 * primals[0] * tangents[0]

        return f(x)

    def ruled_backward(self, x):
        @self.m.api.custom_vjp
        def f(x):
            self.show("primal {}", x)
            return x * x

        def forward(x):
            self.show("forward {}", x)
            return x * x, x

        def backward(x, ct):
            self.show("backward {} {}", x, ct)
            return (2 * x * ct,)

        f.defvjp(forward, backward)
        return f(x)

    def repeated(self, x):
        # A value that two prints show, and one whose result is not read.
        y = x * 2
        self.show("{}", y)
        self.show("{}", y)
        return x


ALL = sorted(name for name in vars(Programs) if not name.startswith("_") and name != "show")
X = np.float32(0.75)
TRANSFORMS = {
    "itself": lambda m, f: f(m.np.asarray(X)),
    "jit": lambda m, f: m.api.jit(f)(X),
    "grad": lambda m, f: m.api.grad(f)(m.np.asarray(X)),
    "jit of grad": lambda m, f: m.api.jit(m.api.value_and_grad(f))(X),
    "jvp": lambda m, f: m.api.jvp(f, (X,), (np.float32(1),)),
    "vmap": lambda m, f: m.api.vmap(f)(m.np.asarray([X, -X])),
    "jit of vmap of grad": lambda m, f: m.api.jit(m.api.vmap(m.api.grad(f)))(m.np.asarray([X, -X])),
}


def run(m, transform, name, ordered, capsys):
    out = TRANSFORMS[transform](m, getattr(Programs(m, ordered), name))
    out = [np.asarray(x) for x in jax.tree_util.tree_leaves(out if m is PEER else pc.tree.leaves(out))]
    m.barrier()
    return out, [line.split() for line in capsys.readouterr().out.splitlines()]


def same_line(a, b):
    """Numbers of a line may differ in their last digit."""
    if len(a) != len(b):
        return False
    return all(x == y or np.isclose(float(x), float(y), rtol=1e-5) for x, y in zip(a, b, strict=True))


# A while loop has no reverse mode, and a vjp rule no forward mode. From a loop that jax differentiates in reverse, jax
# hoists the print of values that do not change.
LEFT_OUT = {
    ("looped", "grad"),
    ("silent_in_while", "grad"),
    ("scanned_constant", "grad"),
    ("ruled_backward", "jvp"),
}
PAIRS = [
    (name, transform)
    for name in ALL
    for transform in TRANSFORMS
    if not any(name == left and kind in transform for left, kind in LEFT_OUT)
]


@pytest.mark.parametrize(("name", "transform"), PAIRS)
def test_prints_and_values_are_jaxs(name, transform, capsys):
    for ordered in (True,) if transform != "jit" else (True, False):
        expected, lines = run(PEER, transform, name, ordered, capsys)
        found, printed = run(OURS, transform, name, ordered, capsys)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
        if not ordered or "vmap" in transform:
            lines, printed = sorted(lines), sorted(printed)
        assert len(lines) == len(printed), (printed, lines)
        assert all(map(same_line, printed, lines)), (printed, lines)


def test_what_does_not_change_in_a_loop_is_shown_in_every_iteration(capsys):
    out, lines = run(OURS, "grad", "scanned_constant", True, capsys)
    np.testing.assert_allclose(out, [4 * X**3], rtol=1e-6)
    assert lines == [["constant", "0.75"]] * 3


# io_callback and pure_callback.


def noted(m, seen, ordered=False):
    def note(x):
        seen.append(float(x))
        return np.float32(x)

    return lambda x: m.io(note, SCALAR, x, ordered=ordered)


@pytest.mark.parametrize("jitted", [False, True])
def test_io_under_vmap_runs_for_each_element(jitted):
    for m in (OURS, PEER):
        seen = []
        f = m.api.vmap(noted(m, seen))
        out = (m.api.jit(f) if jitted else f)(m.np.asarray([1.0, 2.0]))
        np.testing.assert_array_equal(np.asarray(out), [1, 2])
        m.barrier()
        assert sorted(seen) == [1, 2]


def test_io_in_a_mapped_loop_of_a_fixed_number():
    seen = []
    f = noted(OURS, seen)
    out = pc.vmap(lambda x: lax.fori_loop(0, 2, lambda i, c: f(c) + 1, x))(pnp.asarray([0.0, 10.0]))
    np.testing.assert_array_equal(out, [2, 12])
    pc.effects_barrier()
    assert sorted(seen) == [0, 1, 10, 11]


def test_io_where_transformations_refuse_it():
    f, ordered = noted(OURS, []), noted(OURS, [], ordered=True)
    xs = pnp.asarray([-1.0, 1.0])
    with pytest.raises(ValueError, match="io_callback: an ordered one can't be mapped by vmap"):
        pc.vmap(ordered)(xs)
    with pytest.raises(NotImplementedError, match="cond: io_callback under vmap with a mapped condition"):
        pc.vmap(lambda x: lax.cond(x > 0, f, lambda x: x, x))(xs)
    with pytest.raises(NotImplementedError, match="while_loop: io_callback under vmap with a mapped condition"):
        pc.vmap(lambda x: lax.while_loop(lambda c: c < 3, lambda c: f(c) + 1, x))(xs)
    for call in (f, ordered):
        with pytest.raises(errors.NotDifferentiableError, match=r"(?s)io_callback: has no derivative.*custom_jvp"):
            pc.grad(call)(1.0)
    with pytest.raises(errors.NotDifferentiableError, match="checkpoint: io_callback has effects") as raised:
        pc.grad(pc.checkpoint(lambda x: pnp.sin(x) * f(lax.stop_gradient(x))))(1.0)
    assert isinstance(raised.value, NotImplementedError)
    with pytest.raises(errors.NotDifferentiableError, match=r"(?s)pure_callback: has no derivative.*custom_jvp"):
        pc.grad(lambda x: pc.pure_callback(np.sin, x, x))(1.0)


def test_io_of_constants_is_not_mapped():
    seen = []
    pc.vmap(lambda x: x + noted(OURS, seen)(pnp.float32(3)))(pnp.zeros(4))
    pc.effects_barrier()
    assert seen == [3]


@pytest.mark.parametrize("ordered", [False, True])
def test_io_of_a_branch_without_results(ordered):
    def count(x):
        seen = []

        def body(c, i):
            lax.cond(i < x, lambda: OURS.io(seen.append, None, i, ordered=ordered), lambda: None)
            return c + i * x, None

        def run(x):
            shown = lax.stop_gradient(x)
            lax.cond(x > 3, lambda: OURS.io(seen.append, None, shown, ordered=ordered), lambda: None)
            return lax.scan(body, x, pnp.arange(4.0))[0]

        return run, seen

    for x, expected in ((2.0, [0, 1]), (5.0, [0, 1, 2, 3, 5])):
        for transform in (lambda f: f, pc.jit, pc.grad, lambda f: pc.jit(pc.grad(f))):
            run, seen = count(x)
            transform(run)(pnp.float32(x))
            pc.effects_barrier()
            assert sorted(map(float, seen)) == expected


METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_pure_callbacks_are_mapped_as_they_are_told(method, jitted):
    results = []
    for m in (OURS, PEER):
        shapes = []

        def total(x, y, shapes=shapes):
            shapes.append((np.shape(x), np.shape(y)))
            return np.asarray(x) + np.asarray(y), np.asarray(x) * np.asarray(y)

        def f(x, y, m=m, total=total):
            return m.api.pure_callback(total, (x, x), x, y, vmap_method=method)

        mapped = m.api.vmap(f, (1, None))
        outs = (m.api.jit(mapped) if jitted else mapped)(m.np.arange(6.0).reshape(3, 2), m.np.arange(3.0))
        results.append(([np.asarray(out) for out in outs], shapes))
    (found, shapes), (expected, expected_shapes) = results
    np.testing.assert_array_equal(found, expected)
    assert shapes == expected_shapes


def test_a_pure_callback_under_vmap_must_be_told_how():
    with pytest.raises(NotImplementedError, match="pure_callback: vmap needs a method for its calls: give vmap_method"):
        pc.vmap(lambda x: pc.pure_callback(np.sin, x, x))(pnp.zeros(2))


def test_a_pure_callback_with_a_rule_of_its_own():
    @pc.custom_jvp
    def sin(x):
        return pc.pure_callback(np.sin, x, x, vmap_method="expand_dims")

    @sin.defjvp
    def sin_jvp(primals, tangents):
        return sin(*primals), pnp.cos(*primals) * tangents[0]

    xs = pnp.asarray([0.0, 1.0])
    np.testing.assert_allclose(pc.jit(pc.vmap(pc.grad(sin)))(xs), np.cos(xs), rtol=1e-6)


# Graphs.


def test_graphs_say_what_effects_they_have():
    def effects(f):
        return {str(effect) for effect in pc.make_jaxpr(f)(1.0).effects}

    def show(x, ordered=False):
        pc.debug.print("{}", x, ordered=ordered)
        return x

    assert effects(lambda x: x) == set()
    assert effects(show) == {"Debug"}
    assert effects(lambda x: lax.fori_loop(0, 2, lambda i, c: show(c, True), x)) == {"OrderedDebug"}
    assert effects(pc.jit(lambda x: lax.cond(x > 0, show, noted(OURS, []), x))) == {"Debug", "IO"}
    assert effects(pc.vmap(show, axis_size=2, in_axes=None)) == {"Debug"}
    assert effects(pc.checkpoint(noted(OURS, [], ordered=True))) == {"OrderedIO"}
    assert effects(lambda x: pc.pure_callback(np.sin, x, x)) == set()
    kinds = {type(effect) for f in (show, lambda x: show(x, True)) for effect in pc.make_jaxpr(f)(1.0).effects}
    assert kinds == {pc.debug.DebugEffect, pc.debug.OrderedDebugEffect}


def test_what_has_effects_is_shown_as_jax_shows_it():
    def show(m):
        def f(x):
            m.api.debug.print("x {x}", x=x, ordered=True)
            m.api.debug.callback(print, x)
            m.io(print, None, x)
            return m.api.pure_callback(np.sin, SCALAR, x)

        return str(m.api.make_jaxpr(f)(1.0))

    ours, peers = show(OURS), show(PEER)
    for line in ("debug_print[", "fmt=x {x}", "ordered=True", "debug_callback[", "effect=Debug", "io_callback["):
        assert line in ours
        assert line in peers
    assert "b:f32[] = pure_callback[" in ours
    assert "b:f32[] = pure_callback[" in peers


def test_the_module_holds_them_in_order():
    def f(x):
        pc.debug.print("a {}", x, ordered=True)
        pc.debug.print("b {}", x)
        y = lax.fori_loop(0, 3, lambda i, c: (pc.debug.print("c", ordered=True), c + 1)[1], x)
        return pc.pure_callback(np.sin, y, y)

    text = pc.jit(f).lower(pnp.float32(1)).as_text()
    for part in ("array.create_token", "slot = 0 effectful", "slot = 1 effectful", "array.scan(", "!array.token"):
        assert part in text
    lowered = pc.jit(f).lower(pnp.float32(1)).as_text("linalg")
    assert lowered.count('array.runtime_call "host_call"') == 4
    assert "token" not in lowered
