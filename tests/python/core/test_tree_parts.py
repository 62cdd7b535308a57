"""Structures: decomposed, composed and pickled, compared with jax's PyTreeDef."""

import collections
import copy
import pickle

import jax
import pytest

from pycompiler import tree_util
from pycompiler._runtime import PyTreeDef
from pycompiler.core.types import tree

Point = collections.namedtuple("Point", ["x", "y"])

TREES = {
    "leaf": 3,
    "none": None,
    "tuple": (1, 2),
    "empty": (),
    "list": [1, [2]],
    "dict": {"b": 1, "a": (2, None)},
    "ordered": collections.OrderedDict(b=1, a=2),
    "default": collections.defaultdict(int, {"b": 1, "a": 3}),
    "named": Point(1, {"z": [2]}),
}
ALL = pytest.mark.parametrize("x", TREES.values(), ids=TREES.keys())


@ALL
def test_the_root_is_that_of_jax(x):
    ours, theirs = tree.tree_structure(x), jax.tree_util.tree_structure(x)
    assert ours.node_data() == theirs.node_data()
    assert [str(child) for child in ours.children()] == [str(child) for child in theirs.children()]
    assert (ours.num_leaves, ours.num_nodes) == (theirs.num_leaves, theirs.num_nodes)


@ALL
def test_a_root_and_its_children_make_the_structure(x):
    treedef = tree.tree_structure(x)
    again = PyTreeDef.from_node_data_and_children(None, treedef.node_data(), treedef.children())
    assert again == treedef
    assert hash(again) == hash(treedef)
    assert again.unflatten(tree.tree_leaves(x)) == x


@ALL
def test_structures_of_structures(x):
    inner, other = (1, {"a": 2}), jax.tree_util.tree_structure((1, {"a": 2}))
    composed = tree.tree_structure(x).compose(tree.tree_structure(inner))
    assert str(composed) == str(jax.tree_util.tree_structure(x).compose(other))
    assert composed == tree.tree_structure(tree.tree_map(lambda _: inner, x))


@ALL
def test_walks(x):
    def walked(treedef, leaves):
        seen = []
        value = treedef.walk(
            lambda *node: seen.append(node) or len(seen), lambda leaf: seen.append(leaf) or -leaf, leaves
        )
        return value, seen

    leaves = tree.tree_leaves(x)
    assert walked(tree.tree_structure(x), leaves) == walked(jax.tree_util.tree_structure(x), leaves)


def test_walks_need_as_many_leaves():
    treedef = tree.tree_structure((1, 2))
    assert treedef.walk(lambda children, _: children, None, [3, 4]) == (3, 4)
    with pytest.raises(ValueError, match="too few"):
        treedef.walk(lambda children, _: children, None, [3])
    with pytest.raises(ValueError, match="too many"):
        treedef.walk(lambda children, _: children, None, [3, 4, 5])


def test_nested_iterables():
    treedef = tree.tree_structure({"a": (1, None), "b": [2, 3]})
    assert treedef.from_iterable_tree([(5, ()), [6, 7]]) == {"a": (5, None), "b": [6, 7]}
    with pytest.raises(ValueError, match="3 items for a node of 2 children"):
        treedef.from_iterable_tree([1, 2, 3])


@ALL
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(x, protocol):
    treedef = tree.tree_structure(x)
    assert pickle.loads(pickle.dumps(treedef, protocol)) == treedef
    assert copy.deepcopy(treedef) == treedef


def test_pickles_of_registered_nodes():
    treedef = tree.tree_structure(tree_util.Partial(max, 1, key=len))
    assert pickle.loads(pickle.dumps(treedef)) == treedef


def test_what_is_no_node_is_refused():
    leaf = tree.tree_structure(0)
    with pytest.raises(ValueError, match="is no node"):
        PyTreeDef.from_node_data_and_children(None, (int, None), [])
    with pytest.raises(ValueError, match="2 keys can't be made of 1 children"):
        PyTreeDef.from_node_data_and_children(None, (dict, ["a", "b"]), [leaf])
    with pytest.raises(ValueError, match="a leaf has no children"):
        PyTreeDef.from_node_data_and_children(None, None, [leaf])
    with pytest.raises(TypeError, match="children must be PyTreeDefs"):
        PyTreeDef.from_node_data_and_children(None, (tuple, None), [1])
    with pytest.raises(TypeError, match="node_data must be None or a pair"):
        PyTreeDef.from_node_data_and_children(None, tuple, [])
    with pytest.raises(TypeError, match="takes a PyTreeDef"):
        leaf.compose(3)


def test_the_registry_as_an_object():
    """JAX's libraries flatten trees by `default_registry`."""
    ours, theirs = tree_util.default_registry, jax.tree_util.default_registry
    for x in ((1, [2]), {"b": 1, "a": (2,)}, None, [], 3):
        leaves, structure = ours.flatten(x)
        assert (leaves, str(structure)) == (theirs.flatten(x)[0], str(theirs.flatten(x)[1]))
        assert str(ours.flatten_with_path(x)[0]) == str(theirs.flatten_with_path(x)[0])
        level, wanted = ours.flatten_one_level(x), theirs.flatten_one_level(x)
        assert level == wanted if wanted is None else (list(level[0]), level[1]) == (list(wanted[0]), wanted[1])
        assert str(ours.flatten_one_level_with_keys(x)) == str(theirs.flatten_one_level_with_keys(x))
    assert ours.flatten((1, [2]), lambda x: isinstance(x, list))[0] == [1, [2]]
    assert ours.is_node(tuple)
    assert not ours.is_node(int)
    assert pickle.loads(pickle.dumps(ours)) is ours

    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    class Named:
        def __init__(self, a, b):
            self.a, self.b = a, b

    ours.register_node(Pair, lambda x: ((x.a,), x.b), lambda b, children: Pair(children[0], b))
    ours.register_dataclass_node(Named, ("a",), ("b",))
    for kind in (Pair, Named):
        doubled = tree_util.tree_map(lambda x: 2 * x, kind(3, "b"))
        assert (type(doubled), doubled.a, doubled.b) == (kind, 6, "b")
    structure = tree_util.tree_structure((1, {"a": 2}))
    made = tree_util.PyTreeDef.from_node_data_and_children(ours, structure.node_data(), structure.children())
    assert made == structure


@pytest.mark.parametrize("x", [1, None, (), [], {}, (1,), {"a": None}])
def test_which_structure_is_a_leaf(x):
    """A structure of one node, as in jax: that of None is one, too."""
    assert tree_util.treedef_is_leaf(tree_util.tree_structure(x)) == jax.tree_util.treedef_is_leaf(
        jax.tree_util.tree_structure(x)
    )
