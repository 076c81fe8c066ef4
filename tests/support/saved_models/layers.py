"""Keras models: layers of all usual kinds."""

from __future__ import annotations

from typing import Any

from keras import Model, Sequential, layers

from saved_models.making import Made, case, keras_model, numbers


def _stack(*parts: Any, shape: tuple[int | None, ...], dtype: str = "float32") -> Any:
    return Sequential([layers.Input(shape, dtype=dtype, name="x"), *parts])


def _joined(*parts: Any, shape: tuple[int | None, ...]) -> Any:
    """One input through several layers, and each result an output."""
    x = layers.Input(shape, name="x")
    return Model(x, [part(x) for part in parts])


@case
def dense() -> Made:
    hidden = [layers.Dense(32, "relu"), layers.Dropout(0.5), layers.Dense(24, "gelu")]
    return keras_model(_stack(*hidden, layers.Dense(8, "softmax"), shape=(16,)), numbers(4, 16), numbers(7, 16))


@case
def dense_double() -> Made:
    parts = [layers.Dense(8, "tanh", dtype="float64"), layers.Dense(3, dtype="float64")]
    return keras_model(_stack(*parts, shape=(6,), dtype="float64"), numbers(4, 6, dtype="float64"))


@case
def conv1d() -> Made:
    parts = [layers.Conv1D(8, 3, padding="causal"), layers.MaxPooling1D(2), layers.Conv1D(4, 3, dilation_rate=2)]
    return keras_model(_stack(*parts, layers.GlobalAveragePooling1D(), shape=(24, 5)), numbers(3, 24, 5))


@case
def conv2d() -> Made:
    parts = [layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"), layers.Conv2D(6, 3, groups=2)]
    return keras_model(_stack(*parts, layers.Flatten(), layers.Dense(5), shape=(16, 16, 3)), numbers(2, 16, 16, 3))


@case
def conv3d() -> Made:
    parts = [layers.Conv3D(4, 2, padding="same"), layers.MaxPooling3D(2), layers.AveragePooling3D(2)]
    return keras_model(_stack(*parts, layers.GlobalMaxPooling3D(), shape=(8, 8, 8, 2)), numbers(2, 8, 8, 8, 2))


@case
def separable_convolutions() -> Made:
    parts = [layers.SeparableConv2D(8, 3, padding="same"), layers.DepthwiseConv2D(3, depth_multiplier=2)]
    return keras_model(_stack(*parts, shape=(10, 10, 3)), numbers(2, 10, 10, 3))


@case
def separable_convolutions_of_rows() -> Made:
    parts = [layers.SeparableConv1D(8, 3), layers.DepthwiseConv1D(3, padding="same")]
    return keras_model(_stack(*parts, shape=(20, 3)), numbers(2, 20, 3))


@case
def transposed_convolutions() -> Made:
    parts = [layers.Conv2DTranspose(4, 3, strides=2, padding="same"), layers.Conv2DTranspose(3, 4, strides=2)]
    return keras_model(_stack(*parts, shape=(5, 6, 3)), numbers(2, 5, 6, 3))


@case
def transposed_convolutions_of_rows_and_volumes() -> Made:
    x, y = layers.Input((7, 3), name="x"), layers.Input((4, 4, 4, 2), name="y")
    outputs = [layers.Conv1DTranspose(4, 3, strides=2)(x), layers.Conv3DTranspose(3, 2, strides=2)(y)]
    return keras_model(Model([x, y], outputs), {"x": numbers(2, 7, 3), "y": numbers(2, 4, 4, 4, 2)})


@case
def pools() -> Made:
    two = [layers.MaxPooling2D(3, 2, "same"), layers.AveragePooling2D(3, 2, "same"), layers.AveragePooling2D(2)]
    whole = [layers.GlobalAveragePooling2D(), layers.GlobalMaxPooling2D(keepdims=True)]
    return keras_model(_joined(*two, *whole, shape=(11, 12, 3)), numbers(2, 11, 12, 3))


@case
def adaptive_pools() -> Made:
    parts = [layers.AdaptiveAveragePooling2D(4), layers.AdaptiveMaxPooling2D((3, 5))]
    return keras_model(_joined(*parts, shape=(11, 12, 3)), numbers(2, 11, 12, 3))


@case
def norms() -> Made:
    parts = [layers.BatchNormalization(), layers.LayerNormalization(), layers.GroupNormalization(2)]
    more = [layers.UnitNormalization(), layers.RMSNormalization()]
    return keras_model(_joined(*parts, *more, shape=(6, 5, 8)), numbers(2, 6, 5, 8))


@case
def batch_norm_of_rows() -> Made:
    return keras_model(_stack(layers.BatchNormalization(), layers.Dense(3), shape=(9,)), numbers(5, 9))


@case
def spectral_norm() -> Made:
    parts = [layers.SpectralNormalization(layers.Dense(6)), layers.Dense(2)]
    return keras_model(_stack(*parts, shape=(9,)), numbers(5, 9))


@case
def noise_in_inference() -> Made:
    parts = [
        layers.GaussianNoise(1.0),
        layers.GaussianDropout(0.3),
        layers.AlphaDropout(0.3),
        layers.SpatialDropout1D(0.3),
    ]
    return keras_model(_stack(*parts, layers.ActivityRegularization(0.1), shape=(4, 6)), numbers(2, 4, 6))


@case
def embedding() -> Made:
    parts = [layers.Embedding(30, 8, mask_zero=True), layers.LSTM(5)]
    tokens = numbers(3, 7, low=0, high=30, dtype="int32")
    return keras_model(_stack(*parts, shape=(None,), dtype="int32"), tokens)


@case
def lstm() -> Made:
    parts = [layers.LSTM(6, return_sequences=True), layers.LSTM(5, go_backwards=True)]
    return keras_model(_stack(*parts, shape=(7, 4)), numbers(3, 7, 4))


@case
def lstm_of_any_length() -> Made:
    return keras_model(_stack(layers.LSTM(6), shape=(None, 4)), numbers(3, 7, 4), numbers(2, 9, 4))


@case
def gru() -> Made:
    parts = [layers.GRU(6, return_sequences=True, reset_after=False), layers.GRU(5)]
    return keras_model(_stack(*parts, shape=(7, 4)), numbers(3, 7, 4))


@case
def bidirectional() -> Made:
    parts = [layers.Bidirectional(layers.LSTM(4, return_sequences=True)), layers.Bidirectional(layers.SimpleRNN(3))]
    return keras_model(_stack(*parts, shape=(7, 4)), numbers(3, 7, 4))


@case
def stacked_cells() -> Made:
    cells = [layers.LSTMCell(4), layers.GRUCell(5)]
    return keras_model(_stack(layers.RNN(cells, return_sequences=True), shape=(6, 3)), numbers(2, 6, 3))


@case
def unrolled() -> Made:
    return keras_model(_stack(layers.SimpleRNN(4, unroll=True), shape=(5, 3)), numbers(2, 5, 3))


@case
def convolutional_lstm() -> Made:
    return keras_model(_stack(layers.ConvLSTM2D(3, 3, padding="same"), shape=(4, 6, 6, 2)), numbers(2, 4, 6, 6, 2))


@case
def masked_steps() -> Made:
    parts = [layers.Masking(0.0), layers.GRU(5, return_sequences=True), layers.TimeDistributed(layers.Dense(3))]
    steps = numbers(3, 6, 4)
    steps[1, 3:] = 0
    return keras_model(_stack(*parts, shape=(6, 4)), steps)


@case
def attention() -> Made:
    query, value = layers.Input((5, 8), name="query"), layers.Input((7, 8), name="value")
    outputs = [layers.Attention()([query, value]), layers.AdditiveAttention()([query, value])]
    return keras_model(Model([query, value], outputs), {"query": numbers(2, 5, 8), "value": numbers(2, 7, 8)})


@case
def multi_head_attention() -> Made:
    x = layers.Input((6, 16), name="x")
    y = layers.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True)
    y = layers.LayerNormalization()(x + y)
    return keras_model(Model(x, layers.GroupQueryAttention(4, 4, 2)(y, y)), numbers(2, 6, 16))


