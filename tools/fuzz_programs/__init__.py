"""Random programs beside JAX (`python -m fuzz_programs`). Importing it sets how JAX compiles: before JAX does so."""

import os

# Fast to compile.
_FLAGS = "--xla_backend_optimization_level=0"
if _FLAGS not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAGS}"
