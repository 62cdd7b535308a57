"""Trees: the same answers as `jax.tree_util`, registered containers, errors with key paths."""

import collections
import dataclasses
import functools

import jax
import pytest

import pycompiler as pc
from pycompiler import tree as short
from pycompiler import tree_util
from pycompiler.core.types import tree, tree_keys

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
    @tree_keys.register_pytree_node_class
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
        tree_keys.register_pytree_node_class(Pair)


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


def as_jax(x):
    """A tree of this package with jax's key classes."""
    return jax.tree.map(lambda key: getattr(jax.tree_util, type(key).__name__)(*vars(key).values()), x)


@pytest.mark.parametrize(("simple", "separator"), [(False, ""), (True, "/")])
@pytest.mark.parametrize("x", TREES)
def test_paths_are_those_of_jax(x, simple, separator):
    pairs, treedef = tree_util.tree_flatten_with_path(x)
    assert [(as_jax(path), leaf) for path, leaf in pairs] == jax.tree_util.tree_flatten_with_path(x)[0]
    assert treedef == tree.tree_structure(x)
    assert tree_util.tree_leaves_with_path(x) == pairs

    def shown(util):
        return lambda path, a, b: (util.keystr(path, simple=simple, separator=separator), a, b)

    ours = tree_util.tree_map_with_path(shown(tree_util), x, x)
    assert ours == jax.tree_util.tree_map_with_path(shown(jax.tree_util), x, x)


def test_is_leaf_may_take_the_path():
    x = {"a": [1, (2, 3)], "b": ([4],)}
    for is_leaf, takes_path in [
        (lambda path, value: len(path) == 2, True),
        (lambda path, value: bool(path) and path[0].key == "a", True),
        (lambda value: isinstance(value, tuple), False),
    ]:
        ours, ours_def = tree_util.tree_flatten_with_path(x, is_leaf, takes_path)
        theirs, theirs_def = jax.tree_util.tree_flatten_with_path(x, is_leaf, takes_path)
        assert [(as_jax(path), leaf) for path, leaf in ours] == theirs
        assert str(ours_def) == str(theirs_def)


def test_a_container_at_two_places_is_cut_at_one():
    shared = [1, 2]
    pairs, treedef = tree_util.tree_flatten_with_path(
        (shared, {"k": shared}), lambda path, value: len(path) == 2, is_leaf_takes_path=True
    )
    assert [leaf for _, leaf in pairs] == [1, 2, shared]
    assert treedef.unflatten([10, 20, 30]) == ([10, 20], {"k": 30})


@pytest.mark.parametrize("x", [(1, 2), [1, (2,)], {"b": 1, "a": None}, None, Point(1, 2), TREES[7]])
def test_one_level_is_that_of_jax(x):
    assert tree_util.flatten_one_level(x) == jax.tree_util.flatten_one_level(x)
    keyed, data = tree_util.flatten_one_level_with_keys(x)
    assert [child for _, child in keyed] == list(tree_util.flatten_one_level(x)[0])
    assert data == tree_util.flatten_one_level(x)[1]
    assert tree_util.is_tree_node(type(x)) or isinstance(x, Point)


def test_one_level_of_a_leaf():
    with pytest.raises(ValueError, match=r"flatten_one_level: 3 of type int is a leaf"):
        tree_util.flatten_one_level(3)
    assert not tree_util.is_tree_node(int)
    assert tree_util.all_leaves([1, "a"])
    assert not tree_util.all_leaves([1, [2]])
    assert tree_util.all_leaves([[2]], is_leaf=lambda x: isinstance(x, list))


