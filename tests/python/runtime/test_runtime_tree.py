"""Trees against jax.tree_util, on random trees."""

import collections

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycompiler import _runtime as rt

Point = collections.namedtuple("Point", ["x", "y"])
Empty = collections.namedtuple("Empty", [])


class Custom:
    def __init__(self, children, aux):
        self.children, self.aux = list(children), aux

    def __eq__(self, other):
        return type(other) is Custom and (self.children, self.aux) == (other.children, other.aux)

    __hash__ = None


def to_iter(custom):
    return custom.children, custom.aux


def from_iter(aux, children):
    return Custom(children, aux)


rt.register_node(Custom, to_iter, from_iter)
jax.tree_util.register_pytree_node(Custom, to_iter, from_iter)

leaves = st.sampled_from([0, -1, 2.5, "text", Empty])


def extend(children):
    items = st.lists(children, max_size=3)
    keyed = st.dictionaries(st.text("abcd", min_size=1, max_size=2), children, max_size=3)
    return st.one_of(
        items,
        items.map(tuple),
        keyed,
        keyed.map(collections.OrderedDict),
        keyed.map(lambda d: collections.defaultdict(list, d)),
        st.builds(Point, children, children),
        st.builds(Custom, items, st.sampled_from(["p", ("q", 1)])),
        st.dictionaries(st.integers(-3, 3), children, max_size=3),
    )


trees = st.recursive(st.one_of(leaves, st.none(), st.just(Empty())), extend, max_leaves=12)


@given(trees)
@settings(max_examples=150, deadline=None)
def test_same_as_jax(tree):
    ours, structure = rt.tree_flatten(tree)
    theirs, jax_structure = jax.tree_util.tree_flatten(tree)
    assert ours == theirs
    assert structure.num_leaves == jax_structure.num_leaves
    assert structure.num_nodes == jax_structure.num_nodes
    assert repr(structure) == repr(jax_structure)
    assert structure.unflatten(ours) == tree
    assert type(structure.unflatten(ours)) is type(tree)
    assert [repr(child) for child in structure.children()] == [repr(child) for child in jax_structure.children()]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(tree)[0]]
    if "[<flat index" not in "".join(paths):
        assert structure.paths() == paths


@given(trees, trees)
@settings(max_examples=150, deadline=None)
def test_equality_is_that_of_jax(a, b):
    ours, theirs = rt.tree_flatten(a)[1], rt.tree_flatten(b)[1]
    expected = jax.tree_util.tree_structure(a) == jax.tree_util.tree_structure(b)
    assert (ours == theirs) is expected
    assert (ours != theirs) is not expected
    if expected:
        assert hash(ours) == hash(theirs)


@given(trees, trees)
@settings(max_examples=100, deadline=None)
def test_flatten_up_to_is_that_of_jax(prefix, tree):
    structure, jax_structure = rt.tree_flatten(prefix)[1], jax.tree_util.tree_structure(prefix)
    try:
        expected = jax_structure.flatten_up_to(tree)
    except (ValueError, TypeError):
        with pytest.raises(ValueError, match="trees differ at 'tree"):
            structure.flatten_up_to(tree)
    else:
        assert structure.flatten_up_to(tree) == expected


def test_dicts_are_sorted_by_key():
    assert rt.tree_flatten({"b": 1, "a": 2})[0] == [2, 1]
    assert rt.tree_flatten({"b": 1, "a": 2})[1] == rt.tree_flatten({"a": 0, "b": 0})[1]
    with pytest.raises(ValueError, match="cannot be sorted"):
        rt.tree_flatten({"a": 1, 2: 3})


def test_is_leaf():
    leaves, structure = rt.tree_flatten([(1, 2), None, {"a": (3,)}], is_leaf=lambda x: isinstance(x, tuple))
    assert leaves == [(1, 2), (3,)]
    assert structure.num_leaves == 2
    assert rt.tree_flatten(None, is_leaf=lambda x: x is None)[0] == [None]
    with pytest.raises(ZeroDivisionError):
        rt.tree_flatten([1], is_leaf=lambda x: 1 / 0)


def test_unflatten_counts_the_leaves():
    structure = rt.tree_flatten((1, 2))[1]
    with pytest.raises(ValueError, match="3 leaves for a tree that has 2"):
        structure.unflatten([1, 2, 3])
    assert structure.unflatten(iter("ab")) == ("a", "b")


def test_flatten_up_to_names_the_place():
    structure = rt.tree_flatten({"a": [0, 0]})[1]
    with pytest.raises(ValueError, match=r"trees differ at 'tree\['a'\]': expected a list of 2, got \[1\]"):
        structure.flatten_up_to({"a": [1]})
    with pytest.raises(ValueError, match=r"^Dict key mismatch: .* expected a dict with the keys \['a'\]"):
        structure.flatten_up_to({"b": 1})


def test_register_node_refuses_what_is_a_node():
    for node in (tuple, list, dict, type(None), collections.OrderedDict, Custom):
        with pytest.raises(ValueError, match="a node already"):
            rt.register_node(node, to_iter, from_iter)


def test_faulty_node_functions_raise():
    class Faulty:
        pass

    rt.register_node(Faulty, lambda faulty: faulty.parts, None)
    with pytest.raises(AttributeError):
        rt.tree_flatten([Faulty()])
    faulty = Faulty()
    faulty.parts = [1]
    with pytest.raises(ValueError, match=r"must return \(children, aux\)"):
        rt.tree_flatten([faulty])


def test_a_tree_that_contains_itself_is_an_error():
    tree = []
    tree.append(tree)
    with pytest.raises(RecursionError):
        rt.tree_flatten(tree)


def test_a_list_that_changes_while_it_is_flattened():
    tree = [1, 2, 3]

    def clearing(node):
        if node == 1:
            tree.clear()
        return False

    with pytest.raises(RuntimeError, match="changed"):
        rt.tree_flatten(tree, is_leaf=clearing)
