"""Indices out of bounds are errors, as in eager torch, and indices within them are none."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

X = torch.arange(12.0).reshape(3, 4)
# What an index is for, the size of its axis, and whether it may count from the end.
READS = {
    "index": (lambda x, i: x[i], 3, True),
    "index of the last axis": (lambda x, i: x[:, i], 4, True),
    "index_select": (lambda x, i: x.index_select(1, i), 4, False),
    "gather": (lambda x, i: x.gather(0, i[None]), 3, False),
    "embedding": (lambda x, i: F.embedding(i, x), 3, False),
    "embedding_bag": (lambda x, i: F.embedding_bag(i[None], x), 3, False),
    "take": (lambda x, i: x.take(i), 12, True),
    "nll_loss": (lambda x, i: F.nll_loss(x[:2], i), 4, False),
    "searchsorted": (lambda x, i: torch.searchsorted(x[0, :2], x[1], sorter=i), 2, False),
    "max_unpool": (lambda x, i: F.max_unpool1d(x[None, None, 0, :2], i[None, None], 2), 4, False),
    "max_unpool of planes": (lambda x, i: F.max_unpool2d(x[None, :, None, :2], i.expand(1, 3, 1, 2), 2), 8, False),
    "cross_entropy": (lambda x, i: F.cross_entropy(x[:2], i), 4, False),
}
UPDATES = {
    "index_put": (lambda x, i: x.index_put((i,), torch.ones(4)), 3, True),
    "index_add": (lambda x, i: x.index_add(0, i, X[:2]), 3, False),
    "index_copy": (lambda x, i: x.index_copy(1, i, X[:, :2]), 4, False),
    "index_fill": (lambda x, i: x.index_fill(0, i, 2.0), 3, True),
    "scatter": (lambda x, i: x.scatter(0, i[None], 1.0), 3, False),
    "scatter_add": (lambda x, i: x.scatter_add(1, i[:, None], X), 4, False),
    "scatter_reduce": (lambda x, i: x.scatter_reduce(0, i[None], X, "amax"), 3, False),
    "put": (lambda x, i: x.put(i, torch.ones(2)), 12, True),
}
CASES = READS | UPDATES


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_an_index_out_of_bounds_is_an_error(name, dynamic):
    function, size, from_end = CASES[name]
    compiled = torch.compile(function, backend="pycompiler", dynamic=dynamic)
    first = -size if from_end else 0
    for good in ([0, size - 1], [first, 1]):
        index = torch.tensor(good)
        torch.testing.assert_close(compiled(X.clone(), index), function(X.clone(), index))
    for bad in (size, first - 1):
        with pytest.raises(IndexError, match=rf"index {bad} is out of bounds for .*size {size} .*test_torch_bounds"):
            compiled(X.clone(), torch.tensor([1, bad]))
        with pytest.raises((IndexError, RuntimeError)):
            function(X.clone(), torch.tensor([1, bad]))


def test_the_first_of_several_and_the_call_after_an_error():
    def step(x, i, j):
        x.add_(1)
        return x[i] * x.index_select(0, j)

    compiled = torch.compile(step, backend="pycompiler")
    x, good, bad = X.clone(), torch.tensor([0, 2]), torch.tensor([0, 7])
    with pytest.raises(IndexError, match="index_select: index 7"):
        compiled(x, good, bad)
    with pytest.raises(IndexError, match="index: index 7"):
        compiled(x, bad, bad)
    # An error leaves the arguments as they are.
    torch.testing.assert_close(x, X)
    torch.testing.assert_close(compiled(x, good, good), step(X.clone(), good, good))


def test_ignored_classes_and_empty_indices_are_within_bounds():
    def losses(x, classes, none):
        return F.cross_entropy(x, classes), F.cross_entropy(x, classes, reduction="sum", ignore_index=9), x[none]

    args = (X.clone(), torch.tensor([1, -100, 2]), torch.zeros(0, dtype=torch.int64))
    with pytest.raises(IndexError, match="index -100"):
        torch.compile(losses, backend="pycompiler")(*args)

    def ignored(x, classes, none):
        return F.cross_entropy(x, classes), x[none], x[:0][none], x.gather(0, none[None])

    torch.testing.assert_close(torch.compile(ignored, backend="pycompiler")(*args), ignored(*args))


def test_gradients_with_indices():
    def loss(x, i):
        return (F.embedding(i, x).sin() * x[i]).sum()

    x, i = X.clone().requires_grad_(), torch.tensor([2, 0, 2])
    made = torch.autograd.grad(torch.compile(loss, backend="pycompiler")(x, i), x)
    torch.testing.assert_close(made, torch.autograd.grad(loss(x, i), x))


def test_constant_indices_out_of_bounds():
    compiled = torch.compile(lambda x: x[torch.tensor([0, 5])] + 1, backend="pycompiler")
    for _ in range(2):
        with pytest.raises(IndexError, match="index 5"):
            compiled(X)
