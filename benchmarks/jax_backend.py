"""JAX on our backend and on XLA's CPU, in one process, in turns: `make bench-jax-backend`.

For each program: the median times of a call, of calls of JAX's dispatch, and of compilations that are in no cache,
after a first one of each backend. With a ratio below 1, our backend is faster. `--threads 2` gives both backends two
threads (run it with two cores).

With `--processes`, the first call of a new process instead, with JAX's persistent cache of compilations: empty, and as
an earlier process left it. JAX's own share is the trace and the lowering, which both backends have.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any


def programs() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp
    import numpy as np

    rng = np.random.default_rng(0)

    def f32(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    def block(params: Any, x: Any) -> Any:
        wq, wk, wv, wo, w1, w2 = params
        q, k, v = x @ wq, x @ wk, x @ wv
        weights = jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))
        x = x + weights @ v @ wo
        return x + jax.nn.gelu(x @ w1) @ w2

    def train(params: Any, x: Any) -> Any:
        gradients = jax.grad(lambda p: jnp.mean(block(p, x) ** 2))(params)
        return [p - 1e-3 * g for p, g in zip(params, gradients, strict=True)]

    def convolution(w: Any, x: Any) -> Any:
        return jax.grad(lambda w: jnp.mean(jax.nn.relu(jax.lax.conv(x, w, (1, 1), "SAME")) ** 2))(w)

    def bodies(x: Any, v: Any) -> Any:
        apart = x[:, None] - x[None]
        force = -apart / (jnp.sum(apart**2, -1, keepdims=True) + 0.1) ** 1.5
        v = v + 0.01 * force.sum(1)
        return x + 0.01 * v, v

    def pendulum(y: Any) -> Any:
        def step(y: Any, _: Any) -> Any:
            def slope(y: Any) -> Any:
                return jnp.stack([y[1], -jnp.sin(y[0])])

            k1 = slope(y)
            k2 = slope(y + 0.005 * k1)
            return y + 0.01 * k2, y[0]

        return jax.lax.scan(step, y, None, length=2000)

    params = [f32(128, 128) * 0.1 for _ in range(4)] + [f32(128, 512) * 0.1, f32(512, 128) * 0.1]
    return {
        "x + 1, one number": (lambda x: x + 1, (np.float32(1),)),
        "tanh of 1e5": (jnp.tanh, (f32(100_000),)),
        "sum of 1e6": (jnp.sum, (f32(1000, 1000),)),
        "matmul 256": (lambda a, b: a @ b, (f32(256, 256), f32(256, 256))),
        "softmax 512 x 512": (jax.nn.softmax, (f32(512, 512),)),
        "sort 1e5": (jnp.sort, (f32(100_000),)),
        "normal 1e5": (lambda n: jax.random.normal(jax.random.key(n), (100_000,)), (np.int32(0),)),
        "a transformer's training step": (train, (params, f32(64, 128))),
        "a convolution's gradient": (convolution, (f32(8, 4, 3, 3), f32(4, 4, 32, 32))),
        "300 bodies": (bodies, (f32(300, 3), f32(300, 3))),
        "a pendulum's 2000 steps": (pendulum, (f32(2),)),
        "solve 200": (jnp.linalg.solve, (f32(200, 200) + 20 * np.eye(200, dtype=np.float32), f32(200))),
    }


COMPILATIONS = 5

# A process for each measurement.
PLATFORMS = ("pycompiler", "cpu")


def first(name: str, platform: str) -> None:
    """Prints the milliseconds of JAX's share of a first call, and of the rest."""
    import jax

    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    place = jax.devices(platform)[0]
    function, arguments = programs()[name]
    given = jax.block_until_ready(jax.device_put(arguments, place))
    begin = time.perf_counter()
    lowered = jax.jit(function).lower(*given)
    middle = time.perf_counter()
    jax.block_until_ready(lowered.compile()(*given))
    print((middle - begin) * 1e3, (time.perf_counter() - middle) * 1e3)


