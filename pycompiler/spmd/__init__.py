"""Programs and arrays divided over the devices of a mesh. Imports `compile`; `jit` imports this folder."""
