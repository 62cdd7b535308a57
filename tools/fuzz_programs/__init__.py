"""Random programs compared with JAX (`python -m fuzz_programs`). The import sets JAX's compilation flags, before JAX
reads them."""

import os

# Flags for fast compilation (the Makefile's ORACLE_FLAGS).
_FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
)
_given = os.environ.get("XLA_FLAGS", "").split()
os.environ["XLA_FLAGS"] = " ".join([*_given, *(flag for flag in _FLAGS if flag not in _given)])
