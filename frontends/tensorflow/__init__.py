"""TensorFlow's graphs, in and out."""
