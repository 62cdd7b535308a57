"""Operators, methods, `await` and the display of arrays. Imports all other folders."""
