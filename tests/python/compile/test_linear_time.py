"""Compile time is linear in the number of repetitions in a program: at most 2.5 times for twice the program.

Processor time, because no count shows the growth: most of it would be in LLVM and in MLIR, whose operations nobody
counts, and counters of instructions are not allowed in containers. Both lengths are measured in turns, up to five times,
and one ratio that is small is enough: a machine that is busy cannot make all of them large. Only growth with a higher
power fails: a quadratic pass takes 4 times as long.
"""

from __future__ import annotations

import itertools
import math
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, nn
from pycompiler.core.config.config import config, enable_x64
from pycompiler.primitives import PRIMITIVES

MOST = 2.5
# Below this time, a ratio means little.
LEAST_SECONDS = 0.05

X = np.linspace(0.1, 1.0, 64, dtype=np.float32)


def repeated(step: Callable[[Any, int], Any]) -> Callable[[int], Callable[[Any], Any]]:
    def of_length(length: int) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            for i in range(length):
                x = step(x, i)
            return x

        return f

    return of_length


def carried(length: int) -> Callable[[Any], Any]:
    """A loop whose carry has many arrays, as the state of an optimizer."""

    def step(_: Any, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(pnp.sin(array) + arrays[i - 1] for i, array in enumerate(arrays))

    return lambda x: lax.fori_loop(0, 5, step, tuple(x + i for i in range(length)))


def sliced(length: int) -> Callable[[Any], Any]:
    """A scan over many arrays, with as many results."""

    def step(carry: Any, slices: list[Any]) -> tuple[Any, list[Any]]:
        return carry + sum(slices), [part * 2 for part in slices]

    return lambda x: lax.scan(step, x, [pnp.stack([x * i, x]) for i in range(length)])


def gradient_of_updates(length: int) -> Callable[[Any], Any]:
    updates = repeated(lambda x, i: lax.dynamic_update_slice(x, x[:4] * x[4:8], (i % 60,)))(length)
    return pc.grad(lambda x: updates(x).sum())


def beside(part: Callable[[Any, int], Any]) -> Callable[[int], Callable[[Any], Any]]:
    return lambda length: lambda x: [part(x, i) for i in range(length)]


PROGRAMS: dict[str, Callable[[int], Callable[[Any], Any]]] = {
    "stack": lambda n: lambda x: pnp.stack([x * i for i in range(n)]),
    "concatenate": lambda n: lambda x: pnp.concatenate([x[: i % 7 + 1] for i in range(n)]),
    "updates of slices": repeated(lambda x, i: lax.dynamic_update_slice(x, x[:4] * 2, (i % 60,))),
    "gradient of updates of slices": gradient_of_updates,
    "updates of elements": repeated(lambda x, i: x.at[i % 64].set(2.0 + i)),
    "additions to elements": repeated(lambda x, i: x.at[i % 64].add(2.0)),
    "less the mean": repeated(lambda x, _: x - x.mean()),
    "softmax": repeated(lambda x, _: nn.softmax(x)),
    "sines": repeated(lambda x, _: pnp.sin(x)),
    "terms": lambda n: lambda x: sum(x * (0.5 * i) for i in range(n)),
    "rolls": repeated(lambda x, _: pnp.roll(x, 1) * 0.5),
    "products": repeated(lambda x, _: (x.reshape(8, 8) @ x.reshape(8, 8)).reshape(64)),
    "sorts": repeated(lambda x, _: pnp.sort(x)),
    "running sums": repeated(lambda x, _: pnp.cumsum(x)),
    "gathers": repeated(lambda x, _: x[(x * 3).astype("int32")]),
    "branches": repeated(lambda x, i: lax.cond(x[0] > i, lambda y: y + 1, lambda y: y * 2, x)),
    "loops": repeated(lambda x, i: lax.fori_loop(0, 3, lambda j, c: c.at[j + i % 60].mul(2.0), x)),
    "a long body": lambda n: (
        lambda x: lax.fori_loop(0, 3, lambda j, c: repeated(lambda y, i: y.at[i % 64].add(j))(n)(c), x)
    ),
    "many carries": carried,
    "many arrays of a scan": sliced,
    "sums beside each other": beside(lambda x, i: (x * i).sum()),
    "changes beside each other": beside(lambda x, i: x.at[i % 64].set(i)),
    "stacks of sums": lambda n: lambda x: pnp.stack([(x * i).sum() for i in range(n)]),
}
SAMPLED = {"stack", "updates of slices", "loops", "many carries"}
MARKED = [name if name in SAMPLED else pytest.param(name, marks=pytest.mark.full) for name in PROGRAMS]


def seconds(function: Callable[..., Any], *args: Any) -> float:
    """The processor time of a compilation, over all threads."""
    pc.clear_caches()
    lowered = pc.jit(function).lower(*args)
    begin = time.process_time()
    lowered.compile()
    return time.process_time() - begin


def check_growth(of_length: Callable[[int], Callable[..., Any]], lengths: tuple[int, ...], *args: Any) -> None:
    for shorter, longer in itertools.pairwise(lengths):
        ratio = math.inf
        for _ in range(5):
            once, twice = seconds(of_length(shorter), *args), seconds(of_length(longer), *args)
            ratio = min(ratio, twice / max(once, LEAST_SECONDS))
            if ratio <= MOST:
                break
        assert ratio <= MOST, f"{longer} take {ratio:.1f} times as long as {shorter}"


@pytest.fixture(autouse=True)
def without_disk_cache() -> Iterator[None]:
    with config.override("enable_compilation_cache", False):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MARKED)
