"""What `vmap` does: a trace with one more axis. Above `tracing`; `autodiff` comes after it."""
