"""block_until_ready of a tree: its arguments, results and errors."""

import inspect
import pickle

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp


def test_it_gives_back_the_tree_itself():
    x = pnp.ones(3)
    for tree in (x, [x, (x, None)], {"a": x, "b": 1.0}, (), 2, "text"):
        assert pc.block_until_ready(tree) is tree
        assert pc.block_until_ready(tree=tree) is tree


def test_arrays_are_there_afterwards():
    x = pnp.ones((300, 300))
    results = [pc.jit(lambda x, n=n: (x @ x) * n)(x) for n in range(8)]
    assert all(array.is_ready() for array in pc.block_until_ready(results))


def test_an_error_of_one_of_them_is_raised():
    def fail(value):
        raise KeyError("lost")

    broken = pc.pure_callback(fail, pc.ShapeDtypeStruct((2,), "float32"), pnp.ones(2))
    for tree in (broken, [pnp.ones(2), {"broken": broken}]):
        with pytest.raises(KeyError, match="lost"):
            pc.block_until_ready(tree)


@pytest.mark.parametrize(
    ("arguments", "names", "message"),
    [
        ((), {}, "takes one argument, a tree of arrays; 0 were given"),
        ((1, 2), {}, "takes one argument, a tree of arrays; 2 were given"),
        ((), {"x": 1}, "has a parameter 'tree', and none 'x'"),
    ],
)
def test_other_arguments_are_errors(arguments, names, message):
    with pytest.raises(TypeError, match=message):
        pc.block_until_ready(*arguments, **names)


def test_it_is_a_function_with_a_signature_and_a_name():
    assert list(inspect.signature(pc.block_until_ready).parameters) == ["tree"]
    assert pickle.loads(pickle.dumps(pc.block_until_ready)) is pc.block_until_ready
    assert "raise the failure" in pc.block_until_ready.__doc__
