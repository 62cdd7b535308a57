"""Assignments at masks with one value for each element that the mask selects: compiled, as the elements keep their
places."""

import pytest
import torch

MASK = torch.tensor([[True, False, True, True], [False, False, False, True], [True, False, False, True]])


def put(x, index, values, accumulate=False):
    return torch.ops.aten.index_put(x, index, values, accumulate)


CASES = {
    "elements": ((3, 4), lambda m: (m,), (6,)),
    "rows": ((3, 4), lambda m: (m[:, 0],), (2, 4)),
    "columns": ((3, 4), lambda m: (None, m[2]), (3, 2)),
    "the same for all rows": ((3, 4), lambda m: (None, m[2]), (2,)),
    "inner axes": ((3, 4, 2), lambda m: (m,), (6, 2)),
    "one value for each row": ((3, 4, 2), lambda m: (m,), (6, 1)),
    "all axes around": ((2, 3, 4, 2), lambda m: (None, m), (2, 6, 2)),
    "nothing": ((3, 4), lambda m: (m & False,), (0,)),
}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_value_for_each_selected_element(name, dynamic, accumulate):
    shape, index, count = CASES[name]
    x, values = torch.randn(shape), torch.randn(count)

    def f(x, mask, values):
        return put(x, index(mask), values, accumulate)

    made = torch.compile(f, backend="pycompiler", dynamic=dynamic)(x, MASK, values)
    torch.testing.assert_close(made, f(x, MASK, values), rtol=0, atol=0)


def test_updates_at_a_mask():
    """The graph breaks at `x[mask]`, of which the size depends on data."""

    def f(x, mask):
        x[mask] += 1
        x[~mask] *= x[~mask]
        return x.sum()

    compiled = torch.compile(f, backend="pycompiler")
    for seed in range(4):
        x = torch.randn(5, 6, generator=torch.Generator().manual_seed(seed))
        mask, expected = x > seed / 3, x.clone()
        torch.testing.assert_close(compiled(x, mask), f(expected, mask))
        torch.testing.assert_close(x, expected)


def test_another_number_of_values_is_an_error():
    f = torch.compile(lambda x, mask, y: put(x, (mask,), y), backend="pycompiler")
    for number in (3, 0, 8):
        with pytest.raises(RuntimeError, match="shape mismatch"):
            f(torch.zeros(3, 4), MASK, torch.ones(number))