def test_registered_with_keys():
    @tree_util.register_pytree_with_keys_class
    class Named:
        def __init__(self, w, b):
            self.w, self.b = w, b

        def tree_flatten_with_keys(self):
            return ((tree_util.GetAttrKey("w"), self.w), (tree_util.GetAttrKey("b"), self.b)), "data"

        @classmethod
        def tree_unflatten(cls, data, children):
            assert data == "data"
            return cls(*children)

    assert [tree_util.keystr(path) for path, _ in tree_util.tree_flatten_with_path([Named(1, {"x": 2})])[0]] == [
        "[0].w",
        "[0].b['x']",
    ]
    doubled = tree_util.tree_map(lambda x: 2 * x, Named(1, {"x": 2}))
    assert (doubled.w, doubled.b) == (2, {"x": 4})

    class Plain:
        pass

    tree_util.register_pytree_node(Plain, lambda x: ((5,), None), lambda data, children: Plain())
    assert [tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(Plain())] == ["[<flat index 0>]"]


def test_static_classes_and_fields():
    @tree_util.register_static
    class Mode(str):
        pass

    leaves, treedef = tree_util.tree_flatten([Mode("a"), 1])
    assert leaves == [1]
    assert treedef != tree_util.tree_structure([Mode("b"), 1])
    assert treedef.unflatten([2]) == ["a", 2]

    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Op:
        x: int
        op: str = short.static(default="add")

    assert tree_util.tree_leaves(Op(3)) == [3]
    assert [tree_util.keystr(path) for path, _ in short.flatten_with_path(Op(3))[0]] == [".x"]
    assert tree_util.tree_structure(Op(3)) != tree_util.tree_structure(Op(3, "mul"))

    @dataclasses.dataclass
    class Cached:
        x: int
        cache: int = 7

    tree_util.register_dataclass(Cached, ["x"], [], drop_fields=["cache"])
    assert tree_util.tree_map(lambda x: x + 1, Cached(1, cache=9)) == Cached(2, cache=7)
    with pytest.raises(TypeError, match="both data_fields and meta_fields"):
        tree_util.register_dataclass(Cached, ["x"])


def test_partial_is_a_container():
    partial = tree_util.Partial(divmod, 7)
    assert tree_util.tree_leaves(partial) == [7]
    assert tree_util.tree_map(lambda x: x + 1, partial)(3) == (2, 2)
    nested = tree_util.Partial(tree_util.Partial(max, 1), 2)
    assert nested(0) == 2
    assert [
        tree_util.keystr(path) for path, _ in tree_util.tree_leaves_with_path(tree_util.Partial(max, 1, key=2))
    ] == [
        ".args[0]",
        ".keywords['key']",
    ]


def test_broadcast_reduce_and_parts():
    full = {"a": (1, 2), "b": [3]}
    assert short.broadcast({"a": 10, "b": 20}, full) == {"a": (10, 10), "b": [20]}
    with pytest.raises(ValueError, match="differ"):
        short.broadcast({"a": 10}, full)
    seen = []
    assert short.reduce_associative(lambda a, b: seen.append((a, b)) or a + b, list("abcde")) == "abcde"
    assert ("ab", "cd") in seen
    assert short.reduce_associative(max, [], identity=3) == 3
    with pytest.raises(TypeError, match="no leaves"):
        short.reduce_associative(max, [])
    structures = [tree_util.tree_structure(x) for x in (1, {"a": [2]}, ())]
    assert tree_util.treedef_tuple(structures) == tree_util.tree_structure((1, {"a": [2]}, ()))
    assert tree_util.treedef_children(tree_util.treedef_tuple(structures)) == structures
    assert tree_util.treedef_is_leaf(structures[0])
    assert not tree_util.treedef_is_leaf(structures[1])
    with pytest.raises(TypeError, match="treedef_tuple: takes PyTreeDefs, got 3 at position 1"):
        tree_util.treedef_tuple([structures[0], 3])
    assert short.transpose(tree_util.tree_structure([0, 0]), None, [(1, 2), (3, 4)]) == ([1, 3], [2, 4])


