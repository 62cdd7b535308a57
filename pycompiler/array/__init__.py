"""What arrays can do beside being results: operators, methods, `await`, how they look. On top of all other rooms."""
