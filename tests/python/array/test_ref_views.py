"""Views of references in another form: reshape, transpose, bitcast, and their types."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.errors import ArgumentError

X = np.arange(24, dtype=np.float32).reshape(4, 6)

# A view of a reference to X, and the same view of NumPy's array, which shares the memory.
VIEWS = {
    "reshape": (lambda r: r.reshape(6, -1), lambda x: x.reshape(6, 4)),
    "reshape of a shape": (lambda r: r.reshape((2, 12)), lambda x: x.reshape(2, 12)),
    "rows, reshape": (lambda r: r.at[1:3].reshape(12), lambda x: x[1:3].reshape(12)),
    "reshape, rows": (lambda r: r.reshape(2, 2, 6).at[1], lambda x: x.reshape(2, 2, 6)[1]),
    "window, reshape": (lambda r: r.at[pc.ds(1, 2)].reshape(3, 4), lambda x: x[1:3].reshape(3, 4)),
    "transpose": (lambda r: r.T, lambda x: x.T),
    "permuted": (lambda r: r.reshape(2, 2, 6).transpose(2, 0, 1), lambda x: x.reshape(2, 2, 6).transpose(2, 0, 1)),
    "permuted rows": (
        lambda r: r.reshape(2, 2, 6).transpose((1, 2, 0)).at[1, 2:4],
        lambda x: x.reshape(2, 2, 6).transpose(1, 2, 0)[1, 2:4],
    ),
}  # fmt: skip


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_read_and_written(name, traced):
    view, of = VIEWS[name]
    want = X.copy()
    part = of(want)
    ref = pc.new_ref(pnp.array(X))

    def run(ref):
        seen = view(ref)
        assert seen.shape == part.shape
        first = seen[...]
        seen.addupdate(pnp.full(part.shape, 3.0))
        seen[0] = pnp.zeros(part.shape[1:])
        return first, seen.swap(seen[...] * 2)

    first, second = (pc.jit(run) if traced else run)(ref)
    np.testing.assert_array_equal(first, part)
    part += 3
    part[0] = 0
    np.testing.assert_array_equal(second, part)
    part *= 2
    np.testing.assert_array_equal(ref[...], want)


def test_bits_as_another_dtype():
    ref = pc.new_ref(pnp.array(X))
    np.testing.assert_array_equal(ref.bitcast("int32")[...], X.view(np.int32))
    # The halves of an element are neighbours along the last dimension but one, the lower one first.
    halves = ref.bitcast(np.uint16)
    assert halves.shape == (8, 6)
    np.testing.assert_array_equal(halves[1::2], X.view(np.uint32) >> 16)
    np.testing.assert_array_equal(halves.bitcast("float32")[...], X)
    halves[0] = pnp.full(6, 1, "uint16")
    halves.at[1].set(pnp.full(6, 0x3F80, "uint16"))
    np.testing.assert_array_equal(ref[0], np.full(6, 0x3F800001, np.uint32).view(np.float32))
    np.testing.assert_array_equal(ref[1:], X[1:])


def test_the_type_of_a_window():
    ref = pc.new_ref(pnp.array(X))
    assert pc.jit(lambda ref, i: ref.at[pc.ds(i, 2), 1:4][...])(ref, 1).shape == (2, 3)
    assert ref.at[pc.ds(1, 2), 1:4].shape == (2, 3)
    assert ref.at[pc.ds(0, 2, 3)].shape == (2, 6)


@pytest.mark.parametrize(
    ("view", "text"),
    [
        (lambda r: r.reshape(5, 5), r"shape \(4, 6\) can't have the shape \(5, 5\)"),
        (lambda r: r.transpose(0, 0), "expected each of the 2 axes once"),
        (lambda r: r.at[:3].bitcast("float64"), "does not fit"),
        (lambda r: r.at[0].bitcast("int16"), "reshape the reference first"),
    ],
)
def test_a_view_that_does_not_fit(view, text):
    with pytest.raises(ArgumentError, match=text):
        view(pc.new_ref(pnp.array(X)))


def test_an_operation_on_a_reference_says_to_read_it():
    ref = pc.new_ref(pnp.array(X))
    for run in (pnp.sin, lambda r: pc.lax.dot(r, r), lambda r: pc.lax.add(r.at[0], 1.0)):
        with pytest.raises(ValueError, match=r"got a reference of type Ref.* read it, with ref\[\.\.\.\]"):
            run(ref)
