"""What TensorFlow's operations mean, family by family: one row of the table each."""
