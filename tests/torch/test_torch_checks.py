"""Data that eager torch refuses are errors, with the operation and the line, and other data are none."""

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

NAN, INF = float("nan"), float("inf")
INTS, DIVISORS = torch.tensor([4, 5, -6]), torch.tensor([3, -2, 1])
ONES = torch.ones(2)
SQUARE = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
BROKEN = torch.tensor([[2.0, NAN], [NAN, 3.0]])


def bags(starts):
    return F.embedding_bag(torch.tensor([0, 1, 1]), torch.ones(2, 3), starts)


# A function, an argument that it takes, those that it refuses, and the reason.
CASES = {
    "floor_divide": (lambda y: INTS // y, DIVISORS, [torch.tensor([1, 2, 0])], "divided by 0"),
    "remainder": (lambda y: INTS % y, DIVISORS, [torch.tensor([0, 2, 1])], "divided by 0"),
    "fmod": (lambda y: torch.fmod(INTS, y), DIVISORS, [torch.tensor(0)], "divided by 0"),
    "div": (lambda y: torch.div(INTS, y, rounding_mode="trunc"), DIVISORS, [torch.tensor([0, 0, 1])], "divided by 0"),
    "div of bytes": (lambda y: INTS.char() // y, DIVISORS.char(), [torch.tensor([0, 1, 1]).char()], "divided by 0"),
    "binary_cross_entropy": (
        lambda x: F.binary_cross_entropy(x, ONES),
        torch.tensor([0.0, 0.5]),
        [torch.tensor([1.5, 0.5]), torch.tensor([0.5, -0.1]), torch.tensor([NAN, 0.5])],
        "the input is not between 0 and 1",
    ),
    "binary_cross_entropy of a target": (
        lambda y: F.binary_cross_entropy(ONES / 2, y, reduction="sum"),
        torch.tensor([0.0, 1.0]),
        [torch.tensor([1.5, 0.5])],
        "the target is not between 0 and 1",
    ),
    "repeat_interleave": (
        lambda n: torch.repeat_interleave(torch.arange(3), n, output_size=4),
        torch.tensor([1, 0, 3]),
        [torch.tensor([-1, 2, 3])],
        "repetitions is negative",
    ),
    "repeat_interleave of a size": (
        lambda n: torch.repeat_interleave(torch.arange(3), n, output_size=4),
        torch.tensor([1, 0, 3]),
        [torch.tensor([1, 1, 1]), torch.tensor([2, 2, 2])],
        "do not add up to output_size",
    ),
    "histc": (lambda x: torch.histc(x, 4), ONES, [torch.tensor([1.0, NAN]), torch.tensor([-INF, 0.0])], "not finite"),
    "masked_scatter": (
        lambda x: x.masked_scatter(x > 0, torch.tensor([7.0])),
        torch.tensor([1.0, -1.0]),
        [ONES],
        "fewer elements than the mask",
    ),
    "segment_reduce": (
        lambda n: torch.segment_reduce(torch.ones(4), "sum", lengths=n),
        torch.tensor([1, 0, 3]),
        [torch.tensor([-1, 2, 3])],
        "length is negative",
    ),
    "segment_reduce of a size": (
        lambda n: torch.segment_reduce(torch.ones(4), "sum", lengths=n),
        torch.tensor([1, 0, 3]),
        [torch.tensor([1, 0, 2])],
        "lengths do not add up",
    ),
    "cholesky": (torch.cholesky, SQUARE, [-SQUARE, BROKEN], "no factors"),
    "cholesky_ex": (lambda x: torch.linalg.cholesky_ex(x, check_errors=True)[0], SQUARE, [BROKEN], "no factors"),
    "inv_ex": (lambda x: torch.linalg.inv_ex(x, check_errors=True)[0], SQUARE, [SQUARE * 0], "no factors"),
    "solve_ex": (lambda x: torch.linalg.solve_ex(x, ONES, check_errors=True)[0], SQUARE, [SQUARE * 0], "no factors"),
    "lu_factor_ex": (lambda x: torch.linalg.lu_factor_ex(x, check_errors=True)[0], SQUARE, [SQUARE * 0], "no factors"),
    "svdvals": (torch.linalg.svdvals, SQUARE, [BROKEN], "element that is nan"),
    "eig": (lambda x: torch.linalg.eig(x)[0].real.sort()[0], SQUARE, [BROKEN, SQUARE * INF], "infinite or nan"),
    "embedding_bag": (bags, torch.tensor([0, 2, 3]), [torch.tensor([1, 2])], "must begin at 0"),
    "embedding_bag behind the end": (bags, torch.tensor([0, 2]), [torch.tensor([0, 4])], "behind the last index"),
}
RANDOM = {
    "bernoulli": (
        torch.bernoulli,
        torch.tensor([0.0, 1.0]),
        [torch.tensor([1.5, 0.5]), torch.tensor([-0.1]), torch.tensor([NAN])],
        "between 0 and 1",
    ),
    "bernoulli_": (
        lambda p: torch.zeros(2).bernoulli_(p),
        torch.tensor([0.0, 1.0]),
        [torch.tensor([1.5, 0.5])],
        "between 0 and 1",
    ),
    "multinomial": (
        lambda x: torch.multinomial(x, 1),
        ONES,
        [torch.tensor([0.5, -1]), torch.tensor([NAN, 1]), torch.tensor([INF, 1])],
        "negative, infinite or nan",
    ),
    "multinomial of zeros": (lambda x: torch.multinomial(x, 3, True), ONES, [torch.zeros(2)], "all weights"),
    "normal": (lambda s: torch.normal(0.0, s), ONES, [torch.tensor([1.0, -1.0])], "deviation is negative"),
    "poisson": (torch.poisson, ONES, [torch.tensor([-1.0, 2.0])], "negative"),
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES | RANDOM)
def test_data_that_torch_refuses(name, dynamic):
    function, good, bad, why = (CASES | RANDOM)[name]
    compiled = torch.compile(function, backend="pycompiler", dynamic=dynamic)
    for wrong in bad:
        with pytest.raises(RuntimeError):
            function(wrong)
        with pytest.raises(RuntimeError, match=why):
            compiled(wrong)
        made = compiled(good)
        if name in CASES:
            torch.testing.assert_close(made, function(good))


def test_the_line_of_the_program():
    with pytest.raises(RuntimeError, match=r"floor_divide: .*test_torch_checks\.py"):
        torch.compile(lambda x, y: x // y, backend="pycompiler")(INTS, torch.tensor(0))


def test_eigenvalues_of_nan():
    """Eager torch gives nan for a symmetric matrix, and for others its process may end."""
    compiled = torch.compile(torch.linalg.eigvalsh, backend="pycompiler")
    torch.testing.assert_close(compiled(BROKEN), torch.linalg.eigvalsh(BROKEN), equal_nan=True)
    with pytest.raises(RuntimeError, match="infinite or nan"):
        torch.compile(torch.linalg.eigvals, backend="pycompiler")(BROKEN)


def test_factors_of_nan_have_torchs_info():
    """A factor without a number below 0 on its diagonal, and with nan in its first or second row."""
    for x in (BROKEN, torch.tensor([[1.0, 1], [1, NAN]]), torch.tensor([[1.0, 1], [NAN, 1]]), SQUARE):
        for function in (torch.linalg.cholesky_ex, torch.linalg.lu_factor_ex, torch.linalg.inv_ex):
            made = torch.compile(function, backend="pycompiler", dynamic=False)(x)
            assert made.info == function(x).info


NUMBERS = {
    "select_scatter": lambda x: torch.select_scatter(x, x[0], 0, 3),
    "floor_divide": lambda x: x // 0,
    "remainder": lambda x: x % 0,
    "bernoulli": lambda x: torch.bernoulli(x.float(), 1.5),
    "uniform_": lambda x: torch.zeros(2).uniform_(2, 1),
    "full": lambda x: torch.full((2,), 256, dtype=torch.uint8) + x.sum(),
    "fill": lambda x: x.fill_(float("nan")),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_torch_refuses(name, monkeypatch):
    """They stay with torch, which raises its error."""
    monkeypatch.delenv("PYCOMPILER_TORCH_STRICT")
    with pytest.raises((RuntimeError, IndexError)) as wanted:
        NUMBERS[name](INTS.clone())
    with pytest.warns(UserWarning, match="run in eager torch"), pytest.raises(wanted.type) as made:
        torch.compile(NUMBERS[name], backend="pycompiler")(INTS.clone())
    assert str(made.value) == str(wanted.value)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.uint16, torch.int32, torch.int64, torch.bool], ids=str
)
def test_numbers_at_the_ends_of_a_dtype(dtype):
    for value in (127, -1, 2.5, 0, *([-255, 255] if dtype == torch.uint8 else [])):
        if dtype == torch.bool or value != -1 or dtype != torch.uint8:
            function = lambda value=value: torch.full((3,), value, dtype=dtype)  # noqa: E731
            assert torch.equal(torch.compile(function, backend="pycompiler", dynamic=False)(), function())


def test_samples_where_a_parameter_has_no_distribution():
    run = lambda f, *args: torch.compile(f, backend="pycompiler")(*map(torch.tensor, args))  # noqa: E731
    assert run(torch.binomial, [3.0, 3.0, -1.0, 0.0], [1.5, -0.5, 0.5, 0.5]).tolist() == [3, 0, 0, 0]
    assert run(torch._standard_gamma, [NAN, -1.0]).tolist() == [torch.finfo(torch.float32).tiny] * 2
