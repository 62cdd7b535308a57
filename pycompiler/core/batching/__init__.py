"""The trace of `vmap`, whose values have one more axis. Imports `tracing`; `autodiff` imports this folder."""
