"""Forward and reverse mode, functions with rules of their own, recomputation, nested calls. Above `batching`."""
