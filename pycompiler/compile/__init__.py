"""From a graph to code: the module, the memory plan, the passes, the target. Imports `cache`; `spmd` imports it."""
