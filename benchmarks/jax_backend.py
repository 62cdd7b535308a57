"""JAX on our backend and on XLA's CPU, in one process, in turns: `make bench-jax-backend`.

For each program: the median times of a call, of calls of JAX's dispatch, and of a compilation that is in no cache. With
a ratio below 1, our backend is faster. `--threads 2` gives both backends two threads (run it with two cores).
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0, help="of steady calls for each program and backend")
    options = parser.parse_args()
    os.environ["JAX_PLATFORMS"] = "pycompiler,cpu"
    os.environ["PYCOMPILER_NUM_THREADS"] = str(options.threads)
    os.environ["PYCOMPILER_ENABLE_COMPILATION_CACHE"] = "0"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    import jax

    places = {name: jax.devices(name)[0] for name in ("pycompiler", "cpu")}
    print(f"{'':32}{'ours, us':>12}{'XLA, us':>12}{'ratio':>8}{'compile':>9}")
    ratios: list[float] = []
    for name, (function, arguments) in programs().items():
        calls: dict[str, Callable[[], Any]] = {}
        compiled: dict[str, float] = {}
        for platform, place in places.items():
            given = jax.device_put(arguments, place)
            jitted = jax.jit(function)
            start = time.perf_counter()
            ready = jitted.lower(*given).compile()
            compiled[platform] = time.perf_counter() - start
            del ready
            jax.block_until_ready(jitted(*given))
            calls[platform] = lambda jitted=jitted, given=given: jax.block_until_ready(jitted(*given))
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
        gain = compiled["pycompiler"] / compiled["cpu"]
        print(f"{name:32}{ours:12.1f}{theirs:12.1f}{ours / theirs:8.2f}{gain:9.2f}", flush=True)
    print(f"{'geometric mean':32}{'':24}{statistics.geometric_mean(ratios):8.2f}")


if __name__ == "__main__":
    main()
