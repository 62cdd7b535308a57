"""Mutable arrays in loops and branches: closed over, given as operands, scanned; eagerly and compiled. Expected values
are those of Python's loops over NumPy arrays."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.jit import eager


def held(ref):
    return np.asarray(ref[...])


def numbers(count):
    return np.arange(1, count + 1, dtype="float32")


# Each program gets a reference of three elements, and `lax` or a stand-in whose loops are Python's.


def scan_closed_over(lax, ref):
    def body(carry, x):
        ref[0] = ref[0] * 2 + x
        return carry + ref[0], ref[0]

    return lax.scan(body, np.float32(0), numbers(4))


def scan_that_reads(lax, ref):
    return lax.scan(lambda c, x: (c + x * ref[1], c), np.float32(1), numbers(4))


def scan_backwards(lax, ref):
    def body(_, x):
        ref[1] += x * ref[1]
        return np.float32(0), ref[1]

    return lax.scan(body, np.float32(0), numbers(3), reverse=True)


def scan_in_scan(lax, ref):
    def outer(c, x):
        def inner(d, y):
            ref[2] += x * y
            return d + ref[2], None

        c, _ = lax.scan(inner, c, numbers(3))
        ref[0] += c
        return c, None

    return lax.scan(outer, np.float32(0), numbers(2))[0]


def counted(lax, ref):
    def body(i, c):
        ref[0] += c
        return c * 2

    return lax.fori_loop(0, 5, body, np.float32(1))


def while_both(lax, ref):
    def body(c):
        ref[0] += 3
        return c + 1

    return lax.while_loop(lambda c: ref[0] < 20, body, np.int32(0))


def bounded(lax, ref):
    def body(c):
        ref[0] += 3
        return c + 1

    return lax.while_loop(lambda c: ref[0] < 20, body, np.int32(0), max_steps=4)


def branch_of_one(lax, ref):
    lax.cond(ref[0] > 0, lambda: ref.set(ref[...] + 10), lambda: None)
    lax.cond(ref[0] > 1000, lambda: ref.set(ref[...] * 0), lambda: None)
    return ref[...]


def branch_of_operands(lax, ref):
    lax.cond(ref[0] > 0, lambda r, x: r.addupdate(x, 1), lambda r, x: r.addupdate(x, 2), ref, np.float32(5))
    return ref[1]


def several_branches(lax, ref):
    for i in range(3):
        number = ref[0].astype("int32") * 0 + i
        lax.switch(number, [lambda: ref.set(ref[1], 0), lambda: ref.set(ref[2] + 1, 1), lambda: ref.set(ref[0], 2)])
    return ref[...]


def branch_in_loop(lax, ref):
    def body(c, x):
        lax.cond(x > 2, lambda: ref.addupdate(x, 0), lambda: ref.addupdate(c, 1))
        return c + ref[0], ref[1]

    return lax.scan(body, np.float32(0), numbers(4))


def mapped_one_after_the_other(lax, ref):
    def f(x):
        ref[0] += x
        return ref[0]

    return lax.map(f, numbers(4))


PROGRAMS = [
    scan_closed_over,
    scan_that_reads,
    scan_backwards,
    scan_in_scan,
    counted,
    while_both,
    bounded,
    branch_of_one,
    branch_of_operands,
    several_branches,
    branch_in_loop,
    mapped_one_after_the_other,
]


class Steps:
    """Control flow by Python's."""

    @staticmethod
    def scan(f, carry, xs, reverse=False):
        ys = [None] * len(xs)
        for i in range(len(xs))[:: -1 if reverse else 1]:
            carry, ys[i] = f(carry, xs[i])
        return carry, None if ys[0] is None else np.stack(ys)

    @staticmethod
    def fori_loop(lower, upper, f, c):
        for i in range(lower, upper):
            c = f(i, c)
        return c

    @staticmethod
    def while_loop(goes_on, f, c, max_steps=1000):
        while goes_on(c) and max_steps:
            c, max_steps = f(c), max_steps - 1
        return c

    @staticmethod
    def cond(holds, yes, no, *operands):
        return (yes if holds else no)(*operands)

    @staticmethod
    def switch(index, branches):
        return branches[int(index)]()

    @staticmethod
    def map(f, xs):
        return np.stack([f(x) for x in xs])


