"""Kernels that threads share: the same bits with one, two and three threads, and NumPy's results."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.nn
import pycompiler.numpy as jnp
from pycompiler.experimental.sparse import BCSR

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape, dtype=np.float32)


def layer(x: Any, scale: Any) -> Any:
    centered = x - x.mean(-1, keepdims=True)
    return centered / jnp.sqrt((centered * centered).mean(-1, keepdims=True) + 1e-5) * scale


def chances(x: Any) -> Any:
    """The exponentials of a row are kept in a temporary."""
    p = pc.nn.softmax(x)
    return (p * p).sum(-1)


def steps(x: Any) -> Any:
    return pc.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y) * 0.5 + x, x)


def rows_of(table: Any, index: Any) -> Any:
    return table[index] * 2


def bfloat16_product(x: Any, y: Any) -> Any:
    return jnp.matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


def convolved(x: Any, w: Any) -> Any:
    return pc.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def convolved_back(x: Any, w: Any) -> Any:
    y, pull = pc.vjp(convolved, x, w)
    return y, pull(y)


def steps_to_one(n: Any) -> Any:
    """The length of Collatz's sequence from each number: a loop of unknown length in each iteration of a scan."""

    def one(n: Any) -> Any:
        def step(state: Any) -> Any:
            count, n = state
            return count + 1, jnp.where(n % 2 == 0, n // 2, 3 * n + 1)

        return pc.lax.while_loop(lambda state: state[1] > 1, step, (0, n))[0]

    return pc.lax.map(one, n)


def mapped_rows(x: Any) -> Any:
    """Rows with temporaries, and a result from the last to the first."""

    def row(_: Any, r: Any) -> tuple[Any, Any]:
        shifted = jnp.exp(r - r.max())
        return None, (shifted / shifted.sum(), jnp.flip(r))

    return pc.lax.scan(row, None, x, reverse=True)[1]


def rows_of_a_matrix(data: Any, columns: Any, starts: Any, x: Any) -> Any:
    return BCSR((data, columns, starts), shape=(starts.size - 1, x.size)) @ x


def in_a_sequence(x: Any) -> Any:
    """A loop over rows in one whose steps follow from each other."""
    return pc.lax.fori_loop(0, 3, lambda i, y: pc.lax.map(lambda r: jnp.cos(r) + r.sum() / r.size + i, y), x)


# Each is large enough for several threads, including sizes that no block divides.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "add": (lambda x, y: x + y, (normal(300_007), normal(300_007))),
    "gelu": (lambda x: pc.nn.gelu(x), (normal(400, 1024),)),
    "integers": (lambda x: x * 3 // 7, (RNG.integers(-1000, 1000, (600, 512), dtype=np.int32),)),
    "bits": (lambda x: (x > 0) & (x < 1), (normal(512, 701),)),
    "bfloat16": (lambda x: (x.astype(jnp.bfloat16) * 3).astype(jnp.float32), (normal(500, 600),)),
    "softmax": (lambda x: pc.nn.softmax(x), (normal(512, 1024),)),
    "softmax of odd rows": (lambda x: pc.nn.softmax(x), (normal(509, 1003),)),
    "layer": (layer, (normal(640, 768), normal(768))),
    "layer of short rows": (layer, (normal(30_011, 17), normal(17))),
    "rows on the stack": (lambda x: chances(x.astype(jnp.bfloat16)).astype(jnp.float32), (normal(20_011, 64),)),
    "rows of many": (chances, (normal(8009, 100),)),
    "rows of few": (chances, (normal(9, 40_003),)),
    "sum": (lambda x: x.sum(), (normal(1024, 1024),)),
    "sum of an odd number": (lambda x: x.sum(), (normal(999_983),)),
    "sum of a million": (lambda x: (x * x).sum(), (normal(1000, 1000),)),
    "extremes": (lambda x: (x.max(), x.min()), (normal(900_000),)),
    "argmax": (lambda x: x.argmax(), (normal(700_000),)),
    "integer sum": (lambda x: x.sum(), (RNG.integers(-9, 9, 600_000, dtype=np.int32),)),
    "sum of columns": (lambda x: x.sum(0), (normal(1024, 768),)),
    "sum of odd columns": (lambda x: x.sum(0), (normal(700, 1001),)),
    "sum of many rows": (lambda x: (x.sum(0), x.min(0)), (normal(16384, 64),)),
    "sum of long columns": (lambda x: x.sum(0), (normal(300, 8209),)),
    "sum of rows": (lambda x: x.sum(1), (normal(700, 1001),)),
    "transposed": (lambda x, y: x.T + y, (normal(800, 640), normal(640, 800))),
    "product": (lambda x, y: x @ y, (normal(384, 640), normal(640, 512))),
    "odd product": (lambda x, y: x @ y, (normal(301, 517), normal(517, 403))),
    "product of few rows": (lambda x, y: x @ y, (normal(40, 600), normal(600, 1100))),
    "product of one row": (lambda x, y: x @ y, (normal(1, 1500), normal(1500, 1001))),
    "product of three rows": (lambda x, y: x @ y, (normal(3, 700), normal(700, 4100))),
    "product with bias": (lambda x, y, b: jnp.maximum(x @ y + b, 0), (normal(301, 517), normal(517, 403), normal(403))),
    "product with a transposed": (lambda x, y: x @ y.T, (normal(300, 600), normal(410, 600))),
    "products": (lambda x, y: x @ y, (normal(50, 60, 70), normal(50, 70, 64))),
    "packed products": (lambda x, y: x @ y, (normal(37, 60, 70), normal(37, 70, 45))),
    "product of bfloat16": (bfloat16_product, (normal(301, 517), normal(517, 403))),
    "products of bfloat16": (bfloat16_product, (normal(37, 60, 71), normal(37, 71, 45))),
    "convolution and its gradients": (convolved_back, (normal(6, 33, 31, 24), normal(3, 3, 24, 72))),
    "loop": (steps, (normal(300, 512),)),
    "rows": (rows_of, (normal(3000, 256), RNG.integers(0, 3000, 2000, dtype=np.int32))),
    "scan of loops": (steps_to_one, (RNG.integers(1, 10_000, 30_011, dtype=np.int32),)),
    "scan of rows": (mapped_rows, (normal(3001, 70),)),
    "scan in a loop": (in_a_sequence, (normal(2003, 61),)),
    "sparse rows": (
        rows_of_a_matrix,
        (
            normal(90_000),
            RNG.integers(0, 5000, 90_000, dtype=np.int32),
            np.arange(0, 90_001, 9, np.int32),
            normal(5000),
        ),
    ),
    "scatter of rows": (
        lambda x, i, y: (x.at[i].add(y), x.at[i].set(y, mode="drop"), jnp.zeros_like(x).at[i].max(y)),
        (normal(3001, 70), RNG.integers(0, 3001, 20_000, dtype=np.int32), normal(20_000, 70)),
    ),
    "scatter of columns": (
        lambda x, i, y: x.at[:, i].mul(y),
        (normal(130, 401), RNG.integers(0, 401, 300, dtype=np.int32), normal(130, 300)),
    ),
    "scatter in each row": (
        pc.vmap(lambda x, i, y: x.at[i].add(y)),
        (normal(70, 500), RNG.integers(0, 500, (70, 700), dtype=np.int32), normal(70, 700)),
    ),
    "scatter in a loop": (
        lambda x, i, y: pc.lax.fori_loop(0, 3, lambda n, x: x.at[i].add(y) * 0.5, x),
        (normal(700, 64), RNG.integers(0, 700, 9_000, dtype=np.int32), normal(9_000, 64)),
    ),
    "scatter in a scan of rows": (
        lambda x, i, y: pc.lax.map(lambda part: jnp.zeros((400, 64), jnp.float32).at[i].add(part * x), y),
        (normal(64), RNG.integers(0, 400, 9_000, dtype=np.int32), normal(5, 9_000, 64)),
    ),
    "sort": (lambda x: jnp.sort(x), (normal(64, 3000),)),
    "cumulative": (lambda x: jnp.cumsum(x, 1), (normal(300, 2000),)),
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x)), (normal(64, 4096),)),
    "fft_prime": (lambda x: jnp.abs(jnp.fft.fft(x)), (normal(65537),)),
    "rfft_prime": (lambda x: jnp.abs(jnp.fft.rfft(x)), (normal(3, 2 * 16381),)),
}


