"""Programs for several devices: what each runs on its part, over which axes values vary, where arrays are put."""
