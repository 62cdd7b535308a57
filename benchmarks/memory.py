"""`make bench`: the temporaries of compiled programs, relative to jax's, from `memory_analysis()` of both libraries.

Ours is one arena for each call. The bar is 1.2 times jax's bytes, and 2 MiB for each thread.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import warnings

from affinity import pin
from options import RESULTS

MIB = 1 << 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, default=RESULTS / "memory.json")
    parser.add_argument("cases", nargs="*", help="parts of the names of the programs (all)")
    options = parser.parse_args()
    pin(options.threads)
    # Libraries are imported from here on. They read the number of cores.
    warnings.filterwarnings("ignore", message="(?s).*operations were recorded from this line")
    import numpy as np
    from cases.tables import MEASURED_MEMORY, MEMORY_BAR, MEMORY_OF_A_THREAD
    from measure import JAX, OURS, holds, settings
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(
        title=f"MiB of temporaries; {options.threads} core{'s' * (options.threads > 1)}", title_justify="left"
    )
    for column in ("program", "pycompiler", "jax", "asked at most", "holds"):
        table.add_column(column, justify="left" if column == "program" else "right")
    found: dict[str, dict[str, float]] = {}
    for case in MEASURED_MEMORY:
        if options.cases and not any(part in case.name for part in options.cases):
            continue
        arrays = case.inputs(np.random.default_rng(0))
        with settings(case):
            ours, theirs = (
                lib.top.jit(case.build(lib)).lower(*lib.top.tree.map(lib.numpy.asarray, arrays)).compile()
                for lib in (OURS, JAX)
            )
            used = ours.memory_analysis().temp_size_in_bytes / MIB
            others = theirs.memory_analysis().temp_size_in_bytes / MIB
        asked = MEMORY_BAR * others + MEMORY_OF_A_THREAD / MIB * options.threads
        found[case.name] = {"pycompiler": used, "jax": others, "asked": asked}
        table.add_row(escape(case.name), f"{used:.2f}", f"{others:.2f}", f"{asked:.2f}", holds(used, asked))
    Console(width=140).print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"threads": options.threads, "MiB": found}, indent=1))


if __name__ == "__main__":
    main()
