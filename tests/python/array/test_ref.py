"""Mutable arrays outside of transformations: reads, writes, views, types, and errors. Values from NumPy."""

import copy

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

INDICES = [
    np.index_exp[...],
    np.index_exp[1],
    np.index_exp[-1],
    np.index_exp[1:3],
    np.index_exp[::2],
    np.index_exp[..., 0],
    np.index_exp[:, 1],
    np.index_exp[2, 3],
    np.index_exp[np.array([0, 2])],
    np.index_exp[np.array([0, 2]), np.array([1, 1])],
    np.index_exp[np.array([0, 2]), ..., np.array([1, 3])],
]
DTYPES = ["float32", "bfloat16", "float16", "int32", "uint8", "bool", "complex64"]


def data(dtype="float32"):
    return np.arange(12).reshape(3, 4).astype(dtype)


def held(ref):
    return np.asarray(ref[...])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reads_writes_and_sums_as_numpy(index):
    x = data()
    ref = pc.new_ref(x)
    np.testing.assert_array_equal(ref[index], x[index])
    np.testing.assert_array_equal(pc.ref.get(ref, index), x[index])
    new = np.asarray(np.cos(x[index]), "float32")
    before, x[index] = x[index].copy(), new
    np.testing.assert_array_equal(pc.ref.swap(ref, index, new), before)
    np.testing.assert_array_equal(held(ref), x)
    ref[index] = before
    x[index] = before
    np.testing.assert_array_equal(held(ref), x)
    ref.addupdate(new, index)
    x[index] += new
    np.testing.assert_array_equal(held(ref), x)
    ref[index] *= 2.0
    x[index] *= 2
    np.testing.assert_array_equal(held(ref), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_kept(dtype):
    x = pnp.arange(6).astype(dtype)
    ref = pc.new_ref(x)
    assert (ref.dtype, ref.shape, ref.ndim, ref.size, len(ref)) == (x.dtype, (6,), 1, 6, 6)
    ref[2] = x[5]
    np.testing.assert_array_equal(held(ref), np.asarray(x.at[2].set(x[5])))
    assert ref[...].dtype == x.dtype


@pytest.mark.parametrize("value", [np.int32(-2), np.uint8(254), np.int64(3), 7])
def test_integers_are_converted_to_the_dtype_of_the_reference(value):
    ref, theirs = pc.new_ref(pnp.zeros(2, pnp.int8)), jax.new_ref(jax.numpy.zeros(2, jax.numpy.int8))
    for r in (ref, theirs):
        r[1] = value
        r[0] = r[1]
    assert ref[...].tolist() == np.asarray(theirs[...]).tolist()
    assert ref.dtype == np.int8


def test_keys_are_held():
    ref = pc.new_ref(pc.random.key(3))
    ref[...] = pc.random.fold_in(ref[...], 1)
    expected = pc.random.key_data(pc.random.fold_in(pc.random.key(3), 1))
    np.testing.assert_array_equal(pc.random.key_data(ref[...]), expected)


@pytest.mark.parametrize("index", [np.index_exp[...], np.index_exp[1:], np.index_exp[np.array([2, 2, 0])]])
def test_bools_are_added_by_or(index):
    old, value = np.array([False, True, False]), np.array([True, False, False])
    value = value[: old[index].size]
    expected = old.copy()
    np.logical_or.at(expected, index, value)

    def added(x):
        ref = pc.new_ref(x)
        pc.ref.addupdate(ref, index, value)
        return ref[...]

    for call in (added, pc.jit(added)):
        assert call(pnp.array(old)).tolist() == expected.tolist()


# An index of a traced number, and the part of x of 4 x 3 elements that it moves to.
MOVED = [
    (lambda i: i, 5, np.index_exp[3]),
    (lambda i: i, -9, np.index_exp[0]),
    (lambda i: i, -1, np.index_exp[3]),
    (lambda i: (slice(1, 3), i), 3, np.index_exp[1:3, 2]),
    (lambda i: (i, i), 5, np.index_exp[3, 2]),
    (lambda i: pc.ds(i, 2), 3, np.index_exp[2:4]),
    (lambda i: pc.ds(i, 2), -9, np.index_exp[0:2]),
    (lambda i: (i, pc.ds(i, 2)), 4, np.index_exp[3, 1:3]),
]


@pytest.mark.parametrize(("index", "number", "part"), MOVED)
def test_writes_of_traced_places_move_inside_as_reads_do(index, number, part):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    added = x.copy()
    added[part] += x[part] + 1

    def doubled(x, i):
        ref = pc.new_ref(x)
        ref[index(i)] = ref[index(i)] * 2 + 1
        return ref[...]

    def accumulated(x, i):
        ref = pc.new_ref(x)
        pc.ref.addupdate(ref, index(i), pc.ref.swap(ref, index(i), ref[index(i)]) + 1)
        return ref[...]

    for f in (doubled, accumulated):
        np.testing.assert_array_equal(pc.jit(f)(x, number), added)
    slopes = np.ones_like(x)
    slopes[part] = 2
    np.testing.assert_array_equal(pc.jit(pc.grad(lambda x, i: doubled(x, i).sum()))(x, number), slopes)


def test_writes_of_arrays_of_places_are_dropped_outside():
    ref = pc.new_ref(pnp.zeros(3))
    ref[np.array([7, 1])] = pnp.ones(2)
    np.testing.assert_array_equal(held(ref), [0, 1, 0])


def test_an_index_that_occurs_twice_is_added_twice():
    ref = pc.new_ref(pnp.zeros(3))
    pc.ref.addupdate(ref, np.array([1, 1, 2]), pnp.ones(3))
    np.testing.assert_array_equal(held(ref), [0, 2, 1])


def test_the_first_array_does_not_change():
    x = pnp.arange(3.0)
    ref = pc.new_ref(x)
    ref[0] = 5.0
    y = ref[...]
    ref[1] = 6.0
    pc.jit(lambda: ref.set(ref[...] + 1))()
    np.testing.assert_array_equal(x, [0, 1, 2])
    np.testing.assert_array_equal(y, [5, 1, 2])
    np.testing.assert_array_equal(held(ref), [6, 7, 3])


def test_a_numpy_array_is_copied():
    x = np.zeros(3, "float32")
    ref = pc.new_ref(x)
    x[0] = 7
    np.testing.assert_array_equal(held(ref), [0, 0, 0])


def test_views_read_and_write_the_reference():
    ref = pc.new_ref(data())
    view = ref.at[1:].at[:, 2]
    assert (view.shape, view.dtype) == ((2,), np.float32)
    np.testing.assert_array_equal(view[...], [6, 10])
    view[0] = 60.0
    view.addupdate(pnp.ones(2))
    np.testing.assert_array_equal(view.swap(pnp.zeros(2)), [61, 11])
    view.set(pnp.full(2, 3.0))
    np.testing.assert_array_equal(held(ref), [[0, 1, 2, 3], [4, 5, 3, 7], [8, 9, 3, 11]])
    np.testing.assert_array_equal(view.get(), [3, 3])


def test_python_numbers_of_the_same_kind_are_converted():
    ref = pc.new_ref(pnp.zeros((), "bfloat16"))
    ref[...] += 1.5
    ref[...] = 2.5
    assert (ref.dtype.name, float(ref[...])) == ("bfloat16", 2.5)


def test_types_and_text():
    ref = pc.new_ref(1.0)
    assert isinstance(ref, pc.Ref)
    assert not isinstance(ref, pc.Array)
    assert not isinstance(pnp.ones(3), pc.Ref)
    assert str(pc.typeof(ref)) == "Ref{float32[]}"
    assert pc.typeof(ref) == pc.ref.AbstractRef(pc.typeof(pnp.float32(3)))
    assert len({pc.typeof(ref), pc.typeof(pc.new_ref(2.0))}) == 1
    assert repr(ref) == "Ref(1., dtype=float32)"
    assert ref.sharding == ref[...].sharding
    assert pc.tree.leaves({"a": ref}) == [ref]
    assert copy.copy([ref]) == [ref]
    assert len({ref, pc.new_ref(1.0)}) == 2


def test_empty_and_frozen():
    ref = pc.empty_ref(pc.ShapeDtypeStruct((2,), "int32"))
    ref[...] = pnp.array([1, 2], "int32")
    np.testing.assert_array_equal(pc.freeze(ref), [1, 2])
    assert pc.empty_ref(pnp.ones((2, 3))).shape == (2, 3)
    assert pc.free_ref(ref) == ()


def freed():
    ref = pc.new_ref(1.0)
    pc.free_ref(ref)
    return ref


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda r: r.set(1.0), ValueError, r"have the shape \(3,\), and the value is f32\[\]"),
        (lambda r: r.set(5, 0), ValueError, r"holds float32, and the value is i32\[\].*astype"),
        (lambda r: r.set(pnp.ones(2), slice(0, 1)), ValueError, r"shape \(1,\)"),
        (lambda r: r.set("text", 0), TypeError, "takes an array"),
        (lambda r: r.set(pc.new_ref(1.0), 0), ValueError, r"can't hold another.*ref\[\.\.\.\]"),
        (lambda r: r[5], ValueError, "index 5 is out of bounds for axis 0"),
        (lambda r: r[..., -4], ValueError, "index -4 is out of bounds"),
        (lambda r: r.set(1.0, 3), ValueError, "index 3 is out of bounds"),
        (lambda r: r[0, 0], IndexError, "too many indices"),
        (lambda r: r + 1, TypeError, "unsupported operand"),
        (lambda r: pnp.sin(r), TypeError, "Ref"),
        (lambda r: np.asarray(r), TypeError, r"is a reference, not an array.*ref\[\.\.\.\]"),
        (lambda r: pc.new_ref(r), TypeError, r"takes an array, got a reference"),
        (lambda r: pc.new_ref("text"), TypeError, "takes an array, got 'text'"),
        (lambda r: pc.new_ref(1.0, kind="other"), ValueError, "kind must be None or 'no_grad_no_remat'"),
        (lambda r: pc.new_ref(1.0, memory_space="host"), ValueError, "memory_space must be None"),
        (lambda r: pc.empty_ref("text"), TypeError, "takes an array or a ShapeDtypeStruct"),
        (lambda r: pc.freeze(pnp.ones(3)), ValueError, "takes a reference"),
        (lambda r: freed()[...], ValueError, "after free_ref"),
        (lambda r: freed().set(1.0), ValueError, "after free_ref"),
        (lambda r: pc.free_ref(freed()), ValueError, "freed before"),
        (lambda r: len(pc.new_ref(1.0)), TypeError, "without dimensions"),
    ],
)
def test_errors_say_what_and_what_to_do(run, error, text):
    ref = pc.new_ref(pnp.zeros(3))
    with pytest.raises(error, match=f"(?s){text}"):
        run(ref)
    np.testing.assert_array_equal(held(ref), [0, 0, 0])


def test_the_type_of_a_reference_is_that_of_its_array():
    ref = pc.new_ref(pnp.arange(3.0))
    aval, held = pc.typeof(ref), pc.typeof(ref[...])
    assert (aval.ndim, aval.size, aval.weak_type) == (1, 3, False)
    assert aval.sharding == held.sharding
    # A reference of users' types consists of itself alone.
    assert aval.lo_ty() == [aval]
    assert aval.lower_val(ref) == [ref]
    assert aval.raise_val(ref) is ref
    assert aval.normalize() is aval
    assert ref.format == ref[...].format
    assert ref.committed


def test_what_a_reference_does_not_hold():
    ref = pc.new_ref(1.0)
    pc.free_ref(ref)
    with pytest.raises(ValueError, match=r"Ref\{float32\[\]\} is used after free_ref"):
        ref[...] = 2.0
    kept = []
    pc.grad(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(pc.errors.UnexpectedTracerError, match="is used after that call has ended"):
        pc.new_ref(0.0)[...] = kept[0]