def processes(runs: int = 4) -> None:
    """First calls of new processes: the first run has empty caches, the best of the others counts."""
    print(
        f"{'':32}{'JAX, ms':>9}{'ours: empty, warm':>20}{'XLA: empty, warm':>20}{'whole, warm':>13}{'beyond JAX':>12}"
    )
    whole: list[float] = []
    for name in programs():
        rows: dict[str, list[tuple[float, float]]] = {}
        for platform in PLATFORMS:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["JAX_COMPILATION_CACHE_DIR"] = os.path.join(folder, "jax")
                os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = os.path.join(folder, "pycompiler")
                command = [sys.executable, __file__, "--first", f"{platform}:{name}"]
                lines = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(runs)]
            numbers = [line.stdout.split()[-2:] for line in lines]
            rows[platform] = [(float(lower), float(rest)) for lower, rest in numbers]
        lower = min(row[0] for platform in PLATFORMS for row in rows[platform][1:])
        empty, warm = ({one: pick(rest for _, rest in rows[one]) for one in PLATFORMS} for pick in (_first, _best))
        ours, theirs = (lower + warm[one] for one in PLATFORMS)
        whole.append(ours / theirs)
        parts = [f"{empty[one]:12.1f}{warm[one]:8.1f}" for one in PLATFORMS]
        beyond = warm["pycompiler"] / warm["cpu"]
        print(f"{name:32}{lower:9.1f}{''.join(parts)}{whole[-1]:13.2f}{beyond:12.2f}", flush=True)
    print(f"{'geometric mean':32}{'':49}{statistics.geometric_mean(whole):13.2f}")


def _first(times: Iterable[float]) -> float:
    return next(iter(times))


def _best(times: Iterable[float]) -> float:
    return min(list(times)[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of steady calls for each program and backend")
    parser.add_argument("--processes", action="store_true", help="the first calls of new processes")
    parser.add_argument("--first", help="print only the times of a first call: the platform, a colon, the program")
    options = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = "pycompiler,cpu"
    os.environ["PYCOMPILER_NUM_THREADS"] = str(options.threads)
    if options.first:
        platform, _, name = options.first.partition(":")
        return first(name, platform)
    if options.processes:
        return processes()
    os.environ["PYCOMPILER_ENABLE_COMPILATION_CACHE"] = "0"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    import jax

    places = {name: jax.devices(name)[0] for name in PLATFORMS}
    print(f"{'':32}{'ours, us':>12}{'XLA, us':>12}{'ratio':>8}{'compile':>9}")
    ratios: list[float] = []
    gains: list[float] = []
    for name, (function, arguments) in programs().items():
        calls: dict[str, Callable[[], Any]] = {}
        compiled: dict[str, list[float]] = {platform: [] for platform in places}
        for platform, place in places.items():
            given = jax.device_put(arguments, place)
            jitted = jax.jit(function)
            jax.block_until_ready(jitted(*given))
            calls[platform] = lambda jitted=jitted, given=given: jax.block_until_ready(jitted(*given))
        for _ in range(COMPILATIONS):
            for platform, place in places.items():
                lowered = jax.jit(lambda *given, function=function: function(*given)).lower(
                    *jax.device_put(arguments, place)
                )
                start = time.perf_counter()
                lowered.compile()
                compiled[platform].append(time.perf_counter() - start)
        times: dict[str, list[float]] = {platform: [] for platform in places}
        end = time.perf_counter() + 2 * options.seconds
        while time.perf_counter() < end or len(times["cpu"]) < 5:
            for platform, call in calls.items():
                start = time.perf_counter()
                for _ in range(10):
                    call()
                times[platform].append((time.perf_counter() - start) / 10 * 1e6)
        ours, theirs = (statistics.median(times[platform]) for platform in places)
        ratios.append(ours / theirs)
        gains.append(statistics.median(compiled["pycompiler"]) / statistics.median(compiled["cpu"]))
        print(f"{name:32}{ours:12.1f}{theirs:12.1f}{ours / theirs:8.2f}{gains[-1]:9.2f}", flush=True)
    means = [statistics.geometric_mean(column) for column in (ratios, gains)]
    print(f"{'geometric mean':32}{'':24}{means[0]:8.2f}{means[1]:9.2f}")


if __name__ == "__main__":
    main()
