"""TensorFlow's graphs as programs."""
