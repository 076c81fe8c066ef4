"""Functions of TensorFlow: control flow, lists, linear algebra, segments, Fourier transforms, strings."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import tensorflow as tf

from saved_models.making import Made, case, module, numbers


def wide(*shape: int, seed: int = 0) -> Any:
    return numbers(*shape, seed=seed, dtype="float64")


def _positive(size: int) -> Any:
    """A matrix that has a Cholesky factor."""
    a = wide(size, size)
    return a @ a.T + size * np.eye(size)


@case
def branches() -> Made:
    def run(x: Any, n: Any, w: Any) -> Any:
        y = tf.cond(n > 2, lambda: x @ w, lambda: x - 1.0)
        return y, tf.switch_case(n, [lambda: y, lambda: y * 2.0, lambda: y + 3.0])

    return module(run, *({"x": wide(3, 4), "n": np.int32(n)} for n in (0, 1, 2, 5)), w=wide(4, 4))


@case
def loops() -> Made:
    def run(x: Any, n: Any, w: Any) -> Any:
        total = tf.zeros((), x.dtype)
        for i in tf.range(n):
            x = tf.tanh(x @ w)
            if tf.reduce_sum(x) > 0.0:
                total += tf.reduce_max(x)
            else:
                total -= tf.cast(i, x.dtype)
        return x, total

    run = tf.autograph.to_graph(run)
    return module(run, *({"x": wide(3, 4), "n": np.int32(n)} for n in (0, 4)), w=wide(4, 4))


@case
def nested_loops() -> Made:
    def run(n: Any) -> Any:
        def outer(i: Any, total: Any) -> Any:
            _, inner = tf.while_loop(lambda j, _: j < i, lambda j, s: (j + 1, s + i * j), (0, 0))
            return i + 1, total + inner

        return tf.while_loop(lambda i, _: i < n, outer, (0, 0))[1]

    return module(run, {"n": np.int32(5)}, {"n": np.int32(0)})


@case
def tensor_array() -> Made:
    def run(x: Any) -> Any:
        steps = tf.TensorArray(tf.float64, 6, element_shape=(3,))
        _, steps = tf.while_loop(lambda i, _: i < 6, lambda i, s: (i + 1, s.write(i, x[i] * 2.0)), (0, steps))
        parts = tf.TensorArray(tf.float64, 6).unstack(x)
        return steps.stack(), parts.read(2), parts.gather([0, 4]), parts.concat()

    return module(run, {"x": wide(6, 3)})


@case
def growing_tensor_array() -> Made:
    def run(x: Any) -> Any:
        steps = tf.TensorArray(tf.float64, 0, dynamic_size=True)
        for place in range(4):
            steps = steps.write(place, x[place] + 1.0)
        return steps.stack()

    return module(run, {"x": wide(4, 3)})


@case
def mapped() -> Made:
    def run(x: Any) -> Any:
        return tf.map_fn(lambda row: tf.cumsum(row) * 2.0, x), tf.scan(lambda a, row: a + row, x)

    return module(run, {"x": wide(5, 3)})


@case
def vectorized() -> Made:
    return module(
        lambda x, w: tf.vectorized_map(lambda row: tf.linalg.matvec(w, row), x), {"x": wide(5, 3)}, w=wide(4, 3)
    )


@case
def state() -> Made:
    def run(x: Any, count: Any, total: Any) -> Any:
        count.assign_add(1)
        total.assign(total * 0.9 + x)
        return total.read_value(), count.read_value()

    return module(run, {"x": wide(3)}, {"x": wide(3, seed=1)}, count=0, total=np.zeros(3))


@case
def sparse_state() -> Made:
    def run(x: Any, table: Any) -> Any:
        table.scatter_nd_update([[1], [3]], x)
        table.scatter_nd_add([[0]], x[:1])
        table.scatter_update(tf.IndexedSlices(x[:1] * 2.0, tf.constant([2])))
        return table.read_value()

    return module(run, {"x": wide(2, 3)}, table=wide(5, 3))


@case
def qr() -> Made:
    return module(lambda x: tf.linalg.qr(x), {"x": wide(2, 5, 3)}, tolerance=10)


@case
def qr_full() -> Made:
    return module(lambda x: tf.linalg.qr(x, full_matrices=True), {"x": wide(5, 3)}, tolerance=10)


@case
def svd() -> Made:
    def run(x: Any) -> Any:
        s, u, v = tf.linalg.svd(x)
        return s, u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v), tf.linalg.svd(x, compute_uv=False)

    return module(run, {"x": wide(2, 5, 3)}, tolerance=10)


@case
def eigenvalues() -> Made:
    def run(x: Any) -> Any:
        values, vectors = tf.linalg.eigh(x + tf.transpose(x))
        return values, vectors @ tf.linalg.diag(values) @ tf.transpose(vectors), tf.linalg.eigvalsh(x)

    return module(run, {"x": wide(4, 4)}, tolerance=10)


@case
def cholesky_and_solves() -> Made:
    def run(a: Any, b: Any) -> Any:
        factor = tf.linalg.cholesky(a)
        solved = tf.linalg.cholesky_solve(factor, b), tf.linalg.solve(a, b), tf.linalg.triangular_solve(factor, b)
        return *solved, tf.linalg.inv(a), tf.linalg.det(a), tf.linalg.logdet(a), tf.linalg.slogdet(a)[1]

    return module(run, {"a": _positive(4), "b": wide(4, 2)}, tolerance=10)


@case
def least_squares() -> Made:
    def run(a: Any, b: Any) -> Any:
        return tf.linalg.lstsq(a, b), tf.linalg.pinv(a), tf.linalg.trace(a), tf.linalg.norm(a, ord=1), tf.norm(a)

    return module(run, {"a": wide(5, 3), "b": wide(5, 2)}, tolerance=1e3)


@case
def lu_and_tridiagonal() -> Made:
    def run(a: Any, b: Any, diagonals: Any) -> Any:
        return *tf.linalg.lu(a), tf.linalg.tridiagonal_solve(diagonals, b), tf.linalg.matrix_transpose(a)

    diagonals = wide(3, 4) + np.array([[0.0], [6.0], [0.0]])
    return module(run, {"a": _positive(4), "b": wide(4, 2), "diagonals": diagonals}, tolerance=10)


@case
def matrix_exponential() -> Made:
    return module(lambda a: tf.linalg.expm(a), {"a": wide(4, 4) / 4}, tolerance=100)


@case
def band_matrices() -> Made:
    def run(x: Any, d: Any) -> Any:
        parts = tf.linalg.band_part(x, 1, 0), tf.linalg.diag(d), tf.linalg.diag_part(x), tf.linalg.set_diag(x, d)
        return *parts, tf.linalg.diag(d, k=1), tf.linalg.diag_part(x, k=-1)

    return module(run, {"x": wide(4, 4), "d": wide(4)})


@case
def segments() -> Made:
    def run(x: Any, ids: Any) -> Any:
        kinds = [
            tf.math.segment_sum,
            tf.math.segment_mean,
            tf.math.segment_max,
            tf.math.segment_min,
            tf.math.segment_prod,
        ]
        return [kind(x, tf.constant([0, 0, 1, 3, 3])) for kind in kinds]

    return module(run, {"x": wide(5, 3), "ids": np.int32([0, 0, 1, 3, 3])})


@case
def unsorted_segments() -> Made:
    def run(x: Any, ids: Any) -> Any:
        names = "sum mean max min prod sqrt_n"
        return [getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 4) for name in names.split()]

    return module(run, {"x": wide(6, 3), "ids": np.int32([3, 0, 1, 0, -1, 3])})


@case
def segments_by_data() -> Made:
    return module(lambda x, ids: tf.math.segment_mean(x, ids), {"x": wide(5, 3), "ids": np.int32([0, 0, 1, 3, 3])})


@case
def sparse_segments() -> Made:
    def run(x: Any) -> Any:
        places, ids = tf.constant([0, 2, 2, 4]), tf.constant([0, 0, 1, 2])
        return tf.sparse.segment_sum(x, places, ids), tf.sparse.segment_mean(x, places, ids)

    return module(run, {"x": wide(5, 3)})


@case
def image_patches() -> Made:
    def run(x: Any) -> Any:
        some = tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
        return some, tf.image.extract_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 2, 2, 1], "SAME")

    return module(run, {"x": numbers(2, 9, 8, 3)})


@case
def images() -> Made:
    def run(x: Any) -> Any:
        changed = (
            tf.image.adjust_brightness(x, 0.1),
            tf.image.adjust_contrast(x, 2.0),
            tf.image.per_image_standardization(x),
        )
        colours = tf.image.rgb_to_grayscale(x), tf.image.rgb_to_hsv(x), tf.image.flip_left_right(x), tf.image.rot90(x)
        sizes = tf.image.resize(x, (5, 7)), tf.image.central_crop(x, 0.5), tf.image.pad_to_bounding_box(x, 1, 2, 12, 13)
        return *changed, *colours, *sizes, tf.image.total_variation(x), tf.image.ssim(x, x * 0.9, 1.0, filter_size=3)

    return module(run, {"x": numbers(2, 8, 8, 3, low=0)}, tolerance=5)


@case
def resized_otherwise() -> Made:
    def run(x: Any) -> Any:
        kinds = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "gaussian", "mitchellcubic"]
        return [tf.image.resize(x, (6, 5), kind) for kind in kinds]

    return module(run, {"x": numbers(2, 8, 9, 3)})


@case
def cropped_and_resized() -> Made:
    def run(x: Any, boxes: Any) -> Any:
        return tf.image.crop_and_resize(x, boxes, [0, 1], (4, 4))

    return module(run, {"x": numbers(2, 8, 8, 3), "boxes": np.float32([[0, 0, 0.5, 1], [0.2, 0.1, 0.9, 0.8]])})


@case
def fourier() -> Made:
    def run(x: Any) -> Any:
        y = tf.signal.rfft(x)
        many = tf.signal.fft2d(tf.cast(x, tf.complex128)), tf.signal.irfft(y), tf.signal.ifft(y), tf.signal.fftshift(x)
        return y, *many, tf.signal.stft(x, 8, 4), tf.signal.dct(x, type=2), tf.signal.idct(x)

    return module(run, {"x": wide(4, 16)})


@case
def sorts() -> Made:
    def run(x: Any) -> Any:
        best = tf.math.top_k(x, 3)
        found = tf.sort(x, direction="DESCENDING"), tf.argsort(x, stable=True), tf.searchsorted(tf.sort(x), x[:, :2])
        return (
            *best,
            *found,
            tf.math.in_top_k(tf.constant([1, 2, 0]), tf.cast(x, tf.float32), 2),
            tf.nn.top_k(-x, 2).indices,
        )

    return module(run, {"x": wide(3, 6)})


@case
def einsums() -> Made:
    def run(x: Any, y: Any) -> Any:
        return (
            tf.einsum("bij,bkj->bik", x, y),
            tf.einsum("bij,...->b", x, 1.0 * y[0, 0, 0]),
            tf.tensordot(x, y, [[2], [2]]),
        )

    return module(run, {"x": wide(2, 3, 4), "y": wide(2, 5, 4)})


@case
def numbers_of_all_kinds() -> Made:
    def run(x: Any, n: Any) -> Any:
        special = (
            tf.math.lgamma(x),
            tf.math.igamma(x, x + 1.0),
            tf.math.betainc(x, x, 0.3 + 0.0 * x),
            tf.math.bessel_i0e(x),
        )
        whole = n // 3, n % 3, tf.bitwise.left_shift(n, 2), tf.cast(n, tf.uint8), tf.math.floormod(-n, 3)
        rest = (
            tf.math.cumulative_logsumexp(x),
            tf.math.reduce_logsumexp(x),
            tf.math.reduce_std(x),
            tf.math.l2_normalize(x),
        )
        return *special, *whole, *rest, tf.math.bincount(n, minlength=8, maxlength=8), tf.math.ndtri(x / 5.0)

    return module(run, {"x": np.abs(wide(5)) + 0.5, "n": np.int32([1, 5, 2, 2, 7])})


@case
def scatters_and_gathers() -> Made:
    def run(x: Any, places: Any) -> Any:
        cells = tf.stack([places, places], -1)
        parts = tf.gather(x, places), tf.gather_nd(x, cells), tf.scatter_nd(cells, tf.gather_nd(x, cells), (4, 4))
        more = (
            tf.tensor_scatter_nd_add(x, cells, tf.ones(3, x.dtype)),
            tf.one_hot(places, 5),
            tf.gather(x, places[:1], batch_dims=0),
        )
        return (
            *parts,
            *more,
            tf.roll(x, 1, 0),
            tf.reverse(x, [1]),
            tf.repeat(x, 2, 1),
            tf.dynamic_stitch([[0, 2], [1, 3]], [x[:2], x[2:]]),
        )

    return module(run, {"x": wide(4, 4), "places": np.int32([3, 0, 0])})


@case
def slices() -> Made:
    def run(x: Any, n: Any) -> Any:
        parts = x[1:, ::2], x[..., -1], x[:, tf.newaxis, 1], x[::-1], x[n], x[n : n + 1], tf.slice(x, [n, 0], [1, 3])
        return (
            *parts,
            *tf.split(x, [1, 2, -1], 1),
            tf.pad(x, [[1, 0], [0, 2]], "REFLECT"),
            tf.strided_slice(x, [0, 1], [3, 4], [2, 1]),
        )

    return module(run, {"x": wide(4, 5), "n": np.int32(2)})


@case
def losses() -> Made:
    def run(x: Any, y: Any, labels: Any) -> Any:
        cross = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, x), tf.nn.softmax_cross_entropy_with_logits(y, x)
        return (
            *cross,
            tf.nn.sigmoid_cross_entropy_with_logits(y, x),
            tf.nn.weighted_cross_entropy_with_logits(y, x, 2.0),
            tf.nn.l2_loss(x),
        )

    return module(run, {"x": wide(4, 5), "y": np.abs(wide(4, 5)), "labels": np.int32([1, 0, 4, 2])})


@case
def connectionist_loss() -> Made:
    def run(x: Any, labels: Any) -> Any:
        return tf.nn.ctc_loss(labels, x, [2, 3], [6, 6], logits_time_major=False, blank_index=0)

    return module(run, {"x": numbers(2, 6, 5), "labels": np.int32([[1, 2, 0], [3, 3, 1]])}, tolerance=5)


@case
def words() -> Made:
    def run(text: Any) -> Any:
        low = tf.strings.lower(text)
        return (
            tf.strings.length(low),
            tf.strings.to_hash_bucket_fast(low, 10),
            tf.cast(low == "b c", tf.int32),
            tf.strings.join([low, text], "-"),
        )

    return module(run, {"text": np.array(["A", "b C", "\u00e9t\u00e9"], object)})


@case
def parsed_numbers() -> Made:
    def run(text: Any, w: Any) -> Any:
        return tf.strings.to_number(text, tf.float64) @ w

    return module(run, {"text": np.array([["1.5", "2"], ["-3e2", "0"]], object)}, w=wide(2, 3))


@case
def table_of_words() -> Made:
    keys, values = tf.constant(["a", "b"]), tf.constant([3, 5], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    made = module(lambda text: table.lookup(text), {"text": np.array(["b", "c", "a"], object)})
    made.holder.table = table
    return made


@case
def table_with_unknown_words() -> Made:
    keys, values = tf.constant(["a", "b"]), tf.constant([0, 1], tf.int64)
    table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(keys, values), 3)
    made = module(lambda text: table.lookup(text), {"text": np.array(["b", "c", "a", "d"], object)})
    made.holder.table = table
    return made


@case
def tables_that_changed() -> Made:
    """What was put into tables before the model was saved is in its checkpoint."""
    lookup = tf.lookup.experimental
    words, rows = (
        lookup.MutableHashTable(tf.string, tf.int64, -1),
        lookup.MutableHashTable(tf.int64, tf.float32, [0, 9]),
    )
    dense = lookup.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=0, deleted_key=-2, initial_num_buckets=4)
    words.insert(tf.constant(["a", "b", "\u00e9t\u00e9", ""]), tf.constant([3, 5, 7, 1], tf.int64))
    words.remove(tf.constant(["b"]))
    rows.insert(tf.constant([3, 7], tf.int64), wide(2, 2).astype("float32"))
    dense.insert(tf.constant([3, 5, -1], tf.int64), tf.constant([0.5, 1.5, 2.5]))
    dense.erase(tf.constant([5], tf.int64))

    def run(text: Any, w: Any) -> Any:
        found = words.lookup(text)
        return found, words.size(), rows.lookup(found) @ w, dense.lookup(found), rows.size()

    calls = [{"text": np.array(texts, object)} for texts in (["a", "", "b"], ["\u00e9t\u00e9"])]
    made = module(run, *calls, w=wide(2, 3).astype("float32"))
    made.holder.tables = [words, rows, dense]
    return made


@case
def tables_of_files() -> Made:
    """Vocabularies: whole lines, their numbers, and columns of texts and numbers."""
    folder = Path(mkdtemp())
    (folder / "words.txt").write_text("a\r\nb\nc d", newline="")
    (folder / "rows.csv").write_text("x,3,0.5\ny,7,-2\n")
    index, lookup = tf.lookup.TextFileIndex, tf.lookup
    line, number = (tf.string, index.WHOLE_LINE), (tf.int64, index.LINE_NUMBER)
    words = lookup.TextFileInitializer(str(folder / "words.txt"), *line, *number)
    names = lookup.TextFileInitializer(str(folder / "words.txt"), *number, *line, vocab_size=2)
    rows = str(folder / "rows.csv")
    columns = lookup.TextFileInitializer(rows, tf.string, 0, tf.int64, 1, delimiter=",")
    floats = lookup.TextFileInitializer(rows, tf.int64, 1, tf.float32, 2, delimiter=",")
    tables = [
        lookup.StaticVocabularyTable(words, 3),
        lookup.StaticHashTable(names, "?"),
        lookup.StaticHashTable(columns, -1),
        lookup.StaticHashTable(floats, 9.0),
    ]

    def run(text: Any) -> Any:
        found = tables[0].lookup(text)
        return found, tables[1].lookup(found), tables[2].lookup(text), tables[3].lookup(tables[2].lookup(text))

    made = module(run, {"text": np.array(["b", "", "c d", "x", "y", "a"], object)})
    made.holder.tables = tables
    return made


@case
def empty_table_that_may_change() -> Made:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 2.5)
    made = module(lambda text: (table.lookup(text), table.size()), {"text": np.array([["a"], ["b"]], object)})
    made.holder.table = table
    return made


@case
def ragged_words() -> Made:
    def run(text: Any, w: Any) -> Any:
        parts = tf.strings.split(text)
        places = tf.strings.to_hash_bucket_fast(parts, 7)
        return tf.reduce_sum(tf.gather(w, places.to_tensor(default_value=0, shape=(None, 4))), 1), parts.row_lengths()

    return module(run, {"text": np.array(["a b", "c", "d e f g h"], object)}, w=wide(7, 3))


@case
def sparse_inputs() -> Made:
    def run(places: Any, values: Any, w: Any) -> Any:
        given = tf.sparse.SparseTensor(places, values, (3, 4))
        return tf.sparse.sparse_dense_matmul(given, w), tf.sparse.to_dense(given)

    return module(run, {"places": np.int64([[0, 1], [2, 0], [2, 3]]), "values": wide(3)}, w=wide(4, 2))


@case
def detected_boxes() -> Made:
    """What a network finds, but for what overlaps: chosen behind the program."""

    def run(x: Any, w: Any, v: Any) -> Any:
        found = tf.nn.relu(x @ w)
        boxes = tf.concat([found[:, :2], found[:, :2] + found[:, 2:] + 0.1], -1)
        scores = tf.sigmoid(x @ v)[:, 0]
        kept = tf.image.non_max_suppression(boxes, scores, 4, 0.5, 0.1)
        return tf.gather(boxes, kept), tf.gather(scores, kept), kept

    return module(
        run, {"x": wide(12, 4).astype("float32")}, w=wide(4, 4).astype("float32"), v=np.ones((4, 1), "float32")
    )


@case
def named_classes() -> Made:
    """The best classes by their names, of texts that the graph has."""
    labels = tf.constant(["cat", "dog", "eel"])

    def run(x: Any, w: Any) -> Any:
        scores, places = tf.math.top_k(tf.nn.softmax(x @ w), 2)
        return scores, tf.gather(labels, places), tf.strings.join([tf.gather(labels, places[:, 0]), "!"])

    return module(run, {"x": wide(3, 4)}, w=wide(4, 3))


@case
def parts_of_texts() -> Made:
    def run(text: Any) -> Any:
        letters, bytes_ = tf.strings.unicode_split(text, "UTF-8"), tf.strings.bytes_split(text)
        return tf.strings.substr(text, 0, 2), letters.to_tensor(""), tf.sparse.to_dense(bytes_.to_sparse(), "-")

    return module(run, {"text": np.array(["Hello", "\u00e9t\u00e9", "a b"], object)})


@case
def chosen_rows() -> Made:
    def run(x: Any, w: Any) -> Any:
        kept = tf.boolean_mask(x, x[:, 0] > 0.0)
        return kept @ w, tf.where(x > 1.0), tf.unique(tf.cast(x[:, 0] * 2.0, tf.int32))[0]

    return module(run, {"x": wide(6, 3)}, w=wide(3, 2))
