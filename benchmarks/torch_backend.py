"""Models of PyTorch on pycompiler, in eager torch and on torch's own compiler (inductor), in one process.

    python benchmarks/torch_backend.py [--models mlp,gpt] [--threads 1] [--rounds 20] [--no-inductor] [--processes]

For each model, forward and a training step (forward and backward): the first call with empty caches, steady calls (the
median of rounds in turns), and the time of a tiny call, which is overhead. Dynamo's share of a first call, which every
backend has, is measured by a backend that runs Dynamo's graph as it is.

With `--processes`, the first call of a new process instead, with empty caches and with those of an earlier process.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="mlp,gpt,resnet,unet,lstm,messages")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--sizes", type=int, default=0, help="also the whole run over this many sizes of the batch")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--processes", action="store_true", help="the first calls of new processes")
    parser.add_argument("--first", help="print only the seconds of a first call: the backend, and forward or training")
    return parser.parse_args()


# A backend that compiles nothing: the time of a first call is Dynamo's.
ALONE = "dynamo"
# Torch's backend with all its traces, without a compiler.
TRACES = "aot_eager_decomp_partition"


def _register() -> None:
    import torch

    import pycompiler.torch  # noqa: F401

    torch._dynamo.register_backend(lambda module, inputs: module.forward, name=ALONE)
    torch._dynamo.config.allow_rnn = True


def _forward(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    import torch

    with torch.no_grad():
        function(*args)


def _training(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    function(*args).square().mean().backward()


# A call of each kind.
KINDS = {"forward": _forward, "training": _training}


def _first(given: argparse.Namespace) -> None:
    """Prints the seconds of a first call in this process."""
    import torch
    from torch_models import MODELS

    torch.set_num_threads(given.threads)
    _register()
    backend, kind = given.first.split(",")
    make, arguments = MODELS[given.models]
    torch.manual_seed(0)
    model, args = make().train(kind == "training"), arguments(given.batch)
    # Python collects the objects of the imports at some time, which takes .2 s.
    gc.collect()
    begin = time.perf_counter()
    KINDS[kind](torch.compile(model, backend=backend, dynamic=False), args)
    print(time.perf_counter() - begin)


def _processes(given: argparse.Namespace) -> None:
    """The first calls of new processes, with empty caches and with those of the first one."""
    backends = [ALONE, "pycompiler"] if given.no_inductor else [ALONE, "pycompiler", "inductor"]
    for model in given.models.split(","):
        for kind in KINDS:
            seconds: dict[str, list[float]] = {}
            for backend in backends:
                with _empty_caches():
                    command = [sys.executable, __file__, "--models", model, "--first", f"{backend},{kind}"]
                    command += ["--threads", str(given.threads), "--batch", str(given.batch)]
                    seconds[backend] = []
                    for _ in range(3):
                        done = subprocess.run(command, capture_output=True, text=True, check=True)
                        seconds[backend].append(float(done.stdout.split()[-1]))
            cold = {backend: times[0] for backend, times in seconds.items()}
            warm = {backend: min(times[1:]) for backend, times in seconds.items()}
            parts = [f"{_NAMES[backend]} {cold[backend]:.2f} {warm[backend]:.2f} s" for backend in backends]
            print(f"{model}, {kind}, empty and warm: {' | '.join(parts)}{_shares(cold)}{_shares(warm)}", flush=True)


_NAMES = {ALONE: "Dynamo", "pycompiler": "pycompiler", "inductor": "inductor"}


def _shares(seconds: dict[str, float]) -> str:
    """The ratio of two first calls, and that of their shares beyond Dynamo's."""
    if "inductor" not in seconds:
        return ""
    ours, theirs, alone = seconds["pycompiler"], seconds["inductor"], seconds[ALONE]
    beyond = f"{(ours - alone) / (theirs - alone):.3f}" if theirs > alone else "none"
    return f" | ours/inductor {ours / theirs:.3f}, Dynamo {alone / theirs:.3f}, beyond it {beyond}"


@contextlib.contextmanager
def _empty_caches() -> Iterator[None]:
    """Empty caches of both compilers, without files of earlier processes."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        os.environ["PYCOMPILER_COMPILATION_CACHE_DIR"] = os.path.join(folder, "pycompiler")
        yield


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


def _own(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a plain function: Dynamo looks through all programs of one code object in each call."""
    if not isinstance(function, FunctionType):
        return function
    code = function.__code__.replace(co_name=f"{function.__name__}_own")
    return FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


def _show(what: str, first: dict[str, float], steady: dict[str, float]) -> None:
    parts = []
    for name in steady:
        parts.append(f"{name} {first.get(name, 0):7.2f} s {steady[name] * 1e6:10.1f} us")
    ratios = f" | ours/inductor: steady {steady['pycompiler'] / steady['inductor']:.2f}" if "inductor" in steady else ""
    ours = f"ours/eager {steady['pycompiler'] / steady['eager']:.2f}{ratios}"
    print(f"{what:20} {' | '.join(parts)} | {ours}; first{_shares(first)}", flush=True)


def main() -> None:
    given = _options()
    os.environ["OMP_NUM_THREADS"] = os.environ["PYCOMPILER_NUM_THREADS"] = str(given.threads)
    if given.first:
        return _first(given)
    if given.processes:
        return _processes(given)
    with _empty_caches():
        _measure(given)


def _measure(given: argparse.Namespace) -> None:
    """First calls and steady calls in this process."""
    import torch
    from torch_models import MODELS

    torch.set_num_threads(given.threads)
    _register()
    backends = ["pycompiler"] if given.no_inductor else ["pycompiler", "inductor"]

    def measure(what: str, function: Callable[..., Any], args: tuple[Any, ...], run: Callable[..., Any]) -> None:
        torch._dynamo.reset()
        calls, first = {"eager": lambda: run(function, args)}, {}
        # The first calls fill caches of torch's traces, by which all later ones are faster.
        for backend in (TRACES, ALONE, *backends):
            if backend not in backends:
                torch._dynamo.reset()
            other = torch.compile(_own(function), backend=backend, dynamic=False)
            begin = time.perf_counter()
            run(other, args)
            first[backend] = time.perf_counter() - begin
            if backend in backends:
                calls[backend] = lambda other=other: run(other, args)
        _show(what, first, _steady(calls, given.rounds))

    # The additional cost of the first graph of a process.
    for backend in (ALONE, *backends):
        torch.compile(lambda x: x.sin() * 2 + 1, backend=backend)(torch.randn(3))
    measure("overhead", lambda x: x + 1, (torch.randn(4),), _forward)
    many = [torch.randn(4) for _ in range(50)]
    measure("overhead, 50 inputs", lambda *xs: sum(xs[1:], xs[0]), tuple(many), _forward)
    for name in given.models.split(","):
        make, arguments = MODELS[name]
        torch.manual_seed(0)
        model, args = make(), arguments(given.batch)
        measure(f"{name}, forward", model.eval(), args, _forward)
        measure(f"{name}, training", model.train(), args, _training)
        if given.sizes:
            seconds = {}
            for backend in (ALONE, *backends):
                torch._dynamo.reset()
                other = torch.compile(model.eval(), backend=backend, dynamic=True)
                begin = time.perf_counter()
                for size in range(2, 2 + given.sizes):
                    _forward(other, arguments(size))
                seconds[backend] = time.perf_counter() - begin
            parts = [f"{_NAMES[backend]} {value:.2f} s" for backend, value in seconds.items()]
            print(f"{name}, {given.sizes} sizes: {' | '.join(parts)}{_shares(seconds)}", flush=True)


if __name__ == "__main__":
    main()
