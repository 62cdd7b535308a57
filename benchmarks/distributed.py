"""`make bench-distributed`: programs of several processes compared with jax's gloo, mpi4jax and mpi4py.

    python benchmarks/distributed.py [--counts 2 4] [--rows psum halo ...] [--json FILE]

All engines run in the same processes, started by an MPICH, and take turns. So they have the same MPI, the same cores
and the same noise. For each row, a table has the medians of process 0 in microseconds, and a quotient with a bar: our
median divided by that of a peer. "best" is the better one of gloo and mpi4jax. mpi4jax takes part if it is installed
(`pip install mpi4jax`; PEERS=folder adds a folder to the path).

A turn begins with a barrier. Rows of one call repeat it, and every process takes part in each repetition. The row "TCP"
is a separate start, in which neither MPICH nor pycompiler has shared memory. The row "overlap" is another start, with
slower messages: the time of a sum beside computation, relative to the time of both in turn.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIB = Path(sys.prefix) / "lib"
# (row, quotient of which peer, bars for 2 and 4 processes)
BARS = (
    ("psum 4 B", "best", 0.4, 0.4),
    ("psum 1 MiB", "best", 0.4, 0.4),
    ("psum 64 MiB", "best", 0.45, 0.45),
    ("psum 64 MiB", "mpi4py", 0.65, 0.7),
    ("TCP, psum 64 MiB", "gloo", 1.0, 1.0),
    ("halo 2048x2048, 50 steps", "best", 0.5, 0.5),
    ("halo 256x256, 50 steps", "best", 0.5, 0.5),
    ("MLP step, 7.5 MB", "best", 0.8, 0.8),
    ("overlap", "in turn", 0.65, 0.65),
    ("initialize beyond MPI", "seconds", 0.5, 0.5),
)
TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "PYCOMPILER_SHARED_MEMORY": "0"}
# Four exchanges of a sum take 20 ms more, in which the processor is idle.
SLOW = {"PYCOMPILER_MESSAGE_DELAY": "5", "BENCH_ONLY": "1"}

#  The processes


class Engine:
    """A library with JAX's names, and a mesh of one device of each process."""

    def __init__(self, name: str, top: Any):
        self.name, self.top = name, top
        self.mesh = top.sharding.Mesh(top.devices(), ("x",))
        self.P = top.sharding.PartitionSpec

    def place(self, local: Any, spec: tuple[str | None, ...]) -> Any:
        """An array, from this process's part."""
        sharding = self.top.sharding.NamedSharding(self.mesh, self.P(*spec))
        return self.top.make_array_from_process_local_data(sharding, local)

    def mapped(self, function: Callable[..., Any], ins: Any, outs: Any) -> Callable[..., Any]:
        return self.top.jit(self.top.shard_map(function, mesh=self.mesh, in_specs=ins, out_specs=outs))

    def sum(self, x: Any) -> Any:
        return self.top.lax.psum(x, "x")

    def shift(self, x: Any, by: int, count: int) -> Any:
        """The values of the neighbour `by` places before; zeros at the end."""
        pairs = [(i, i + by) for i in range(count) if 0 <= i + by < count]
        return self.top.lax.ppermute(x, "x", pairs)


class ByMessages(Engine):
    """mpi4jax: each process compiles for its own device, and calls MPI."""

    def __init__(self, top: Any, mpi4jax: Any, mpi: Any):
        self.name, self.top, self.mpi4jax, self.mpi = "mpi4jax", top, mpi4jax, mpi
        self.P = top.sharding.PartitionSpec

    def place(self, local: Any, spec: tuple[str | None, ...]) -> Any:
        return self.top.device_put(local, self.top.local_devices()[0])

    def mapped(self, function: Callable[..., Any], ins: Any, outs: Any) -> Callable[..., Any]:
        return self.top.jit(function)

    def sum(self, x: Any) -> Any:
        # Its rule takes one array.
        return self.top.tree.map(lambda each: self.mpi4jax.allreduce(each, op=self.mpi.SUM), x)

    def shift(self, x: Any, by: int, count: int) -> Any:
        rank, zeros = self.mpi.COMM_WORLD.Get_rank(), x * 0
        source, target = rank - by, rank + by
        has_source, has_target = 0 <= source < count, 0 <= target < count
        if has_source and has_target:
            return self.mpi4jax.sendrecv(x, zeros, source=source, dest=target)
        if has_target:
            self.mpi4jax.send(x, dest=target)
        return self.mpi4jax.recv(zeros, source=source) if has_source else zeros