def results(name: str) -> list[np.ndarray]:
    function, args = PROGRAMS[name]
    return [np.asarray(leaf) for leaf in pc.tree.leaves(pc.jit(function)(*args))]


def digests() -> dict[str, str]:
    return {
        name: hashlib.sha256(b"".join(result.tobytes() for result in results(name))).hexdigest() for name in PROGRAMS
    }


def run(code: str, **settings: str) -> str:
    """The output of a new process."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **settings}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


IMPORT = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r}); import test_shared_loops"


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    code = f"{IMPORT}, json; print(json.dumps(test_shared_loops.digests()))"
    one, two, three = (json.loads(run(code, PYCOMPILER_NUM_THREADS=str(count))) for count in (1, 2, 3))
    assert one == two
    assert one == three
    assert json.loads(run(code, PYCOMPILER_SYNC="1")) == one


def numpy_chances(x: Any) -> Any:
    p = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
    return (p * p).sum(-1)


def numpy_steps_to_one(n: Any) -> Any:
    count = np.zeros(n.shape, np.int32)
    while (n > 1).any():
        count += n > 1
        n = np.where(n > 1, np.where(n % 2 == 0, n // 2, 3 * n + 1), n)
    return count


def numpy_sequence(x: Any) -> Any:
    for i in range(3):
        x = np.cos(x) + x.mean(1, keepdims=True) + i
    return x


def numpy_scatters(x: Any, i: Any, y: Any) -> Any:
    total, last, most = x.astype(np.float64), x.copy(), np.zeros_like(x)
    np.add.at(total, i, y)
    np.maximum.at(most, i, y)
    for place, row in zip(i, y, strict=True):
        last[place] = row
    return total, last, most


def numpy_products_of_columns(x: Any, i: Any, y: Any) -> Any:
    x = x.copy()
    np.multiply.at(x, (slice(None), i), y)
    return x


def numpy_sums_in_rows(x: Any, i: Any, y: Any) -> Any:
    x = x.copy()
    np.add.at(x, (np.arange(len(x))[:, None], i), y)
    return x


def numpy_scatter_in_a_loop(x: Any, i: Any, y: Any) -> Any:
    x = x.astype(np.float64)
    for _ in range(3):
        np.add.at(x, i, y)
        x *= 0.5
    return x


def numpy_scatter_in_a_scan(x: Any, i: Any, y: Any) -> Any:
    out = np.zeros((len(y), 400, 64))
    for part, total in zip(y, out, strict=True):
        np.add.at(total, i, part * x)
    return out


def numpy_rows_of_a_matrix(data: Any, columns: Any, starts: Any, x: Any) -> Any:
    return np.add.reduceat(data.astype(np.float64) * x[columns], starts[:-1])


NUMPY: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "scatter of rows": numpy_scatters,
    "scatter of columns": numpy_products_of_columns,
    "scatter in each row": numpy_sums_in_rows,
    "scatter in a loop": numpy_scatter_in_a_loop,
    "scatter in a scan of rows": numpy_scatter_in_a_scan,
    "softmax of odd rows": lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    "rows of many": numpy_chances,
    "rows of few": numpy_chances,
    "sum of a million": lambda x: (x.astype(np.float64) ** 2).sum(),
    "sum of odd columns": lambda x: x.sum(0, dtype=np.float64),
    "sum of columns": lambda x: x.sum(0, dtype=np.float64),
    "integer sum": lambda x: x.sum(),
    "transposed": lambda x, y: x.T + y,
    "product": lambda x, y: x @ y,
    "odd product": lambda x, y: x @ y,
    "product of few rows": lambda x, y: x @ y,
    "product of one row": lambda x, y: x @ y,
    "product of three rows": lambda x, y: x @ y,
    "product with bias": lambda x, y, b: np.maximum(x @ y + b, 0),
    "product with a transposed": lambda x, y: x @ y.T,
    "products": lambda x, y: x @ y,
    "packed products": lambda x, y: x @ y,
    "rows": lambda table, index: table[index] * 2,
    "scan of loops": numpy_steps_to_one,
    "scan in a loop": numpy_sequence,
    "sparse rows": numpy_rows_of_a_matrix,
    "bits": lambda x: (x > 0) & (x < 1),
}


@pytest.mark.parametrize("name", NUMPY)
def test_results_are_those_of_numpy(name: str) -> None:
    want = NUMPY[name](*PROGRAMS[name][1])
    for result, expected in zip(results(name), want if isinstance(want, tuple) else (want,), strict=True):
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("dims", [("rows", "columns"), ("rows", None), (None, "columns")])
def test_rows_whose_sizes_a_call_decides(dims: tuple[str | None, ...]) -> None:
    function = pc.jit(chances, dynamic={"x": dims})
    for shape in [(4, 8), (37, 5003), (8009, 100), (4001, 33), (9, 40_003), (1, 7), (65, 1001)]:
        x = normal(*shape)
        np.testing.assert_allclose(function(x), numpy_chances(x.astype(np.float64)), rtol=3e-5)


def test_extremes_keep_nans() -> None:
    x = normal(900_000)
    x[123_456] = np.nan
    assert all(np.isnan(np.asarray(value)) for value in pc.jit(lambda x: (x.max(), x.min()))(x))


def test_large_loops_are_shared() -> None:
    text = pc.jit(lambda x: x + 1).lower(normal(1 << 20)).as_text("loops")
    assert "@main_piece0" in text


def shared_loops(text: str) -> list[str]:
    """The functions of the loops that threads share, in the code of the stage "loops"."""
    return [part for part in re.split(r"(?=func\.func )", text) if re.match(r"func\.func private @\w+_loop\d", part)]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name.startswith("scatter")])
def test_large_scatters_are_shared(name: str) -> None:
    function, args = PROGRAMS[name]
    text = pc.jit(function).lower(*args).as_text("loops")
    # Copies of the target are shared, too: the shared loop reads the indices.
    assert any("xi32" in part for part in shared_loops(text))


def test_scatters_of_numbers_are_not() -> None:
    """Each thread would look at all indices, which takes as long as the changes. On some processors a loop that makes
    indices is shared; the loop that adds is not."""
    text = pc.jit(lambda x, i, y: x.at[i].add(y)).lower(normal(9_000), np.zeros(90_000, np.int32), normal(90_000))
    text = text.as_text("loops")
    assert "arith.addf" in text
    assert not any("arith.addf" in part for part in shared_loops(text))


def test_small_loops_are_not() -> None:
    x = normal(64, 64)
    for function in (lambda x: x + 1, lambda x: x @ x, lambda x: pc.nn.softmax(x), lambda x: x.sum()):
        assert "@main_piece0" not in pc.jit(function).lower(x).as_text("loops")
