"""Updates of bools at places, beside eager torch: a sum of bools is their `or`, a product their `and`."""

import pytest
import torch

X = torch.tensor([[True, False, True, False], [False, False, True, True], [True, True, False, False]])
SOURCE = torch.tensor([[False, False, True, True], [True, False, False, True]])
ROWS = torch.tensor([2, 0])
PLACES = torch.tensor([[0, 1, 2, 0], [2, 1, 0, 0]])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.index_add(0, ROWS, SOURCE),
        lambda x: x.index_add(0, torch.tensor([1, 1]), SOURCE),
        lambda x: x.index_add(1, torch.tensor([3]), SOURCE[0, :3].reshape(3, 1), alpha=True),
        lambda x: x[0, 1].index_add(0, torch.tensor([0]), torch.tensor(True)),
        lambda x: x.index_put((ROWS,), SOURCE, accumulate=True),
        lambda x: x.scatter_add(0, PLACES, SOURCE),
        lambda x: x.scatter(0, PLACES, SOURCE, reduce="add"),
        lambda x: x.scatter(0, PLACES, SOURCE, reduce="multiply"),
        lambda x: x.scatter(0, PLACES, True, reduce="add"),
        lambda x: x.scatter(0, PLACES, False, reduce="multiply"),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="sum"),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="prod"),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="prod", include_self=False),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="sum", include_self=False),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="amax"),
        lambda x: x.scatter_reduce(0, PLACES, SOURCE, reduce="amin", include_self=False),
    ],
)
def test_updates_of_bools(function):
    made = torch.compile(function, backend="pycompiler", fullgraph=True)(X)
    assert made.dtype == torch.bool
    torch.testing.assert_close(made, function(X), rtol=0, atol=0)


def test_sums_of_a_single_number():
    def function(x, y):
        return x.index_add(0, torch.tensor([0]), y, alpha=3)

    made = torch.compile(function, backend="pycompiler", fullgraph=True)(torch.tensor(2.0), torch.tensor(0.5))
    torch.testing.assert_close(made, torch.tensor(3.5), rtol=0, atol=0)
