"""Values of users' own types under JAX's names (`jax.experimental.hijax`): a box whose content changes, in jitted
functions, loops, branches and derivatives. The same program runs on JAX, except where it says otherwise."""

from dataclasses import dataclass

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.compat import hijax
from pycompiler.core.tracing.user_values import state_of


@dataclass(frozen=True)
class State:
    avals: tuple
    tree: object


class Box:
    def __init__(self, content=None):
        made = new_box.bind()
        self.__dict__ = made.__dict__
        self.set(content)

    @classmethod
    def of(cls, leaves, tree):
        box = object.__new__(cls)
        box.leaves, box.tree = leaves, tree
        return box

    def get(self):
        state = state_of(self)
        return pc.tree.unflatten(state.tree, get_box.bind(self))

    def set(self, content):
        leaves, tree = pc.tree.flatten(content)
        set_box.bind(self, *leaves, tree=tree)

    def cur_qdd(self):
        return State(tuple(map(pc.typeof, self.leaves)), self.tree)


class BoxType(hijax.MutableHiType):
    def __hash__(self):
        return hash(BoxType)

    def __eq__(self, other):
        return isinstance(other, BoxType)

    def lo_ty_qdd(self, state):
        return [lo for aval in state.avals for lo in aval.lo_ty()]

    def new_from_loval(self, state, *values):
        return Box.of(list(values), state.tree)

    def read_loval(self, state, box):
        leaves, tree = pc.tree.flatten(box.get())
        assert tree == state.tree
        return leaves

    def update_from_loval(self, state, box, *values):
        box.set(pc.tree.unflatten(state.tree, values))


class NewBox(hijax.HiPrimitive):
    def to_lojax(self):
        return Box.of([], pc.tree.structure(None))


class GetBox(hijax.HiPrimitive):
    multiple_results = True

    def to_lojax(self, box):
        return box.leaves


class SetBox(hijax.HiPrimitive):
    multiple_results = True

    def to_lojax(self, box, *leaves, tree):
        box.leaves, box.tree = list(leaves), tree
        return []


new_box, get_box, set_box = NewBox("new_box"), GetBox("get_box"), SetBox("set_box")
hijax.register_hitype(Box, lambda box: BoxType())


def added(box, x):
    box.set(box.get() + x)
    return box.get() * 2


def test_eagerly():
    box = Box(pnp.float32(1))
    assert added(box, 2) == 6
    assert box.get() == 3
    assert pc.typeof(box) == BoxType()


@pytest.mark.parametrize("how", ["argument", "closed over", "nested"])
def test_jitted_functions_change_it(how):
    box, traces = Box(pnp.zeros(2)), []

    def f(box, x):
        traces.append(x)
        return added(box, x)

    if how == "argument":
        run = pc.jit(f)
    elif how == "closed over":
        run = (lambda g: lambda _, x: g(x))(pc.jit(lambda x: f(box, x)))
    else:
        run = pc.jit(lambda box, x: pc.jit(lambda: f(box, x))())
    for n in range(1, 4):
        np.testing.assert_array_equal(run(box, 1.5), [3.0 * n] * 2)
        np.testing.assert_array_equal(box.get(), [1.5 * n] * 2)
    assert len(traces) == 1


def test_the_content_may_get_another_structure():
    box = Box(None)

    @pc.jit
    def f(box, x):
        found = box.get() or {}
        box.set({**found, f"number {len(found)}": x})

    for n in range(3):
        f(box, float(n))
    assert {name: float(x) for name, x in box.get().items()} == {f"number {n}": n for n in range(3)}


def test_one_that_a_function_makes():
    @pc.jit
    def f(x):
        box = Box(x)
        lax.fori_loop(0, 3, lambda i, c: (box.set(box.get() * 2), c)[1], 0)
        return box.get()

    assert f(1.0) == 8
    assert pc.grad(f)(1.0) == 8
    np.testing.assert_array_equal(pc.vmap(f)(pnp.arange(3.0)), [0, 8, 16])


@pytest.mark.parametrize("jitted", [False, True])
def test_loops_and_branches(jitted):
    box = Box((pnp.float32(1), pnp.float32(10)))

    def f():
        def body(c, x):
            a, b = box.get()
            box.set((a + x, b))
            lax.cond(x > 1, lambda: box.set((box.get()[0], b + 1)), lambda: None)
            return c + a, None

        return lax.scan(body, np.float32(0), np.arange(4, dtype="float32"))[0]

    assert (pc.jit(f) if jitted else f)() == 1 + 1 + 2 + 4
    assert tuple(map(float, box.get())) == (7, 12)


def test_references_in_it_stay_references():
    ref = pc.new_ref(1.0)
    box = Box({"ref": ref, "count": pnp.int32(0)})

    @pc.jit
    def f(box):
        content = box.get()
        content["ref"][...] += 2
        box.set({**content, "count": content["count"] + 1})

    f(box)
    f(box)
    assert box.get()["ref"] is ref
    assert (float(ref[...]), int(box.get()["count"])) == (5, 2)


def test_values_beside_a_gradient():
    box = Box(pnp.float32(0))

    def loss(x, box):
        box.set(lax.stop_gradient(x * 2))
        return x**2

    assert pc.grad(loss)(3.0, box) == 6
    assert box.get() == 6
    assert pc.eval_shape(added, box, 1.0).shape == ()
    assert box.get() == 6


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda box: pc.jit(lambda: box)(), TypeError, "returned .*Box.*not an array"),
        (
            lambda box: lax.scan(lambda *_: (0, box.set([box.get()] * 2)), 0, None, length=2),
            TypeError,
            "a loop or branch changes the structure of a value",
        ),
        (lambda box: pc.jit(lambda: box.set(None))(), TypeError, "loses its last array"),
        (lambda box: hijax.HiPrimitive("new").bind(1), NotImplementedError, "must define to_lojax"),
    ],
)
def test_errors(run, error, text):
    box = Box(pnp.float32(1))
    with pytest.raises(error, match=text):
        run(box)
    assert box.get() == 1
