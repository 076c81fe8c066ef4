"""Training steps of Keras models."""
