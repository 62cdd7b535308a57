"""References as arguments of `jvp`: their tangents are in references, too."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

X, T = np.float32([0.5, 1.5, -2.0]), np.float32([1.0, 0.5, 2.0])


def product(ref, x):
    ref[...] = ref[...] * x
    return ref[...].sum()


def sines(ref, x):
    def body(i, c):
        ref[i] = pnp.sin(ref[i]) * c
        return c * x

    return lax.fori_loop(0, 3, body, x)


def read(ref, x):
    return ref[1] ** 2 * x


def forget(ref, x):
    ref[0] = 5.0
    return x


def pure(f):
    """The function of the value in the place of the reference, and what it holds at the end."""

    def run(value, x):
        ref = pc.new_ref(value)
        return f(ref, x), ref[...]

    return run


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("f", [product, sines, read, forget])
def test_the_tangents_are_those_of_the_values(f, jitted):
    refs = pc.new_ref(X), pc.new_ref(T)

    def run(ref, tangent):
        return pc.jvp(f, (ref, 3.0), (tangent, 2.0))

    out, slope = (pc.jit(run) if jitted else run)(*refs)
    # Central differences in double precision.
    with enable_x64(True):
        step = 1e-6
        (up, above), (down, below) = (
            pure(f)(X.astype(float) + sign * step * T, 3.0 + 2 * sign * step) for sign in (1, -1)
        )
        want = [np.asarray(a - b) / (2 * step) for a, b in ((up, down), (above, below))]
        at, last = pure(f)(X.astype(float), 3.0)
    np.testing.assert_allclose(out, at, rtol=1e-5)
    np.testing.assert_allclose(refs[0][...], last, rtol=1e-5)
    np.testing.assert_allclose(slope, want[0], rtol=1e-4)
    np.testing.assert_allclose(refs[1][...], want[1], rtol=1e-4, atol=1e-6)


def test_trees_integers_and_aux():
    refs = pc.new_ref(X), pc.new_ref(T), pc.new_ref(pnp.arange(3)), pc.new_ref(pnp.arange(3))

    def f(tree, counts):
        counts[0] = 7
        tree["r"][0] = tree["x"] ** 2
        return tree["r"][...] * counts[2], tree["r"][1]

    trees = {"r": refs[0], "x": 3.0}, {"r": refs[1], "x": 1.0}
    out, slope, aux = pc.jvp(f, (trees[0], refs[2]), (trees[1], refs[3]), has_aux=True)
    np.testing.assert_allclose(out, 2 * np.float32([9, *X[1:]]))
    np.testing.assert_allclose(slope, 2 * np.float32([6, *T[1:]]))
    np.testing.assert_allclose(aux, X[1])
    np.testing.assert_allclose(refs[1][...], [6, *T[1:]])
    assert refs[2][...].tolist() == [7, 1, 2]
    assert refs[3][...].tolist() == [0, 1, 2]


def test_within_other_transformations():
    def slope(x):
        refs = pc.new_ref(x), pc.new_ref(pnp.ones_like(x))
        pc.jvp(lambda ref, y: ref.set(ref[...] ** 2 * y), (refs[0], x), (refs[1], 1.0))
        return refs[1][...]

    # The slope of x ** 3 in the direction (1, 1) is 3 * x ** 2.
    np.testing.assert_allclose(pc.vmap(slope)(X), 3 * X**2, rtol=1e-6)
    np.testing.assert_allclose(pc.vmap(pc.grad(slope))(X), 6 * X, rtol=1e-6)


REF, TANGENT = pc.new_ref(X), pc.new_ref(T)


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda: pc.jvp(read, (REF, 1.0), (T, 1.0)), TypeError, "the tangent for ref must be a reference.*new_ref"),
        (lambda: pc.jvp(read, (X, 1.0), (TANGENT, 1.0)), TypeError, r"for ref must be f32\[3\], got Ref"),
        (lambda: pc.jvp(read, (REF, 1.0), (REF, 1.0)), ValueError, "a reference of its own, got that of ref"),
        (lambda: pc.jvp(lambda a, b: a[0], (REF, REF), (TANGENT, TANGENT)), ValueError, "both a and b"),
        (
            lambda: pc.jvp(lambda a, b: a[0], (REF, pc.new_ref(X)), (TANGENT, TANGENT)),
            ValueError,
            "for b must be a reference of its own, got that of a",
        ),
        (lambda: pc.jvp(read, (REF, 1.0), (pc.new_ref(T[:2]), 1.0)), ValueError, r"must be f32\[3\], got f32\[2\]"),
        (lambda: pc.jvp(read, (REF, 1.0), (TANGENT,)), TypeError, "must have the structure"),
        (lambda: pc.vjp(read, REF, 1.0), TypeError, r"vjp: argument 0 \('ref'\) of read is a reference.*ref\[\.\.\.\]"),
        (lambda: pc.linearize(read, REF, 1.0), TypeError, r"linearize: argument 0 \('ref'\) of read is a reference"),
    ],
)
def test_errors(run, error, text):
    with pytest.raises(error, match=f"(?s){text}"):
        run()
    np.testing.assert_array_equal(REF[...], X)
    np.testing.assert_array_equal(TANGENT[...], T)