def test_programs(name: str) -> None:
    check_growth(PROGRAMS[name], (100, 200), X)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS)
def test_longer_programs(name: str) -> None:
    check_growth(PROGRAMS[name], (200, 400), X)


def sample_of(name: str) -> Any:
    return next(iter(PRIMITIVES[name].sampler(np.random.default_rng(zlib.crc32(name.encode())))))


def side_by_side(name: str) -> Callable[[int], Callable[..., Any]]:
    primitive, params = PRIMITIVES[name], sample_of(name).params
    return lambda length: (
        lambda *args: [primitive.bind(*lax.optimization_barrier(args), **params) for _ in range(length)]
    )


def in_a_chain(name: str) -> Callable[[int], Callable[..., Any]] | None:
    """A chain: each link takes the first result of the one before; None if that has another type than the operand."""
    primitive, sample = PRIMITIVES[name], sample_of(name)

    def link(*args: Any) -> Any:
        return pc.tree.leaves(primitive.bind(*args, **sample.params))[0]

    first, result = pnp.asarray(sample.args[0]), pc.eval_shape(link, *sample.args)
    if (first.shape, first.dtype) != (result.shape, result.dtype):
        return None
    return lambda length: lambda first, *rest: repeated(lambda x, _: link(x, *rest))(length)(first)


# Operations without operands are all equal.
NAMES = [name for name in sorted(PRIMITIVES) if name not in ("iota", "dim_as_value", "rng_bit_generator")]
FEW = {"concatenate", "dynamic_update_slice", "scatter", "pow", "reduce_window_max"}
SOME = [name if name in FEW else pytest.param(name, marks=pytest.mark.full) for name in NAMES]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SOME)
def test_primitives_beside_each_other(name: str) -> None:
    check_growth(side_by_side(name), (100, 200), *sample_of(name).args)


LINKED = {"optimization_barrier", "cumsum", "dynamic_update_slice", "scatter"}
LINKS = [name if name in LINKED else pytest.param(name, marks=pytest.mark.full) for name in NAMES if in_a_chain(name)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LINKS)
def test_primitives_in_a_chain(name: str) -> None:
    of_length = in_a_chain(name)
    assert of_length is not None
    args = sample_of(name).args
    # The formulas of gammainc and gammaincc have a thousand operations, with loops: 100 are 100,000.
    is_long = len(pc.jit(of_length(1)).lower(*args).as_text().splitlines()) > 500
    check_growth(of_length, (25, 50, 100) if is_long else (100, 200, 400), *args)


@pytest.mark.parametrize("base", [np.array(3), np.array([[2, 3, -1, 5]]), np.array([[2], [3], [7]])])
def test_integer_powers_of_what_is_broadcast(base: Any) -> None:
    """A step for each bit of the exponent, for any layout of the operands."""
    exponents = np.arange(12).reshape(3, 4)
    with enable_x64(True):
        power = pc.jit(lambda x, n: x**n)
        assert power.lower(base, exponents).as_text("loops").count("arith.muli") < 8 * 64
        np.testing.assert_array_equal(np.asarray(power(base, exponents)), base**exponents)
