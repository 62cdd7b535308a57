"""The kernels of cases of `make bench-gpu`, with their times: ours and jax's, by torch's profiler (CUPTI).

    python gpu_profile.py --runs 5 "softmax" "GPT block"

For each library it prints the time from the first kernel to the end of the last one, the fraction of this time without
a kernel, and the kernels with the largest total times.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from options import parser

# Set before the imports, as in gpu.py.
os.environ["PYCOMPILER_PLATFORM"] = "gpu"
os.environ["JAX_PLATFORMS"] = "cuda"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
SHOWN = 14


def profile(call: Callable[[], Any], runs: int) -> list[Any]:
    """The events on the device during `runs` calls."""
    import torch
    from torch.profiler import ProfilerActivity

    call()
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as recorded:
        for _ in range(runs):
            call()
        torch.cuda.synchronize()
    return [event for event in recorded.events() if event.device_type == torch.autograd.DeviceType.CUDA]


def report(name: str, events: list[Any], runs: int) -> None:
    if not events:
        print(f"  {name}: no events")
        return
    spans = sorted((event.time_range.start, event.time_range.end) for event in events)
    busy, end = 0.0, spans[0][0]
    for start, stop in spans:
        busy += max(0.0, stop - max(start, end))
        end = max(end, stop)
    whole = end - spans[0][0]
    print(f"  {name}: {whole / runs:.1f} us a call, {1 - busy / whole:.0%} idle, {len(events) / runs:g} kernels")
    sums: dict[str, list[float]] = defaultdict(list)
    for event in events:
        sums[event.name].append(event.time_range.end - event.time_range.start)
    for kernel, times in sorted(sums.items(), key=lambda item: -sum(item[1]))[:SHOWN]:
        print(f"    {sum(times) / runs:10.1f} us  {len(times) / runs:6g} x  {kernel[:110]}")


def main() -> None:
    options = parser(__doc__, runs=5).parse_args()
    import numpy as np
    from cases.gpu import ROWS
    from gpu import context, torch_call
    from measure import JAX, OURS, prepare

    for row in ROWS:
        if not any(part in row.case.name for part in options.cases):
            continue
        print(row.case.name, flush=True)
        with context(row):
            arrays = row.case.inputs(np.random.default_rng(0))
            calls = {lib.name: prepare(lib, row.case, arrays) for lib in (OURS, JAX)}
            if row.torch is not None:
                calls["torch"] = torch_call(row, arrays)
            for name, call in calls.items():
                report(name, profile(call, options.runs), options.runs)


if __name__ == "__main__":
    main()
