"""Sparse matrices and their solvers. What is public is in `outcore` and `outcore.linalg`."""
