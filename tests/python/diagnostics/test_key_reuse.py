"""debug_key_reuse: a key that is consumed twice is an error that names both lines."""

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import errors, lax, nn, random


@pytest.fixture(autouse=True)
def watched():
    with pc.debug_key_reuse():
        yield


def reused(function):
    with pytest.raises(errors.KeyReuseError) as caught:
        function()
    message = str(caught.value)
    assert message.startswith(__file__)
    assert "random.split(key)" in message or "split it in each iteration" in message
    return message


def twice():
    key = random.key(0)
    first = random.normal(key)
    return first + random.uniform(key)


def test_both_lines_are_named():
    for function in (twice, pc.jit(twice)):
        message = reused(function)
        assert "return first + random.uniform(key)" in message
        assert "first = random.normal(key)" in message
        assert "uniform: the random key was consumed before, by normal" in message


draw = pc.jit(lambda key: random.normal(key, (2,)))


def split_and_use():
    key = random.key(0)
    random.split(key)
    return random.bits(key)


def the_same_slice():
    keys = random.split(random.key(0), 3)
    return random.normal(keys[1]) + random.normal(keys[1])


def whole_and_slice():
    keys = random.split(random.key(0), 3)
    return pc.vmap(random.normal)(keys) + random.normal(keys[2])


def slice_and_whole():
    keys = random.split(random.key(0), 3)
    return random.normal(keys[2]) + pc.vmap(random.normal)(keys)


def jitted_twice():
    key = random.key(0)
    return draw(key) + draw(key)


def in_every_iteration():
    key = random.key(0)
    return lax.fori_loop(0, 3, lambda i, total: total + random.normal(key), 0.0)


def carried_but_not_split():
    return lax.fori_loop(0, 3, lambda i, c: (c[0], c[1] + random.normal(c[0])), (random.key(0), 0.0))


def composed():
    key = random.key(0)
    return random.beta(key, 1.0, 2.0) + random.choice(key, 5)


def in_every_scan():
    key = random.key(0)
    return lax.scan(lambda c, _: (c + random.normal(key), None), 0.0, None, length=3)[0]


def after_a_branch():
    key = random.key(0)
    return lax.cond(True, lambda k: random.normal(k), lambda k: random.uniform(k), key) + random.normal(key)


REUSING = [
    in_every_scan,
    after_a_branch,
    split_and_use,
    the_same_slice,
    whole_and_slice,
    slice_and_whole,
    jitted_twice,
    in_every_iteration,
    carried_but_not_split,
    composed,
]


@pytest.mark.parametrize("function", REUSING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_reused(function, wrap):
    reused(wrap(function))


def split_keys():
    key = random.key(0)
    key, subkey = random.split(key)
    first = random.normal(subkey)
    key, subkey = random.split(key)
    return first + random.normal(subkey) + random.normal(key)


def slices():
    keys = random.split(random.key(0), 3)
    return random.normal(keys[0]) + random.normal(keys[1]) + random.normal(keys[2])


def folded():
    key = random.key(0)
    return random.normal(random.fold_in(key, 1)) + random.normal(random.fold_in(key, 2)) + random.normal(key)


def cloned():
    key = random.key(0)
    return random.normal(key) + random.normal(random.clone(key))


def each_iteration_its_own():
    def body(i, c):
        key, total = c
        key, subkey = random.split(key)
        return key, total + random.normal(subkey)

    return lax.fori_loop(0, 3, body, (random.key(0), 0.0))[1]


def folded_in_iterations():
    key = random.key(0)
    return lax.fori_loop(0, 3, lambda i, total: total + random.normal(random.fold_in(key, i)), 0.0)


def mapped():
    return pc.vmap(random.normal)(random.split(random.key(0), 4)).sum()


def numbers():
    key = random.PRNGKey(0)
    return random.normal(key) + random.normal(key)


def new_keys_of_one_seed():
    return random.normal(random.key(0)) + random.normal(random.key(0))


def differentiated():
    key = random.key(0)
    return pc.grad(lambda x: (x * random.normal(key, (3,))).sum())(2.0)


def initialized():
    return nn.initializers.glorot_normal()(random.key(0), (3, 4)).sum()


def in_either_branch():
    return lax.cond(True, lambda k: random.normal(k), lambda k: random.uniform(k), random.key(0))


def scanned_over():
    return lax.scan(lambda c, k: (c + random.normal(k), None), 0.0, random.split(random.key(0), 3))[0]


def recomputed():
    key = random.key(0)
    return pc.grad(pc.checkpoint(lambda x: pc.numpy.sin(x) * random.normal(key)))(2.0)


USING = [
    in_either_branch,
    scanned_over,
    recomputed,
    split_keys,
    slices,
    folded,
    cloned,
    each_iteration_its_own,
    folded_in_iterations,
    mapped,
    numbers,
    new_keys_of_one_seed,
    differentiated,
    initialized,
]


@pytest.mark.parametrize("function", USING, ids=lambda f: f.__name__)
def test_used_once(function):
    with pc.debug_key_reuse(False):
        wanted = np.asarray(function())
    np.testing.assert_allclose(function(), wanted, rtol=1e-6)
    np.testing.assert_allclose(pc.jit(function)(), wanted, rtol=1e-6)


def test_jax_says_the_same():
    with jax.debug_key_reuse(True):
        key = jax.random.key(0)
        jax.random.normal(jax.random.fold_in(key, 1))
        jax.random.normal(key)
        with pytest.raises(jax.errors.KeyReuseError):
            jax.random.normal(key)


def test_what_was_consumed_before_the_check_was_on_is_not_known():
    with pc.debug_key_reuse(False):
        key = random.key(0)
        random.normal(key)
    random.normal(key)
    reused(lambda: random.normal(key))


def test_a_key_that_a_compiled_function_closes_over():
    key = random.key(0)
    function = pc.jit(lambda: random.uniform(key))
    function()
    reused(function)
    reused(lambda: random.normal(key))


def test_a_clone_is_another_key_also_without_the_check():
    with pc.debug_key_reuse(False):
        key = random.key(0)
        other = random.clone(key)
    assert other is not key
    random.normal(key)
    random.normal(other)
    reused(lambda: random.normal(other))