@case
def resizing() -> Made:
    kinds = ["bilinear", "nearest", "bicubic", "lanczos3"]
    parts = [layers.Resizing(7, 12, interpolation=kind) for kind in kinds]
    return keras_model(_joined(*parts, shape=(9, 8, 3)), numbers(2, 9, 8, 3))


@case
def resizing_to_crop_and_pad() -> Made:
    parts = [layers.Resizing(6, 6, crop_to_aspect_ratio=True), layers.Resizing(6, 6, pad_to_aspect_ratio=True)]
    return keras_model(_joined(*parts, shape=(9, 8, 3)), numbers(2, 9, 8, 3))


@case
def upsampling() -> Made:
    parts = [layers.UpSampling2D(2), layers.UpSampling2D(3, interpolation="bilinear")]
    return keras_model(_joined(*parts, shape=(4, 5, 3)), numbers(2, 4, 5, 3))


@case
def upsampling_of_rows_and_volumes() -> Made:
    x, y = layers.Input((7, 3), name="x"), layers.Input((3, 3, 3, 2), name="y")
    outputs = [layers.UpSampling1D(2)(x), layers.UpSampling3D(2)(y)]
    return keras_model(Model([x, y], outputs), {"x": numbers(2, 7, 3), "y": numbers(2, 3, 3, 3, 2)})


@case
def cropping_and_padding() -> Made:
    x = layers.Input((9, 8, 3), name="x")
    outputs = [layers.Cropping2D(((1, 2), (0, 3)))(x), layers.ZeroPadding2D((1, 2))(x), layers.CenterCrop(4, 5)(x)]
    return keras_model(Model(x, outputs), numbers(2, 9, 8, 3))


@case
def shapes() -> Made:
    parts = [layers.Flatten(), layers.RepeatVector(3), layers.Permute((2, 1)), layers.Reshape((-1, 6))]
    return keras_model(_stack(*parts, shape=(4, 6)), numbers(2, 4, 6))