def psum(engine: Engine, elements: int, count: int) -> Callable[[], Any]:
    import numpy as np

    x = engine.place(np.full(elements, engine.top.process_index() + 1, np.float32), ("x",))
    call = engine.mapped(engine.sum, engine.P("x"), engine.P())
    return lambda: engine.top.block_until_ready(call(x))


def halo(engine: Engine, size: int, count: int) -> Callable[[], Any]:
    """Steps of a heat equation, rows divided over the processes."""
    import numpy as np

    numpy, lax = engine.top.numpy, engine.top.lax

    def step(_: Any, u: Any) -> Any:
        above, below = engine.shift(u[-1:], 1, count), engine.shift(u[:1], -1, count)
        wide = numpy.concatenate([above, u, below])
        sides = numpy.pad(u, ((0, 0), (1, 1)))
        return u + 0.1 * (wide[:-2] + wide[2:] + sides[:, :-2] + sides[:, 2:] - 4 * u)

    rng = np.random.default_rng(engine.top.process_index())
    u = engine.place(rng.normal(size=(size // count, size)).astype(np.float32), ("x", None))
    call = engine.mapped(lambda u: lax.fori_loop(0, 50, step, u), engine.P("x", None), engine.P("x", None))
    return lambda: engine.top.block_until_ready(call(u))


def mlp(engine: Engine, batch: int, count: int) -> Callable[[], Any]:
    """A step of a network, with a part of the batch in each process. The sums have 7.5 MB."""
    import numpy as np

    top, numpy = engine.top, engine.top.numpy
    sizes = (784, 1024, 1024, 10)
    rng = np.random.default_rng(0)
    params = [
        (rng.normal(size=(m, n)).astype(np.float32) * m**-0.5, np.zeros(n, np.float32))
        for m, n in itertools.pairwise(sizes)
    ]
    rng = np.random.default_rng(1 + top.process_index())
    x = engine.place(rng.normal(size=(batch, 784)).astype(np.float32), ("x", None))
    y = engine.place(rng.integers(0, 10, batch).astype(np.int32), ("x",))

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = numpy.maximum(x @ w + b, 0)
        w, b = params[-1]
        scores = top.nn.log_softmax(x @ w + b)
        return -numpy.take_along_axis(scores, y[:, None], 1).mean()

    def step(params: Any, x: Any, y: Any) -> Any:
        if not isinstance(engine, ByMessages):
            params = top.tree.map(lambda p: top.lax.pcast(p, "x", to="varying"), params)
        grads = engine.sum(top.grad(loss)(params, x, y))
        return top.tree.map(lambda p, g: p - 0.01 / count * g, params, grads)

    P = engine.P
    if isinstance(engine, ByMessages):
        params = top.tree.map(lambda p: engine.place(p, ()), params)
        call = top.jit(step)
    else:
        params = top.device_put(params, top.sharding.NamedSharding(engine.mesh, P()))
        mapped = top.shard_map(
            step, mesh=engine.mesh, in_specs=(P(), P("x", None), P("x")), out_specs=P(), check_vma=False
        )
        call = top.jit(mapped)
    return lambda: top.block_until_ready(call(params, x, y))


def overlap(engine: Engine, size: int, count: int) -> Callable[[], Any]:
    """A sum of 1 MiB over a slow network, and matmuls that do not depend on it."""
    call, (x, w) = _sum_and_products(engine, size)
    both = engine.mapped(
        lambda x, w: (engine.sum(x), call(w)), (engine.P("x"), engine.P()), (engine.P(), engine.P("x"))
    )
    return lambda: engine.top.block_until_ready(both(x, w))


def in_turn(engine: Engine, size: int, count: int) -> Callable[[], Any]:
    """The same sum and matmuls, one after the other."""
    call, (x, w) = _sum_and_products(engine, size)
    exchange = engine.mapped(engine.sum, engine.P("x"), engine.P())
    compute = engine.mapped(call, engine.P(), engine.P("x"))

    def run() -> Any:
        sums = engine.top.block_until_ready(exchange(x))
        return sums, engine.top.block_until_ready(compute(w))

    return run


def _sum_and_products(engine: Engine, size: int) -> tuple[Callable[[Any], Any], tuple[Any, Any]]:
    import numpy as np

    top = engine.top
    w = np.random.default_rng(0).normal(size=(size, size)).astype(np.float32) / np.float32(size**0.5)
    whole = top.device_put(w, top.sharding.NamedSharding(engine.mesh, engine.P()))

    def products(w: Any) -> Any:
        for _ in range(12):
            w = top.numpy.tanh(w @ w)
        return w

    return products, (engine.place(np.ones(1 << 18, np.float32), ("x",)), whole)


ROWS: dict[str, tuple[Callable[[Engine, int, int], Callable[[], Any]], int]] = {
    "psum 4 B": (psum, 1),
    "psum 1 MiB": (psum, 1 << 18),
    "psum 64 MiB": (psum, 1 << 24),
    "halo 2048x2048, 50 steps": (halo, 2048),
    "halo 256x256, 50 steps": (halo, 256),
    "MLP step, 7.5 MB": (mlp, 128),
    "overlap": (overlap, 512),
}


def engines(count: int) -> list[Engine]:
    import jax

    import pycompiler as pc
    import pycompiler.nn
    import pycompiler.numpy

    port, rank = os.environ["BENCH_PORT"], int(os.environ.get("PMI_RANK", "0"))
    found = [Engine("pycompiler", pc)]
    if not os.environ.get("BENCH_ONLY"):
        jax.distributed.initialize(f"127.0.0.1:{port}", count, rank)
        found.append(Engine("gloo", jax))
    if importlib.util.find_spec("mpi4jax"):
        import mpi4jax
        from mpi4py import MPI

        found.append(ByMessages(jax, mpi4jax, MPI))
    return found


def timed(call: Callable[[], Any], barrier: Callable[[], None], repetitions: int) -> float:
    barrier()
    start = time.perf_counter()
    for _ in range(repetitions):
        call()
    return (time.perf_counter() - start) / repetitions


def run_rank(rows: list[str], runs: int, path: str) -> None:
    """One process of a start: all engines, row by row. Process 0 writes the samples."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    begin = time.perf_counter()
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    mpi_seconds = time.perf_counter() - begin
    import numpy as np

    import pycompiler as pc

    begin = time.perf_counter()
    pc.distributed.initialize()
    samples: dict[str, dict[str, list[float]]] = {
        "initialize beyond MPI": {"pycompiler": [time.perf_counter() - begin], "mpi4py": [mpi_seconds]}
    }
    count = world.Get_size()

    def barrier() -> None:
        # Processes that spin in MPI's own barrier would take a core from processes that still work.
        request = world.Ibarrier()
        while not request.Test():
            time.sleep(2e-4)

    every = engines(count)
    for row in rows:
        base = row.removeprefix("TCP, ")
        build, size = ROWS[base]
        calls = {engine.name: build(engine, size, count) for engine in every}
        if base == "overlap":
            calls = {"pycompiler": calls["pycompiler"], "in turn": in_turn(every[0], size, count)}
        if base.startswith("psum"):
            ones, total = np.full(size, 1, np.float32), np.empty(size, np.float32)
            calls["mpi4py"] = lambda ones=ones, total=total: world.Allreduce(ones, total)
        found: dict[str, list[float]] = {name: [] for name in calls}
        repetitions = {}
        for name, call in calls.items():
            timed(call, barrier, 1)
            once = world.bcast(timed(call, barrier, 2))
            repetitions[name] = max(1, min(300, int(0.03 / max(once, 1e-6))))
        for _ in range(runs):
            for name, call in calls.items():
                found[name].append(timed(call, barrier, repetitions[name]))
        check(row, calls)
        samples[row] = found
    if world.Get_rank() == 0:
        Path(path).write_text(json.dumps(samples))
    barrier()
    pc.distributed.shutdown()
    # MPICH's mpirun kills the other processes if one ends without MPI_Finalize.
    MPI.Finalize()
    sys.stdout.flush()
    os._exit(0)  # jax waits for its coordinator, which may be gone


def check(row: str, calls: dict[str, Callable[[], Any]]) -> None:
    """Check that all engines have the same result, for the parts in this process."""
    import numpy as np

    def part(result: Any) -> Any:
        while isinstance(result, list | tuple):
            result = result[0]
        return np.asarray(result.addressable_data(0)) if hasattr(result, "addressable_data") else None

    ours, *others = (part(call()) for call in calls.values())
    for theirs in others:
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4, err_msg=row)


#  The table


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(
    count: int, rows: list[str], runs: int, seconds: float, **variables: str
) -> dict[str, dict[str, list[float]]]:
    """The samples of a start of `count` processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.json"
        command = [Path(sys.prefix) / "bin" / "mpiexec.hydra", "-n", str(count), sys.executable, __file__]
        command += ["--rank", path, "--runs", str(runs), "--rows", *rows]
        extra = {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYCOMPILER_NUM_CPU_DEVICES": "1",
            "LD_LIBRARY_PATH": str(LIB),
            "MPI4PY_MPIABI": "mpich",
            "BENCH_PORT": str(free_port()),
            "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PEERS"), os.environ.get("PYTHONPATH")])),
        }
        if count > (os.cpu_count() or 1):
            # Without it, all traffic of MPICH is some 50 times slower.
            extra["MPIR_CVAR_CH4_SHM_PROGRESS_THROTTLE"] = "1"
        running = subprocess.Popen([*map(str, command)], env=os.environ | extra | variables, stdin=subprocess.DEVNULL)
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired:
            running.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.wait(10)
            print(f"{count} processes have not ended after {seconds:.0f} s: no figures of {', '.join(rows)}")
            return {}
        if code or not path.exists():
            print(f"{count} processes ended with code {code}: no figures of {', '.join(rows)}")
            return {}
        return json.loads(path.read_text())


