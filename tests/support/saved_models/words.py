"""Keras models of texts and categories: tables, hashes, strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from keras import Model, Sequential, layers, utils

from saved_models.making import Made, case, keras_model, numbers

WORDS = ["red", "green", "blue", "the", "sea"]


def _texts(*rows: str) -> Any:
    return np.array([[row] for row in rows], object)


def _strings(*parts: Any, shape: tuple[int | None, ...] = (1,)) -> Any:
    return Sequential([layers.Input(shape, dtype="string", name="x"), *parts])


def _categories(*parts: Any, shape: tuple[int, ...] = (1,)) -> Any:
    return Sequential([layers.Input(shape, dtype="int64", name="x"), *parts])


@case
def string_lookup() -> Made:
    parts = [layers.StringLookup(vocabulary=WORDS), layers.Embedding(7, 4)]
    return keras_model(_strings(*parts), _texts("red", "sea", "pink", "the"))


@case
def string_lookup_one_hot() -> Made:
    parts = [layers.StringLookup(vocabulary=WORDS, output_mode="one_hot"), layers.Dense(3)]
    return keras_model(_strings(*parts), _texts("red", "sea", "pink"))


@case
def string_lookup_with_several_unknown() -> Made:
    return keras_model(_strings(layers.StringLookup(vocabulary=WORDS, num_oov_indices=3)), _texts("red", "pink", "x"))


@case
def names_of_classes() -> Made:
    """A lookup behind the network: the class by its name."""
    x = layers.Input((6,), name="x")
    scores = layers.Dense(5)(x)
    best = layers.Lambda(lambda y: __import__("keras").ops.argmax(y, -1) + 1)(scores)
    return keras_model(Model(x, layers.StringLookup(vocabulary=WORDS, invert=True)(best)), numbers(4, 6))


@case
def integer_lookup() -> Made:
    parts = [layers.IntegerLookup(vocabulary=[3, 7, 12]), layers.Embedding(5, 4)]
    return keras_model(_categories(*parts), np.array([[3], [12], [5]]))


@case
def integer_lookup_counts() -> Made:
    lookup = layers.IntegerLookup(vocabulary=[3, 7, 12], output_mode="count")
    return keras_model(_categories(lookup, layers.Dense(2), shape=(4,)), np.array([[3, 3, 7, 5], [12, 7, 7, 7]]))


@case
def text_vectorization() -> Made:
    layer = layers.TextVectorization(output_sequence_length=6, vocabulary=WORDS)
    parts = [layer, layers.Embedding(7, 4, mask_zero=True), layers.LSTM(3)]
    return keras_model(_strings(*parts), _texts("The red, RED sea!", "blue", "over the green green sea and on and on"))


@case
def text_vectorization_of_any_length() -> Made:
    layer = layers.TextVectorization(vocabulary=WORDS)
    parts = [layer, layers.Embedding(7, 4), layers.GlobalAveragePooling1D()]
    return keras_model(_strings(*parts), _texts("the red sea", "blue"), _texts("a b c d e f"))


@case
def text_vectorization_multi_hot() -> Made:
    layer = layers.TextVectorization(output_mode="multi_hot", vocabulary=WORDS)
    return keras_model(_strings(layer, layers.Dense(3)), _texts("the red red sea", "blue"))


@case
def text_vectorization_tf_idf() -> Made:
    layer = layers.TextVectorization(output_mode="tf_idf", vocabulary=WORDS, idf_weights=[0.5, 0.7, 0.2, 0.4, 0.9])
    return keras_model(_strings(layer, layers.Dense(3)), _texts("the red red sea", "blue"))


@case
def text_vectorization_of_pairs() -> Made:
    layer = layers.TextVectorization(ngrams=2, vocabulary=["red", "the red", "red sea"], output_sequence_length=5)
    return keras_model(_strings(layer), _texts("the red sea", "blue"))


@case
def text_vectorization_of_letters() -> Made:
    layer = layers.TextVectorization(split="character", vocabulary=list("abcd"), output_sequence_length=5)
    return keras_model(_strings(layer), _texts("cab", "a dd"))


@case
def category_encoding() -> Made:
    x = layers.Input((3,), dtype="int64", name="x")
    kinds = ["multi_hot", "count"]
    outputs = [layers.CategoryEncoding(6, output_mode=kind)(x) for kind in kinds]
    return keras_model(Model(x, outputs), np.array([[0, 2, 2], [5, 1, 0]]))


@case
def hashing() -> Made:
    return keras_model(_strings(layers.Hashing(8), layers.Embedding(8, 3)), _texts("red", "sea", "pink"))


@case
def hashing_of_numbers_with_salt() -> Made:
    return keras_model(_categories(layers.Hashing(8, salt=[7, 9])), np.array([[3], [12], [5]]))


@case
def features_of_all_kinds() -> Made:
    kinds = utils.FeatureSpace
    space = kinds(
        features={
            "a": "float_normalized",
            "b": "string_categorical",
            "c": "integer_categorical",
            "d": kinds.float_discretized(num_bins=3),
        },
        crosses=[("b", "c")],
        output_mode="concat",
    )
    rows = {"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"], "c": [1, 2, 3], "d": [0.1, 0.5, 0.9]}
    space.adapt(tf.data.Dataset.from_tensor_slices(rows))
    model = Model(space.get_inputs(), layers.Dense(2)(space.get_encoded_features()))
    given = {"a": np.float32([[1.5], [2.0]]), "b": _texts("x", "z"), "c": np.int32([[2], [9]])}
    return keras_model(model, given | {"d": np.float32([[0.2], [np.nan]])})


@case
def hashed_crossing() -> Made:
    x, y = layers.Input((1,), dtype="string", name="x"), layers.Input((1,), dtype="int64", name="y")
    return keras_model(
        Model([x, y], layers.HashedCrossing(5)((x, y))), {"x": _texts("a", "b"), "y": np.array([[3], [4]])}
    )