@case
def merging() -> Made:
    x, y = layers.Input((4, 6), name="x"), layers.Input((4, 6), name="y")
    kinds = [layers.Add, layers.Subtract, layers.Multiply, layers.Average, layers.Maximum, layers.Minimum]
    outputs = [kind()([x, y]) for kind in kinds]
    outputs += [layers.Concatenate(1)([x, y]), layers.Dot(2)([x, y]), layers.Dot((1, 1), normalize=True)([x, y])]
    return keras_model(Model([x, y], outputs), {"x": numbers(2, 4, 6), "y": numbers(2, 4, 6, seed=1)})


@case
def activations() -> Made:
    names = "elu selu celu gelu exponential hard_sigmoid hard_silu hard_tanh leaky_relu log_sigmoid log_softmax glu"
    names += (
        " mish relu relu6 sigmoid silu softmax softplus softsign sparse_plus soft_shrink tanh tanh_shrink squareplus"
    )
    parts = [layers.Activation(name) for name in names.split()]
    more = [layers.PReLU(), layers.LeakyReLU(), layers.ELU(), layers.ReLU(3.0, 0.1, 0.2), layers.Softmax(1)]
    return keras_model(_joined(*parts, *more, shape=(5, 6)), numbers(3, 5, 6))


@case
def einsum_dense() -> Made:
    return keras_model(
        _stack(layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), shape=(4, 6)), numbers(2, 4, 6)
    )


@case
def normalization() -> Made:
    norm = layers.Normalization()
    norm.adapt(numbers(40, 6))
    return keras_model(_stack(norm, layers.Rescaling(2.0, 1.0), shape=(6,)), numbers(5, 6))


@case
def discretization() -> Made:
    parts = [layers.Discretization([-1.0, 0.0, 0.5]), layers.Discretization([-1.0, 0.0], output_mode="one_hot")]
    return keras_model(_joined(*parts, shape=(1,)), numbers(5, 1))


@case
def augmentation_in_inference() -> Made:
    names = "Flip Rotation Zoom Contrast Brightness Translation"
    options: dict[str, Any] = {"Flip": "horizontal", "Translation": (0.1, 0.1)}
    parts = [
        getattr(layers, f"Random{name}")(
            *([options[name]] if isinstance(options.get(name), str) else options.get(name, (0.2,)))
        )
        for name in names.split()
    ]
    return keras_model(_stack(*parts, layers.Conv2D(2, 3), shape=(8, 8, 3)), numbers(2, 8, 8, 3, low=0, high=255))


@case
def random_crop_in_inference() -> Made:
    return keras_model(_stack(layers.RandomCrop(5, 6), shape=(9, 8, 3)), numbers(2, 9, 8, 3))


@case
def spectrogram() -> Made:
    parts = [layers.STFTSpectrogram(frame_length=16, frame_step=8, fft_length=16)]
    return keras_model(_stack(*parts, shape=(64, 1)), numbers(2, 64, 1))


@case
def mel_spectrogram() -> Made:
    layer = layers.MelSpectrogram(num_mel_bins=8, fft_length=64, sequence_stride=16, sequence_length=64, max_freq=4000)
    return keras_model(_stack(layer, shape=(256,)), numbers(2, 256), tolerance=5)


@case
def several_inputs_and_outputs() -> Made:
    images, features = layers.Input((8, 8, 3), name="images"), layers.Input((4,), name="features")
    x = layers.concatenate([layers.GlobalAveragePooling2D()(layers.Conv2D(6, 3)(images)), features])
    model = Model(
        {"images": images, "features": features}, {"class": layers.Dense(3, "softmax")(x), "age": layers.Dense(1)(x)}
    )
    return keras_model(model, {"images": numbers(2, 8, 8, 3), "features": numbers(2, 4)})


@case
def residual_network() -> Made:
    images = layers.Input((16, 16, 3), name="x")
    x = layers.ReLU()(layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same", use_bias=False)(images)))
    y = layers.BatchNormalization()(layers.Conv2D(8, 3, strides=2, padding="same")(x))
    x = layers.Activation("swish")(layers.Add()([y, layers.Conv2D(8, 1, strides=2)(x)]))
    return keras_model(Model(images, layers.Dense(5)(layers.GlobalAveragePooling2D()(x))), numbers(2, 16, 16, 3))


@case
def transformer() -> Made:
    tokens = layers.Input((None,), dtype="int32", name="x")
    x = layers.Embedding(50, 16)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 4)(x, x))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, "gelu")(x)))
    return keras_model(Model(tokens, layers.Dense(50)(x)), numbers(2, 9, low=0, high=50, dtype="int32"))


@case
def half_precision() -> Made:
    parts = [layers.Dense(8, "relu", dtype="mixed_float16"), layers.Dense(3, dtype="float32")]
    return keras_model(_stack(*parts, shape=(6,)), numbers(4, 6), tolerance=100)
