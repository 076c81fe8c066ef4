"""Tables of tensors, as TensorFlow stores them."""
