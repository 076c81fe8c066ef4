"""What TensorFlow's operations mean, by family."""
