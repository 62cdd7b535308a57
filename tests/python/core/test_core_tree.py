"""Trees: the same answers as `jax.tree_util`, registered containers, errors with key paths."""

import collections
import dataclasses

import jax
import pytest

from pycompiler.core import tree

Point = collections.namedtuple("Point", ["x", "y"])

TREES = [
    3,
    None,
    (),
    [],
    {},
    (1, [2, 3], {"b": 4, "a": (5, None)}),
    Point(1, {"z": [2]}),
    collections.OrderedDict([("b", 1), ("a", [2, 3])]),
    {"p": Point((), None), "q": [[], [1]]},
]


@pytest.mark.parametrize("x", TREES)
def test_leaves_and_structure_are_those_of_jax(x):
    leaves, treedef = tree.tree_flatten(x)
    assert leaves == jax.tree_util.tree_leaves(x)
    assert str(treedef) == str(jax.tree_util.tree_structure(x))
    assert tree.tree_unflatten(treedef, leaves) == x
    assert tree.tree_structure(x) == treedef
    assert hash(tree.tree_structure(x)) == hash(treedef)
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(x)[0]]
    assert [path for path, _ in tree.tree_paths(x)] == paths
    assert tree.tree_map(lambda a, b: a + b, x, x) == jax.tree_util.tree_map(lambda a: a + a, x)


def test_reduce_all_and_transpose():
    assert tree.tree_reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]}) == 6
    assert tree.tree_reduce(lambda a, b: a + b, [], 7) == 7
    assert tree.tree_all([True, {"a": 1}])
    assert not tree.tree_all([True, {"a": 0}])
    outer, inner = tree.tree_structure([0, 0]), tree.tree_structure({"a": 0, "b": 0})
    assert tree.tree_transpose(outer, inner, [{"a": 1, "b": 2}, {"a": 3, "b": 4}]) == {"a": [1, 3], "b": [2, 4]}


def test_is_leaf_stops_the_descent():
    assert tree.tree_leaves([(1, 2), None], is_leaf=lambda x: isinstance(x, tuple) or x is None) == [(1, 2), None]


def test_a_different_structure_is_an_error_that_names_the_place():
    with pytest.raises(ValueError, match=r"\['a'\]"):
        tree.tree_map(lambda a, b: a, {"a": [1, 2]}, {"a": [1]})
    with pytest.raises(ValueError, match="3"):
        tree.tree_unflatten(tree.tree_structure([1, 2]), [1, 2, 3])


def test_registered_classes_are_containers():
    @tree.register_pytree_node_class
    class Pair:
        def __init__(self, a, b, name):
            self.a, self.b, self.name = a, b, name

        def tree_flatten(self):
            return (self.a, self.b), self.name

        @classmethod
        def tree_unflatten(cls, name, children):
            return cls(*children, name)

    doubled = tree.tree_map(lambda x: 2 * x, Pair(1, [2], "p"))
    assert (doubled.a, doubled.b, doubled.name) == (2, [4], "p")
    assert tree.tree_structure(Pair(1, 2, "p")) != tree.tree_structure(Pair(1, 2, "q"))
    with pytest.raises(ValueError, match="registered"):
        tree.register_pytree_node_class(Pair)


def test_dataclasses_are_registered_by_their_fields():
    @tree.register_dataclass
    @dataclasses.dataclass
    class Layer:
        weight: object
        bias: object
        name: str = dataclasses.field(default="", metadata={"static": True})

    layer = tree.tree_map(lambda x: -x, Layer(1, 2, "out"))
    assert layer == Layer(-1, -2, "out")

    @dataclasses.dataclass
    class Other:
        a: int
        b: int

    with pytest.raises(ValueError, match="must together be the fields of Other"):
        tree.register_dataclass(Other, data_fields=["a"], meta_fields=["c"])
    with pytest.raises(TypeError, match="int is no dataclass"):
        tree.register_dataclass(int)
