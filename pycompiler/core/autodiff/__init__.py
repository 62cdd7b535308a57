"""Forward and reverse mode, functions with their own rules, recomputation, nested calls. Imports `batching`."""
