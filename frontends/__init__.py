"""What programs are written with, and where they come from: arrays, training, JAX, Keras, TensorFlow."""
