"""Random programs beside JAX (`python -m fuzz_programs`). Importing it sets how JAX compiles: before JAX does so."""

import os

# Fast to compile. And without XLA's algebra, which takes log(x**y) for y * log(abs(x)).
_FLAGS = "--xla_backend_optimization_level=0 --xla_disable_hlo_passes=algsimp"
if _FLAGS not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAGS}"