def quotient(found: dict[str, list[float]], peer: str) -> float | None:
    medians = {name: statistics.median(each) for name, each in found.items()}
    if peer == "seconds":
        return medians["pycompiler"]
    peers = ("gloo", "mpi4jax") if peer == "best" else (peer,)
    others = [medians[name] for name in peers if name in medians]
    return medians["pycompiler"] / min(others) if others else None


def print_table(count: int, samples: dict[str, dict[str, list[float]]]) -> None:
    names = ("pycompiler", "gloo", "mpi4jax", "mpi4py", "in turn")
    print(f"\n{count} processes on {len(os.sched_getaffinity(0))} cores; medians in us")
    print(f"{'':28}" + "".join(f"{name:>12}" for name in names) + f"{'of':>10}{'quotient':>10}{'bar':>6}")
    for row, peer, *bars in BARS:
        if row not in samples:
            continue
        found = samples[row]
        cells = [f"{1e6 * statistics.median(found[name]):12.0f}" if name in found else f"{'-':>12}" for name in names]
        value = quotient(found, peer)
        holds = "-" if value is None else f"{value:.2f}"
        print(f"{row:28}" + "".join(cells) + f"{peer:>10}{holds:>10}{bars[count > 2]:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--counts", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--rows", nargs="+", help="the rows that begin so")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--json")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.rank:
        run_rank(options.rows, options.runs, options.rank)
    wanted = tuple(options.rows or [""])
    # Rows with a separate start.
    rows = [row for row in ROWS if row.startswith(wanted) and row != "overlap"]
    special = {"TCP, psum 64 MiB": TCP, "overlap": SLOW}
    results = {}
    for count in options.counts:
        samples = start(count, rows, options.runs, options.seconds) if rows else {}
        for row, variables in special.items():
            if row.startswith(wanted):
                found = start(count, [row], options.runs, options.seconds / 4, **variables)
                samples |= {name: each for name, each in found.items() if name == row}
        print_table(count, samples)
        results[count] = samples
    if options.json:
        Path(options.json).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
