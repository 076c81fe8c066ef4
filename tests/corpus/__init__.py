"""Training steps of models that public libraries wrote, exported by JAX and compared with JAX on one device."""

import os

# Equinox, diffrax and optimistix read this when they are imported. Their checks of values are callbacks into Python,
# which no program can take along: with "nan" a failed one fills the results instead.
os.environ.setdefault("EQX_ON_ERROR", "nan")
# Keras as well.
os.environ.setdefault("KERAS_BACKEND", "jax")
