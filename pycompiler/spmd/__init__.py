"""Programs and arrays divided over the devices of a mesh. Above `compile`; `jit` comes after it."""
