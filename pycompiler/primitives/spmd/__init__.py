"""Programs for several devices: the program of each device, the axes along which values vary, placements of arrays."""
