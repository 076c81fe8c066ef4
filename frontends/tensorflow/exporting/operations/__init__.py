"""What our ops are in TensorFlow, by family."""
