"""Registered containers with unhashable data, or data whose == gives an array: in trees, transformations and keys."""

import dataclasses

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import tree_util
from pycompiler.core.types import tree, tree_data


class Box:
    """A container of `value`, with any data."""

    def __init__(self, value, data):
        self.value = value
        self.data = data


tree_util.register_pytree_node(Box, lambda box: ((box.value,), box.data), lambda data, children: Box(*children, data))


@dataclasses.dataclass
class Mutable:
    """Data compared by its fields, without a hash; its == of arrays is not a bool."""

    sizes: list
    weights: np.ndarray


class Odd:
    """Data hashed by identity, whose == gives an array."""

    def __init__(self, values):
        self.values = np.asarray(values)

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self.values == other.values


class Refusing:
    """Data that is neither hashed nor compared."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("can't be compared")


# Makers of equal data, and of different data.
DATA = {
    "list": (lambda: [1, 2], lambda: [1, 3]),
    "dict": (lambda: {"a": [1], "b": 2}, lambda: {"a": [1], "c": 2}),
    "set": (lambda: {1, 2}, lambda: {1, 3}),
    "array": (lambda: np.arange(3.0), lambda: np.arange(4.0)),
    "nan": (lambda: np.array([np.nan, 1.0]), lambda: np.array([np.nan, 2.0])),
    "dtype": (lambda: np.arange(3, dtype=np.int8), lambda: np.arange(3, dtype=np.int16)),
    "shape": (lambda: np.ones((1,)), lambda: np.ones(())),
    "array in a tuple": (lambda: (np.ones(2), "x"), lambda: (np.zeros(2), "x")),
    "shape in a tuple": (lambda: (np.ones(1),), lambda: (np.ones(()),)),
    "array in a dict": (lambda: {"w": [np.ones(2)]}, lambda: {"w": [np.ones(3)]}),
    "array of ours": (lambda: pnp.arange(3), lambda: pnp.arange(1, 4)),
    "dataclass": (lambda: Mutable([1], np.ones(2)), lambda: Mutable([1], np.zeros(2))),
}
ALL = pytest.mark.parametrize(("make", "other"), DATA.values(), ids=DATA.keys())


@ALL
def test_structures_are_compared_and_hashed(make, other):
    one, same, differs = (tree.tree_structure(Box(0, data)) for data in (make(), make(), other()))
    assert one == same
    assert hash(one) == hash(same)
    assert one != differs
    assert {one: 1}[same] == 1
    assert differs not in {one: 1}


@ALL
def test_functions_of_trees(make, other):
    data = make()
    box = tree.tree_map(lambda x: x + 1, [Box(1, data)])[0]
    assert box.value == 2
    assert box.data is data
    assert tree.tree_map(lambda x, y: x + y, Box(1, make()), Box(2, make())).value == 3
    with pytest.raises(ValueError, match="trees differ at 'tree'"):
        tree.tree_map(lambda x, y: x, Box(1, make()), Box(2, other()))
    (path, value), *_ = tree_util.tree_flatten_with_path({"w": Box(5, data)})[0]
    assert value == 5
    assert tree_util.keystr(path) == "['w'][<flat index 0>]"
    assert tree.tree_structure({"w": Box(5, data)}).paths() == ["['w'][0]"]
    assert tree.tree_broadcast(Box(1, make()), Box((2, 3), make())).value == (1, 1)


@ALL
def test_jit_traces_once_for_equal_data(make, other):
    seen = []

    @pc.jit
    def f(box):
        seen.append(box.data)
        return Box(box.value * 2, box.data)

    results = [f(Box(pnp.float32(3), data)) for data in (make(), make(), other(), make(), other())]
    assert len(seen) == 2
    assert [float(result.value) for result in results] == [6] * 5
    one, differs = (tree.tree_structure(Box(0, data)) for data in (make(), other()))
    assert [tree.tree_structure(result) for result in results] == [one, one, differs, one, differs]


@ALL
def test_transformations(make, other):
    box = Box(pnp.arange(1.0, 4.0), make())
    gradient = pc.grad(lambda box: (box.value**2).sum())(box)
    np.testing.assert_array_equal(gradient.value, [2, 4, 6])
    np.testing.assert_array_equal(pc.vmap(lambda box: Box(box.value * 2, box.data))(box).value, [2, 4, 6])
    carry, _ = pc.lax.scan(lambda c, _: (Box(c.value * 2, c.data), None), box, None, length=3)
    np.testing.assert_array_equal(carry.value, [8, 16, 24])
    looped = pc.lax.fori_loop(0, 3, lambda _, c: Box(c.value + 1, c.data), box)
    np.testing.assert_array_equal(looped.value, [4, 5, 6])
    chosen = pc.lax.cond(True, lambda b: Box(b.value, b.data), lambda b: Box(-b.value, b.data), box)
    np.testing.assert_array_equal(chosen.value, [1, 2, 3])
    again = pc.checkpoint(lambda box: Box(pnp.sin(box.value), box.data))
    np.testing.assert_allclose(pc.grad(lambda b: again(b).value.sum())(box).value, np.cos([1, 2, 3]), rtol=1e-6)
    tangent = pc.jvp(lambda b: b.value * 2, (box,), (Box(pnp.ones(3), make()),))[1]
    np.testing.assert_array_equal(tangent, [2, 2, 2])
    with pytest.raises(TypeError, match="must have the structure"):
        pc.jvp(lambda b: b.value * 2, (box,), (Box(pnp.ones(3), other()),))


@pytest.mark.parametrize("transform", [pc.jit, pc.checkpoint, lambda f: pc.jit(lambda box: pc.jit(f)(box))])
def test_data_that_changes_is_other_data(transform):
    f = transform(lambda box: box.value * sum(box.data["sizes"]))
    box = Box(pnp.float32(2), {"sizes": [1, 2]})
    assert float(f(box)) == 6
    box.data["sizes"].append(7)
    assert float(f(box)) == 20
    assert float(f(Box(pnp.float32(2), {"sizes": [1, 2]}))) == 6


def test_the_body_of_a_loop_sees_data_that_changes():
    def body(carry, _):
        return Box(carry.value + sum(carry.data), carry.data), None

    box = Box(pnp.float32(0), [1])
    assert float(pc.lax.scan(body, box, None, length=2)[0].value) == 2
    box.data.append(4)
    assert float(pc.lax.scan(body, box, None, length=2)[0].value) == 10


def test_an_equality_that_gives_an_array():
    same = Odd([1, 2])
    assert tree.tree_structure(Box(0, same)) == tree.tree_structure(Box(0, same))
    assert tree.tree_structure(Box(0, same)) != tree.tree_structure(Box(0, Odd([1, 2])))
    f = pc.jit(lambda box: box.value + 1)
    assert [float(f(Box(1.0, same))), float(f(Box(1.0, Odd([3, 4]))))] == [2, 2]


def test_what_can_not_be_compared_is_equal_to_itself_alone():
    one = Refusing()
    assert tree.tree_structure(Box(0, one)) == tree.tree_structure(Box(0, one))
    assert tree.tree_structure(Box(0, one)) != tree.tree_structure(Box(0, Refusing()))
    assert float(pc.jit(lambda box: box.value * 2)(Box(1.0, one))) == 2


def test_static_arguments_must_still_be_hashable():
    with pytest.raises(ValueError, match="must be hashable"):
        pc.jit(lambda x, sizes: x, static_argnums=1)(1.0, [1])


def test_data_of_other_kinds():
    names = np.array(["a", None, [1]], dtype=object)
    assert tree_data.equal_data(names, names.copy())
    assert not tree_data.equal_data(names, np.array(["a", None, [2]], dtype=object))
    assert not tree_data.equal_data(1, 1.0)
    x, y = pnp.arange(3), pnp.arange(3)
    assert tree_data.equal_data(x, y)
    y.delete()
    assert not tree_data.equal_data(x, y)
    assert tree_data.equal_data(y, y)


def test_data_that_can_not_be_copied_is_compared_by_itself():
    class Handle:
        __hash__ = None

        def __deepcopy__(self, memo):
            raise TypeError("a handle of the system")

    handle = Handle()
    assert tree_data.copy_data(handle) is handle
    assert tree.tree_structure(Box(0, handle)) == tree.tree_structure(Box(0, handle))
    assert tree.tree_structure(Box(0, handle)) != tree.tree_structure(Box(0, Handle()))
