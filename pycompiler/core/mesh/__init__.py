"""Meshes of devices, shardings, and places of arrays. Above `tracing`."""
