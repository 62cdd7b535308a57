"""`make bench-gpu`: pycompiler, jax and, if installed, torch on one GPU, in one process.

The results of the libraries are compared before the timing. Their runs are interleaved. Memory-bound cases are measured
against a copy of the same number of bytes by the fastest library, products and programs against a library. f32 is f32:
no library may use tf32. Without a GPU, or without a jax that finds the GPU, a message explains this, and the command
ends.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from options import RESULTS, parser

if TYPE_CHECKING:
    from cases.gpu import Row
    from measure import Samples

# Set before the imports.
os.environ["PYCOMPILER_PLATFORM"] = "gpu"
os.environ["JAX_PLATFORMS"] = "cuda"
os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"
# Otherwise jax preallocates memory and leaves none to the other libraries.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def _missing() -> str:
    """The reason that nothing can be measured here; empty if there is none."""
    import jax

    import pycompiler as pc

    for name, devices in (("pycompiler", pc.devices), ("jax", jax.devices)):
        try:
            devices()
        except Exception as error:  # each library has other error classes
            return f"{name} finds no GPU: {type(error).__name__} {error}"
    return ""


def torch_call(row: Row, arrays: tuple[Any, ...]) -> Callable[[], Any]:
    import torch

    assert row.torch is not None
    torch.backends.cuda.matmul.allow_tf32 = row.precision == "tensorfloat32"
    function = row.torch(torch)
    # torch does not know NumPy's bfloat16.
    tensors = [torch.from_numpy(x.astype("float32")).to(getattr(torch, str(x.dtype))).cuda() for x in arrays]

    def call() -> Any:
        result = function(*tensors)
        torch.cuda.synchronize()
        return result

    return call


@contextlib.contextmanager
def context(row: Row) -> Iterator[None]:
    """The settings of a row, in all libraries."""
    import jax
    from measure import settings

    import pycompiler as pc

    with (
        settings(row.case),
        jax.default_matmul_precision(row.precision),
        pc.default_matmul_precision(row.precision),
        pc.gpu_libraries(row.libraries),
    ):
        yield


def _check_equal(row: Row, ours: Any, theirs: Any) -> None:
    """Like measure.check_equal, in one pass, because the arrays are large."""
    import numpy as np
    from measure import leaves

    for i, (a, b) in enumerate(zip(leaves(ours), leaves(theirs), strict=True)):
        a, b = (x.astype(np.float32) if x.dtype.kind not in "fciub" else x for x in (a, b))
        error, greatest = np.abs(a - b).max(initial=0), max(1.0, float(np.abs(b).max(initial=0)))
        if not error <= row.case.tolerance * greatest:
            raise AssertionError(f"result {i} differs from that of jax by {error}, at most {greatest}")


def _run(row: Row, runs: int) -> Samples:
    """The samples of each library. Raises AssertionError if our result differs from jax's."""
    import numpy as np
    from measure import JAX, OURS, interleaved, prepare

    with context(row):
        arrays = row.case.inputs(np.random.default_rng(0))
        calls = {lib.name: prepare(lib, row.case, arrays) for lib in (OURS, JAX)}
        _check_equal(row, calls[OURS.name](), calls[JAX.name]())
        if row.torch is not None and importlib.util.find_spec("torch"):
            calls["torch"] = torch_call(row, arrays)
        return interleaved(calls, runs, settles=False)


def _bandwidth(runs: int) -> float:
    """Bytes per second that the fastest copy reads and writes."""
    from cases.gpu import BYTES, SQUARE, Row
    from library import Case, normal
    from measure import median

    case = Case("copy", normal(SQUARE), lambda lib: lambda x: lib.numpy.copy(x) + 0)
    samples = _run(Row(case, torch=lambda torch: torch.clone), runs)
    return 2 * BYTES / min(median(times) for times in samples.values())


def _enqueue(runs: int) -> dict[str, float]:
    """Seconds until a small call returns, by library. The wait for its result is not timed."""
    import numpy as np
    from measure import JAX, OURS

    found = {}
    for lib in (OURS, JAX):
        call = lib.top.jit(lambda x, y: x * y + 1)
        x = lib.numpy.asarray(np.ones((8, 8), np.float32))
        lib.top.block_until_ready(call(x, x))
        times = []
        for _ in range(runs):
            start = time.perf_counter()
            for _ in range(100):
                result = call(x, x)
            times.append((time.perf_counter() - start) / 100)
            lib.top.block_until_ready(result)
        found[lib.name] = statistics.median(times)
    return found


def main() -> None:
    options = parser(__doc__, runs=15).parse_args()
    if why := _missing():
        print(f"bench-gpu: skipped: {why}", file=sys.stderr)
        return
    from cases.gpu import ENQUEUE_BAR, ROWS
    from measure import OURS, holds, median
    from rich.console import Console
    from rich.table import Table

    import pycompiler as pc

    bandwidth = _bandwidth(options.runs)
    title = f"{pc.devices()[0].device_kind}; a copy moves {bandwidth / 1e9:,.0f} GB/s; microseconds, medians"
    table = Table(title=title, title_justify="left")
    for column in ("case", "pycompiler", "jax", "torch", "of copy", "GFLOP/s", "ratio", "bar", "holds"):
        table.add_column(column, justify="left" if column == "case" else "right")
    failed: list[str] = []
    results: dict[str, Any] = {"device": pc.devices()[0].device_kind, "bandwidth": bandwidth, "cases": {}}
    for row in ROWS:
        if options.cases and not any(part in row.case.name for part in options.cases):
            continue
        try:
            times = {name: median(samples) for name, samples in _run(row, options.runs).items()}
        except Exception as error:  # the other cases are measured even so
            failed.append(row.case.name)
            print(f"{row.case.name}: {type(error).__name__} {str(error)[:2000]}", file=sys.stderr, flush=True)
            continue
        ours = times[OURS.name]
        share = row.moved / ours / bandwidth if row.moved else None
        value = ours / times[row.against] if row.against in times else None
        # For a share, larger is better; for a ratio, smaller is better.
        kept = holds(-share, -row.share) if share and row.share else holds(value, row.bar)
        bar = f">= {row.share:g}" if row.share else f"{row.bar:.2f} ({row.against})" if row.bar else "-"
        table.add_row(
            row.case.name,
            *(f"{times[name] * 1e6:,.1f}" if name in times else "-" for name in (OURS.name, "jax", "torch")),
            f"{share:.2f}" if share else "-",
            f"{row.case.flops / ours / 1e9:,.0f}" if row.case.flops else "-",
            f"{value:.2f}" if value else "-",
            bar,
            kept,
        )
        shown = {name: round(1e6 * seconds, 1) for name, seconds in times.items()}
        print(f"{row.case.name}: {shown} us, ratio {value and round(value, 2)}", file=sys.stderr, flush=True)
        results["cases"][row.case.name] = {"seconds": times, "share": share, "ratio": value}
    enqueue = _enqueue(options.runs)
    value = enqueue[OURS.name] / enqueue["jax"]
    cells = (f"{enqueue[OURS.name] * 1e6:.1f}", f"{enqueue['jax'] * 1e6:.1f}", "-", "-", "-", f"{value:.2f}")
    table.add_row("enqueue x * y + 1, 8x8", *cells, f"{ENQUEUE_BAR:g} (jax)", holds(value, ENQUEUE_BAR))
    results["enqueue"] = enqueue
    path = options.json or RESULTS / "bench-gpu.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1))
    Console(width=160).print(table)
    if failed:
        sys.exit(f"bench-gpu: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