def test_the_short_names_are_the_long_ones():
    for name in short.__all__:
        if name != "static":
            assert getattr(short, name) is getattr(tree_util, f"tree_{name}")
    assert {"leaves_with_path", "map_with_path", "broadcast", "reduce_associative"} < set(short.__all__)
    assert tree_util.tree_broadcast(1, (2, 3)) == (1, 1)
    assert tree_util.tree_reduce_associative(max, (2, 3)) == 3
    assert isinstance(tree_util.tree_structure(()), tree_util.PyTreeDef)
    assert str(tree_util.KeyPath).startswith("tuple[")
    assert tree_util.KeyEntry in tree_util.KeyPath.__args__


def test_keys_print_as_jax_prints_them():
    for name, value in [("DictKey", "a"), ("SequenceKey", 0), ("GetAttrKey", "x"), ("FlattenedIndexKey", 1)]:
        ours, theirs = getattr(tree_util, name)(value), getattr(jax.tree_util, name)(value)
        assert (str(ours), repr(ours)) == (str(theirs), repr(theirs))
    assert tree_util.SequenceKey(1) == tree_util.SequenceKey(1) != tree_util.FlattenedIndexKey(1)
    assert hash(tree_util.FlattenedIndexKey(1)) != hash(tree_util.SequenceKey(1))


def test_registered_with_keys_by_a_function():
    class Both:
        pass

    tree_util.register_pytree_with_keys(Both, lambda x: ([(tree_util.DictKey("k"), 1)], None), lambda data, c: Both())
    assert tree_util.tree_leaves(Both()) == [1]
    assert tree_util.keystr(tree_util.tree_leaves_with_path(Both())[0][0]) == "['k']"


@dataclasses.dataclass
class Named:
    weight: object
    bias: object


class Keyed:
    def __init__(self, inner):
        self.inner = inner


class Strict:
    def __init__(self, value):
        if not isinstance(value, (int, str)):
            raise TypeError("an int is needed")
        self.value = value


tree_util.register_dataclass(Named)
tree_util.register_pytree_with_keys(
    Keyed, lambda x: (((tree_util.GetAttrKey("inner"), x.inner),), None), lambda _, children: Keyed(*children)
)
tree_util.register_pytree_with_keys(
    Strict, lambda x: (((tree_util.DictKey("value"), x.value),), None), lambda _, children: Strict(*children)
)


def test_paths_in_messages_have_the_names_of_registered_nodes():
    tree = {"a": [Named(1.0, Keyed("no"))], "b": Strict("no")}
    assert tree_util.tree_structure(tree).paths() == ["['a'][0].weight", "['a'][0].bias.inner", "['b'][0]"]
    with pytest.raises(TypeError, match=r"argument 't', at \['a'\]\[0\].bias.inner: 'no' of type str"):
        pc.jit(lambda t: t)(tree)
    with pytest.raises(TypeError, match=r"output.bias.inner"):
        pc.jit(lambda x: Named(x, Keyed("no")))(1.0)
    with pytest.raises(pc.errors.TracerBoolConversionError, match=r"'params.weight'"):
        pc.jit(lambda params: 1.0 if params.weight > 0 else 2.0)(Named(1.0, 2.0))
    with pytest.raises(ValueError, match=r"bias"):
        pc.tree.map(lambda a, b: a, Named(1.0, (2.0, 3.0)), Named(1.0, 2.0))


def test_a_partial_of_a_partial_keeps_what_it_binds():
    inner = functools.partial(max, 2)
    one, other = tree_util.Partial(inner, 3), tree_util.Partial(inner, 4)
    assert one.args == (3,)
    assert one() == 3
    assert one.func == inner == other.func
    assert tree.tree_structure(one) == tree.tree_structure(other)
    assert tree_util.Partial(one, 5).args == (5,)
    assert tree_util.Partial(one, 5)() == 5


@pytest.mark.parametrize(
    ("parts", "message"),
    [("hello", "must return"), ((1, 2, 3), "must return"), ((7, 7), "with an iterable of children, not 7")],
)
def test_wrong_functions_of_nodes_are_value_errors(parts, message):
    kind = type("Kind", (), {})
    tree_util.register_pytree_node(kind, lambda _: parts, lambda _, __: kind())
    with pytest.raises(ValueError, match=message):
        tree.tree_flatten(kind())


