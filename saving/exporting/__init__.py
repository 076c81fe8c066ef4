"""Programs as TensorFlow's graphs."""