class Cell:
    """An array of NumPy under the names of a reference."""

    def __init__(self, x):
        self.x = x

    def __getitem__(self, index):
        return self.x[index].copy()

    def __setitem__(self, index, value):
        self.x[index] = value

    def set(self, value, index=...):
        self.x[index] = value

    def addupdate(self, value, index=...):
        self.x[index] += value


@pytest.mark.parametrize("how", ["eager", "jit", "argument"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_loops_and_branches(program, how):
    start = np.array([1, 2, 3], "float32")
    cell, ref = Cell(start.copy()), pc.new_ref(start)
    expected = program(Steps, cell)
    if how == "eager":
        got = program(lax, ref)
    elif how == "jit":
        got = pc.jit(lambda: program(lax, ref))()
    else:
        got = pc.jit(lambda r: program(lax, r))(ref)
    for one, other in zip(pc.tree.leaves(expected), pc.tree.leaves(got), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6)
    np.testing.assert_allclose(held(ref), cell.x, rtol=1e-6)


@pytest.mark.parametrize("jitted", [False, True])
def test_slices_of_a_reference_are_references(jitted):
    ref = pc.new_ref(np.arange(6, dtype="float32").reshape(3, 2))

    def run():
        def body(total, both):
            i, row = both
            row[0] += i * 10
            total = total + row[...].sum()
            row[1] = total
            return total, row[0]

        return lax.scan(body, np.float32(0), (numbers(3), ref))

    total, firsts = (pc.jit(run) if jitted else run)()
    np.testing.assert_array_equal(firsts, [10, 22, 34])
    np.testing.assert_array_equal(total, 11 + 25 + 39)
    np.testing.assert_array_equal(held(ref), [[10, 11], [22, 36], [34, 75]])


def test_a_reference_made_in_a_body():
    def body(c, x):
        ref = pc.new_ref(x)
        ref[...] += c
        return c + 1, ref[...]

    np.testing.assert_array_equal(lax.scan(body, 0, np.arange(4))[1], [0, 2, 4, 6])


@pytest.mark.parametrize("program", [scan_closed_over, while_both, branch_of_one], ids=lambda f: f.__name__)
def test_new_functions_of_one_line_are_compiled_once(program, monkeypatch):
    compiled = []
    original = eager.compiled
    monkeypatch.setattr(
        eager, "compiled", lambda graph, *rest, **more: compiled.append(1) or original(graph, *rest, **more)
    )
    # More calls than CPython takes to specialize the code, which moves the places of its frames.
    counts = []
    for x in range(12):
        program(lax, pc.new_ref(np.full(3, x, "float32")))
        counts.append(len(compiled))
        compiled.clear()
    assert counts[2:] == [0] * 10


REF = pc.new_ref(pnp.zeros(3))


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda: lax.scan(lambda c, x: (pc.new_ref(c), x), 0.0, np.ones(3)), "traced for scan returned a mutable"),
        (lambda: lax.scan(lambda c, _: (c, None), REF, None, length=2), "traced for scan returned a mutable"),
        (lambda: lax.scan(lambda c, _: (c, None), (REF, REF), None, length=2), "appeared at both"),
        (lambda: lax.scan(lambda c, x: (c, REF[0]), 0, REF), "closed over and passed as the argument xs"),
        (lambda: lax.cond(REF[0] > 0, lambda: pc.new_ref(1.0), lambda: pc.new_ref(2.0)), "traced for cond returned"),
        (lambda: lax.cond(REF[0] > 0, lambda x, y: None, lambda x, y: None, REF, REF), "for cond.*both x and y"),
        (lambda: lax.while_loop(lambda c: REF.set(REF[...]) or c < 1, lambda c: c + 1, 0), "cond_fun writes"),
        (lambda: lax.while_loop(lambda c: True, lambda c: c, REF), "traced for while_loop returned a mutable"),
    ],
)
def test_errors(run, text):
    with pytest.raises((ValueError, TypeError), match=f"(?s){text}"):
        run()
    np.testing.assert_array_equal(held(REF), [0, 0, 0])