def test_namedtuples_are_nodes_and_registered_ones_give_lists():
    assert tree_util.is_tree_node(Point)
    kind = type("Kind", (), {})
    tree_util.register_pytree_node(kind, lambda _: (iter((1, 2)), "data"), lambda _, __: kind())
    assert tree_util.flatten_one_level(kind()) == ([1, 2], "data")


def test_transposed_trees_are_of_as_many_leaves():
    outer, inner = tree.tree_structure([0, 0]), tree.tree_structure({"a": 0})
    with pytest.raises(TypeError, match="tree_transpose: the tree must be of the structure"):
        tree.tree_transpose(outer, inner, [{"a": 1}, {"a": 2}, {"a": 3}])


def test_fields_that_are_data_and_meta_are_refused():
    with pytest.raises(ValueError, match=r"\['x'\] are in data_fields and in meta_fields"):
        tree_util.register_dataclass(dataclasses.make_dataclass("Fields", ["x"]), ["x"], ["x"])


def test_functions_that_yield_are_refused():
    def yields(x):
        yield x

    for transform in (pc.jit, pc.grad, pc.vmap, pc.checkpoint, pc.make_jaxpr, lambda f: pc.eval_shape(f, 1.0)):
        with pytest.raises(TypeError, match="takes a function that returns, got the generator function"):
            transform(yields)
    with pytest.raises(TypeError, match="takes a function, got"):
        pc.jit(staticmethod(yields))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: tree_util.tree_transpose(tree_util.tree_structure(()), tree_util.tree_structure((1,)), ()),
            ValueError,
            "the outer structure has no leaves",
        ),
        (lambda: tree_util.keystr((), separator=3), TypeError, "separator is a string, got 3"),
        (lambda: tree_util.tree_leaves({1: 2, "a": 3}), ValueError, r"cannot be sorted: \[1, 'a'\]"),
        (lambda: tree_util.treedef_tuple([1]), TypeError, "got 1 at position 0"),
    ],
)
def test_errors_of_trees_name_what_was_given(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_what_a_partial_of_a_partial_calls():
    def add(x, y, z, *, by):
        return (x + y + z) * by

    inner = functools.partial(add, 1, by=2)
    outer = tree_util.Partial(inner, 3)
    kept = outer.func
    assert (kept.func, kept.args, kept.keywords) == (add, (1,), {"by": 2})
    assert repr(kept) == repr(inner)
    assert kept == inner
    assert outer(4) == 16
    assert not hasattr(kept, "other")
    assert {outer.func: 1}[tree_util.Partial(inner, 5).func] == 1


def test_keys_of_users_and_of_mixed_dicts():
    class Key:
        def __str__(self):
            return ".mine"

    assert tree_util.keystr((Key(), tree_util.DictKey("a")), simple=True, separator="/") == ".mine/a"
    with pytest.raises(ValueError, match=r"the keys of a dict in a tree cannot be sorted: \[1, 'a'\]"):
        tree_util.flatten_one_level({1: 2, "a": 3})
    assert repr(tree_util.default_registry) == "default_registry"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: tree_util.treedef_tuple(3),
            "treedef_tuple: takes structures of trees, got 3; tree_structure gives them",
        ),
        (
            lambda: tree_util.register_pytree_node_class(3),
            "register_pytree_node_class: takes a class, got 3 of type int",
        ),
        (
            lambda: tree_util.register_pytree_node_class(Empty),
            "register_pytree_node_class: the class Empty has no tree_flatten and no tree_unflatten; define it",
        ),
        (
            lambda: tree_util.register_pytree_with_keys_class(Empty),
            "the class Empty has no tree_flatten_with_keys and no tree_unflatten; define it",
        ),
    ],
)
def test_what_is_no_node_is_named(call, message):
    with pytest.raises(TypeError, match=message):
        call()


class Empty:
    """No node of trees."""
