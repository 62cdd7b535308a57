"""Models of PyTorch on pycompiler, in eager torch and on torch's own compiler (inductor), in one process.

    python benchmarks/torch_backend.py [--models mlp,gpt] [--threads 1] [--rounds 20] [--no-inductor]

For each model, forward and a training step (forward and backward): the first call with empty caches, steady calls (the
median of rounds in turns), and the time of a tiny call, which is overhead.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="mlp,gpt,resnet,unet,lstm,messages")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sizes", type=int, default=0, help="also the whole run over this many sizes of the batch")
    parser.add_argument("--no-inductor", action="store_true")
    return parser.parse_args()


def _steady(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median seconds of each, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    repeats = {}
    for name, call in calls.items():
        begin = time.perf_counter()
        call()
        repeats[name] = max(1, int(2e-3 / max(time.perf_counter() - begin, 1e-6)))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - begin) / repeats[name])
    return {name: statistics.median(values) for name, values in times.items()}


def _show(what: str, first: dict[str, float], steady: dict[str, float]) -> None:
    parts = []
    for name in steady:
        parts.append(f"{name} {first.get(name, 0):7.2f} s {steady[name] * 1e6:10.1f} us")
    ratios = ""
    if "inductor" in steady:
        ratios = (
            f" | ours/inductor: first {first['pycompiler'] / first['inductor']:.3f}, "
            f"steady {steady['pycompiler'] / steady['inductor']:.2f}"
        )
    print(
        f"{what:20} {' | '.join(parts)} | ours/eager {steady['pycompiler'] / steady['eager']:.2f}{ratios}", flush=True
    )


def main() -> None:
    given = _options()
    os.environ["OMP_NUM_THREADS"] = os.environ["PYCOMPILER_NUM_THREADS"] = str(given.threads)
    # Empty caches, without files of earlier processes.
    folder = tempfile.TemporaryDirectory()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder.name
    os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = os.path.join(folder.name, "pycompiler")
    import torch
    from torch_models import MODELS

    import pycompiler.torch  # noqa: F401

    torch.set_num_threads(given.threads)
    backends = ["pycompiler"] if given.no_inductor else ["pycompiler", "inductor"]

    def measure(what: str, function: Callable[..., Any], args: tuple[Any, ...], run: Callable[..., Any]) -> None:
        torch._dynamo.reset()
        calls, first = {"eager": lambda: run(function, args)}, {}
        for backend in backends:
            other = torch.compile(function, backend=backend, dynamic=False)
            begin = time.perf_counter()
            run(other, args)
            first[backend] = time.perf_counter() - begin
            calls[backend] = lambda other=other: run(other, args)
        _show(what, first, _steady(calls, given.rounds))

    def forward(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        with torch.no_grad():
            function(*args)

    def training(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        function(*args).square().mean().backward()

    # The additional cost of the first graph of a process.
    for backend in backends:
        torch.compile(lambda x: x.sin() * 2 + 1, backend=backend)(torch.randn(3))
    measure("overhead", lambda x: x + 1, (torch.randn(4),), forward)
    many = [torch.randn(4) for _ in range(50)]
    measure("overhead, 50 inputs", lambda *xs: sum(xs[1:], xs[0]), tuple(many), forward)
    for name in given.models.split(","):
        make, arguments = MODELS[name]
        torch.manual_seed(0)
        model, args = make(), arguments(given.batch)
        measure(f"{name}, forward", model.eval(), args, forward)
        measure(f"{name}, training", model.train(), args, training)
        if given.sizes:
            for backend in backends:
                torch._dynamo.reset()
                other = torch.compile(model.eval(), backend=backend, dynamic=True)
                begin = time.perf_counter()
                for size in range(2, 2 + given.sizes):
                    forward(other, arguments(size))
                print(f"{name}, {given.sizes} sizes: {backend} {time.perf_counter() - begin:.2f} s", flush=True)


if __name__ == "__main__":
    main()
