"""SavedModels of TensorFlow and Keras, one function for each: written, run by TensorFlow, and imported."""
