"""The settings: one table, and how they are read and changed. Below all other rooms of `core`."""
