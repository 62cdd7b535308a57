"""Flat functions with transformations around them."""

import pytest

from pycompiler.extend import linear_util as lu


@lu.transformation
def doubled(*args):
    outs = yield args, {}
    yield [2 * out for out in outs]


@lu.transformation_with_aux
def counted(start, *args):
    outs = yield args, {}
    yield outs, start + len(outs)


@lu.transformation2
def shifted(f, by, *args):
    return [out + by for out in f(*args)]


@lu.transformation_with_aux2
def summed(f, store, *args):
    outs = f(*args)
    store.store(sum(outs))
    return outs


def both(x, y, *, scale=1):
    return [x + y, scale * x * y]


def test_transformations_wrap_from_the_inside_out():
    fun = lu.wrap_init(both, {"scale": 10})
    assert fun.call_wrapped(2, 3) == [5, 60]
    assert shifted(doubled(fun), 1).call_wrapped(2, 3) == [11, 121]
    assert doubled(shifted(fun, 1)).call_wrapped(2, 3) == [12, 122]
    assert isinstance(fun, lu.WrappedFun)
    assert fun.__name__ == "both"
    assert fun.debug_info.func_name == "both"


def test_auxiliary_results_are_there_after_the_call():
    fun, count = counted(lu.wrap_init(both), 100)
    fun, total = summed(fun)
    with pytest.raises(lu.StoreException, match="Store empty"):
        total()
    assert fun.call_wrapped(2, 3) == [5, 6]
    assert (count(), total()) == (102, 11)
    with pytest.raises(lu.StoreException, match="Store occupied"):
        fun.call_wrapped(2, 3)


def test_equal_functions_are_equal_keys():
    one, other = (shifted(doubled(lu.wrap_init(both)), 1) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != shifted(doubled(lu.wrap_init(both)), 2)
    assert one != shifted(lu.wrap_init(both), 1)


def test_one_of_two_auxiliary_results():
    first, first_aux = counted(lu.wrap_init(both), 0)
    _, second_aux = counted(lu.wrap_init(both), 0)
    with pytest.raises(lu.StoreException):
        lu.merge_linear_aux(first_aux, second_aux)
    first.call_wrapped(1, 2)
    assert lu.merge_linear_aux(first_aux, second_aux) == (True, 2)
    assert lu.merge_linear_aux(second_aux, first_aux) == (False, 2)


def test_a_cache_remembers_results_and_stores():
    calls = []

    @lu.cache
    def run(fun, *args):
        calls.append(args)
        return fun.call_wrapped(*args)

    found = []
    for args in ((1, 2), (1, 2), (3, 4)):
        fun, count = counted(lu.wrap_init(both), 0)
        found.append((run(fun, *args), count()))
    assert found == [([3, 2], 2), ([3, 2], 2), ([7, 12], 2)]
    assert calls == [(1, 2), (3, 4)]
