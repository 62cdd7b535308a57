"""The table of settings, and the code that reads and changes them. All other folders of `core` may import it."""
