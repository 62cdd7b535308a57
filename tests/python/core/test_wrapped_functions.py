"""Functions inside transformations, as libraries of JAX write them, and `api_util`; against jax where it decides."""

import functools

import jax
import pytest

from pycompiler import api_util
from pycompiler.core.tracing import wrapped
from pycompiler.core.types.tree import tree_flatten, tree_structure


def function(a, b, *rest, c=1, **more):
    return {"sum": a + b["x"] + sum(rest), "c": c}


CALLS = [
    (function, (1, {"x": 2, "y": (3,)}), {}, {}),
    (function, (1, 2, 3, (4, 5)), {"c": 3, "z": {"q": 1}}, {}),
    (function, (1, 2), {"c": 3}, {"static_argnums": (0,)}),
    (function, (1, 2), {"c": 3, "k": 4}, {"static_argnames": ("c",)}),
    (function, (), {}, {}),
    (functools.partial(function, 1), (1,), {}, {}),
    (max, (1, 2), {}, {}),
    (lambda x: x, ((1, 2),), {}, {}),
]


@pytest.mark.parametrize(("fun", "args", "kwargs", "static"), CALLS)
def test_the_information_about_a_function(fun, args, kwargs, static):
    ours = api_util.debug_info("jit", fun, args, kwargs, **static)
    theirs = jax.api_util.debug_info("jit", fun, args, kwargs, **static)
    assert ours[:3] == theirs[:3]
    for name in ("func_name", "func_filename", "func_lineno"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_names_of_arguments_and_results():
    info = api_util.debug_info("jit", function, (1, {"x": 2}), {})
    assert info.safe_arg_names(2) == ("a", "b['x']")
    assert info.filter_arg_names([False, True]) == ("b['x']",)
    assert info.with_unknown_names().safe_arg_names(2) == ("", "")
    assert info.set_result_paths([1, (2,)]).result_paths == ("result[0]", "result[1][0]")
    assert info._replace(result_paths=lambda: ("r",)).resolve_result_paths().filter_result_paths([True]) == ("r",)
    assert info.replace_func_name("g").func_name == "g"
    with pytest.raises(AssertionError, match="3 names are expected, there are"):
        info.safe_arg_names(3)


def test_flat_functions():
    leaves, tree = tree_flatten(((1, {"x": 2}, 3), {"c": 4}))
    flat, out_tree = api_util.flatten_fun(wrapped.wrap_init(function), tree)
    with pytest.raises(wrapped.StoreException, match="Store empty"):
        out_tree()
    assert flat.call_wrapped(*leaves) == [4, 6]
    assert out_tree() == tree_structure({"sum": 0, "c": 0})
    with pytest.raises(wrapped.StoreException, match="Store occupied"):
        flat.call_wrapped(*leaves)
    leaves, tree = tree_flatten((1, {"x": 2}))
    flat, out_tree = api_util.flatten_fun_nokwargs(wrapped.wrap_init(function, {"c": 7}), tree)
    assert flat.call_wrapped(*leaves) == [7, 3]
    assert "function" in repr(flat)
    assert flat.__name__ == "function"


def test_transformations():
    @wrapped.transformation2
    def scaled(f, factor, *args):
        return factor * f(*args)

    @wrapped.transformation_with_aux2
    def counted(f, store, *args):
        store.store(len(args))
        return f(*args)

    @wrapped.transformation
    def shifted(by, *args):
        result = yield [arg + by for arg in args], {}
        yield -result

    @wrapped.transformation_with_aux
    def doubled(*args):
        result = yield [2 * arg for arg in args], {}
        yield result, "aux"

    base = wrapped.wrap_init(lambda x, y: x - y)
    fun, count = counted(scaled(base, 10))
    assert fun.call_wrapped(7, 4) == 30
    assert count() == 2
    assert shifted(base, 5).call_wrapped(7, 4) == -3
    fun, aux = doubled(base)
    assert (fun.call_wrapped(7, 4), aux()) == (6, "aux")
    assert scaled(base, 10) == scaled(base, 10)
    assert hash(scaled(base, 10)) == hash(scaled(base, 10))
    assert scaled(base, 10) != scaled(base, 11)


def test_kept_results_fill_the_stores():
    calls = []

    @wrapped.cache
    def run(fun, *args):
        calls.append(args)
        return fun.call_wrapped(*args)

    leaves, tree = tree_flatten(((1, {"x": 2}), {}))
    base = wrapped.wrap_init(function)
    for _ in range(2):
        flat, out_tree = api_util.flatten_fun(base, tree)
        assert run(flat, *leaves) == [1, 3]
        assert out_tree().num_leaves == 2
    assert len(calls) == 1
    run.cache_clear()
    run(api_util.flatten_fun(base, tree)[0], *leaves)
    assert len(calls) == 2


def test_stores():
    store = wrapped.EqualStore()
    store.store(3)
    store.store(3)
    with pytest.raises(wrapped.StoreException, match="not-equal"):
        store.store(4)
    empty = wrapped.Store()
    assert wrapped.merge_linear_aux(lambda: store.val, lambda: empty.val) == (True, 3)
    assert wrapped.merge_linear_aux(lambda: empty.val, lambda: store.val) == (False, 3)
    for both, match in ((store, "both"), (empty, "neither")):
        with pytest.raises(wrapped.StoreException, match=match):
            wrapped.merge_linear_aux(lambda both=both: both.val, lambda both=both: both.val)
    store.reset()
    assert not store


def test_arguments_by_position():
    base = wrapped.wrap_init(lambda a, b, c: (a, b, c))
    fun, moving = api_util.argnums_partial(base, (2, 0), ("a", "b", "c"))
    assert moving == ("c", "a")
    assert fun.call_wrapped(1, 2) == (2, "b", 1)
    assert fun == api_util.argnums_partial(base, (2, 0), (0, "b", 0))[0]
    assert fun != api_util.argnums_partial(base, (2, 0), (0, "B", 0))[0]
    fun, moving = api_util.argnums_partial(base, -1, ([], [1], 3), require_static_args_hashable=False)
    assert (moving, fun.call_wrapped(4)) == ((3,), ([], [1], 4))
    with pytest.raises(ValueError, match="argument 1 of <lambda>, of type list, is fixed and must be hashable"):
        api_util.argnums_partial(base, 0, (1, [2], 3))
    with pytest.raises(ValueError, match="position 3 is not among the 3 arguments"):
        api_util.argnums_partial(base, 3, (1, 2, 3))


def test_donated_leaves():
    args, kwargs = (1, (2, 3)), {"j": 4, "k": (5, 6)}
    ours = api_util.donation_vector((1,), ("k",), tree_structure((args, kwargs)))
    assert ours == jax.api_util.donation_vector((1,), ("k",), jax.tree.structure((args, kwargs)))
    assert api_util.donation_vector((0,), (), tree_structure(args), kws=False) == (True, False, False)
    assert api_util.rebase_donate_argnums((1, 3, 4), (0, 2)) == jax.api_util.rebase_donate_argnums((1, 3, 4), (0, 2))
    with pytest.raises(ValueError, match="cannot intersect"):
        api_util.rebase_donate_argnums((1,), (1, 2))


def test_axes_of_leaves():
    tree = ((1, {"a": 2, "b": 3}), [4])
    for axes in [((0, None), None), (0, [1]), None, ((0, {"a": 1, "b": None}), 2)]:
        ours = api_util.flatten_axes("in_axes", tree_structure(tree), axes)
        assert ours == list(jax.api_util.flatten_axes("in_axes", jax.tree.structure(tree), axes))
    with pytest.raises(ValueError, match=r"in_axes specification must be a tree prefix .* entry for each argument"):
        api_util.flatten_axes("in_axes", tree_structure(tree), (0, 1, 2), tupled_args=True)


def test_small_helpers():
    assert api_util.safe_map(lambda x, y: x + y, [1, 2], (3, 4)) == [4, 6]
    with pytest.raises(AssertionError, match="length mismatch"):
        api_util.safe_map(lambda x, y: x + y, [1, 2], (3,))
    aval = api_util.shaped_abstractify(2.0)
    assert (aval.shape, aval.dtype, api_util.shaped_abstractify(aval)) == ((), "float32", aval)
    with pytest.raises(TypeError):
        api_util.shaped_abstractify("text")
