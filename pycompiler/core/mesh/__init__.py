"""Meshes of devices, shardings, and placements of arrays. Imports `tracing`."""
