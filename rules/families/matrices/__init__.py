"""Factors of matrices and what is solved with them, where the matrices are split."""
