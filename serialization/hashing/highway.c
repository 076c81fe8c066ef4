/*
 * HighwayHash64 for Python, as `pure.py` and `kernel.py` have it: the state is 16 words of 64 bits in a buffer, four
 * lanes each of v0, v1, mul0 and mul1. Optional: SHARDWRIGHT_NATIVE=1 pip install ... builds it.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)) && !defined(SCALAR_ONLY)
#define HAS_AVX2 1
#include <immintrin.h>
#endif

enum { PACKET = 32, WORDS = 16, BLOCK = 65536, BLOCK_HEADER = 24, WITHOUT_GIL = 1 << 14 };

typedef void (*Absorb)(uint64_t *state, const uint8_t *data, size_t packets);

static uint64_t load64(const uint8_t *from) {
    uint64_t value = 0;
    for (int byte = 0; byte < 8; byte++) value |= (uint64_t)from[byte] << (8 * byte);
    return value;
}

static void store64(uint8_t *to, uint64_t value) {
    for (int byte = 0; byte < 8; byte++) to[byte] = (uint8_t)(value >> (8 * byte));
}

static uint64_t half_swap(uint64_t value) { return value >> 32 | value << 32; }

/* Adds to two lanes the bytes of two others, mixed so that the good bits of every product reach both. */
static void add_zipped(uint64_t *to, uint64_t low, uint64_t high) {
    to[0] += ((low & 0xFF000000) | (high & 0xFF00000000)) >> 24 |
             ((low & 0xFF0000000000) | (high & 0xFF000000000000)) >> 16 | (low & 0xFF0000) | (low & 0xFF00) << 32 |
             (high & 0xFF00000000000000) >> 8 | low << 56;
    to[1] += ((high & 0xFF000000) | (low & 0xFF00000000)) >> 24 | (high & 0xFF0000) |
             (high & 0xFF0000000000) >> 16 | (high & 0xFF00) << 24 | (low & 0xFF000000000000) >> 8 |
             (high & 0xFF) << 48 | (low & 0xFF00000000000000);
}

static void absorb_scalar(uint64_t *state, const uint8_t *data, size_t packets) {
    uint64_t *v0 = state, *v1 = state + 4, *mul0 = state + 8, *mul1 = state + 12;
    for (; packets; packets--, data += PACKET) {
        for (int lane = 0; lane < 4; lane++) {
            v1[lane] += mul0[lane] + load64(data + 8 * lane);
            mul0[lane] ^= (v1[lane] & 0xFFFFFFFF) * (v0[lane] >> 32);
            v0[lane] += mul1[lane];
            mul1[lane] ^= (v0[lane] & 0xFFFFFFFF) * (v1[lane] >> 32);
        }
        add_zipped(v0, v1[0], v1[1]);
        add_zipped(v0 + 2, v1[2], v1[3]);
        add_zipped(v1, v0[0], v0[1]);
        add_zipped(v1 + 2, v0[2], v0[3]);
    }
}

#ifdef HAS_AVX2
/*
 * Most of the time one operation waits for the other. So `v1` has the next packet in it already, and its last two sums
 * are made in the order in which their parts become known; the empty assembly keeps the compiler from changing that.
 */
__attribute__((target("avx2"))) static void absorb_avx2(uint64_t *state, const uint8_t *data, size_t packets) {
    const __m256i order = _mm256_setr_epi8(3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7, 3, 12, 2, 5, 14, 1, 15,
                                           0, 11, 4, 10, 13, 9, 6, 8, 7);
    if (!packets) return;
    __m256i v0 = _mm256_loadu_si256((const __m256i *)state), v1 = _mm256_loadu_si256((const __m256i *)(state + 4));
    __m256i mul0 = _mm256_loadu_si256((const __m256i *)(state + 8));
    __m256i mul1 = _mm256_loadu_si256((const __m256i *)(state + 12));
    v1 = _mm256_add_epi64(v1, _mm256_add_epi64(mul0, _mm256_loadu_si256((const __m256i *)data)));
    for (;;) {
        mul0 = _mm256_xor_si256(mul0, _mm256_mul_epu32(v1, _mm256_srli_epi64(v0, 32)));
        v0 = _mm256_add_epi64(v0, mul1);
        mul1 = _mm256_xor_si256(mul1, _mm256_mul_epu32(v0, _mm256_srli_epi64(v1, 32)));
        v0 = _mm256_add_epi64(v0, _mm256_shuffle_epi8(v1, order));
        if (!--packets) break;
        data += PACKET;
        __m256i rest = _mm256_add_epi64(v1, _mm256_loadu_si256((const __m256i *)data));
        rest = _mm256_add_epi64(rest, mul0);
        __asm__("" : "+x"(rest));
        v1 = _mm256_add_epi64(rest, _mm256_shuffle_epi8(v0, order));
    }
    v1 = _mm256_add_epi64(v1, _mm256_shuffle_epi8(v0, order));
    _mm256_storeu_si256((__m256i *)state, v0);
    _mm256_storeu_si256((__m256i *)(state + 4), v1);
    _mm256_storeu_si256((__m256i *)(state + 8), mul0);
    _mm256_storeu_si256((__m256i *)(state + 12), mul1);
}
#endif

static Absorb best_absorb(void) {
#ifdef HAS_AVX2
    if (__builtin_cpu_supports("avx2")) return absorb_avx2;
#endif
    return absorb_scalar;
}

static Absorb absorb = absorb_scalar;

static uint64_t rotate_halves(uint64_t value, unsigned count) {
    uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    low = low << count | low >> (32 - count);
    high = high << count | high >> (32 - count);
    return low | (uint64_t)high << 32;
}

/* The 1 to 31 bytes after the last whole packet. */
static void absorb_tail(uint64_t *state, const uint8_t *tail, unsigned size) {
    uint8_t packet[PACKET] = {0};
    unsigned odd = size & 3;
    for (int lane = 0; lane < 4; lane++) {
        state[lane] += ((uint64_t)size << 32) + size;
        state[4 + lane] = rotate_halves(state[4 + lane], size);
    }
    memcpy(packet, tail, size - odd);
    if (size & 16) {
        memcpy(packet + 28, tail + size - 4, 4);
    } else if (odd) {
        packet[16] = tail[size - odd];
        packet[17] = tail[size - odd + (odd >> 1)];
        packet[18] = tail[size - 1];
    }
    absorb(state, packet, 1);
}

/* The hash of what the state has seen and of a tail of fewer than 32 bytes; uses the state up. */
static uint64_t end(uint64_t *state, const uint8_t *tail, unsigned size) {
    if (size) absorb_tail(state, tail, size);
    for (int round = 0; round < 4; round++) {
        uint8_t packet[PACKET];
        for (int lane = 0; lane < 4; lane++) store64(packet + 8 * lane, half_swap(state[lane ^ 2]));
        absorb(state, packet, 1);
    }
    return state[0] + state[4] + state[8] + state[12];
}

static uint64_t whole(const uint64_t *fresh, const uint8_t *data, size_t size) {
    uint64_t state[WORDS];
    memcpy(state, fresh, sizeof state);
    absorb(state, data, size / PACKET);
    return end(state, data + size / PACKET * PACKET, (unsigned)(size % PACKET));
}

static int state_from(PyObject *words, uint64_t *state) {
    Py_buffer view;
    if (PyObject_GetBuffer(words, &view, PyBUF_SIMPLE)) return -1;
    int wrong = view.len != WORDS * 8;
    if (wrong) PyErr_SetString(PyExc_ValueError, "a state has 128 bytes");
    else memcpy(state, view.buf, WORDS * 8);
    PyBuffer_Release(&view);
    return -wrong;
}

static PyObject *py_absorb_all(PyObject *self, PyObject *args) {
    Py_buffer state, data;
    uint64_t words[WORDS];
    if (!PyArg_ParseTuple(args, "w*y*", &state, &data)) return NULL;
    int wrong = state.len != WORDS * 8 || data.len % PACKET;
    if (!wrong) {
        memcpy(words, state.buf, sizeof words);
        if (data.len > WITHOUT_GIL) {
            Py_BEGIN_ALLOW_THREADS
            absorb(words, data.buf, (size_t)data.len / PACKET);
            Py_END_ALLOW_THREADS
        } else {
            absorb(words, data.buf, (size_t)data.len / PACKET);
        }
        memcpy(state.buf, words, sizeof words);
    }
    PyBuffer_Release(&state);
    PyBuffer_Release(&data);
    if (wrong) return PyErr_Format(PyExc_ValueError, "a state has 128 bytes and packets have 32");
    Py_RETURN_NONE;
}

static PyObject *py_finish(PyObject *self, PyObject *args) {
    PyObject *words;
    Py_buffer tail;
    uint64_t state[WORDS], hash = 0;
    if (!PyArg_ParseTuple(args, "Oy*", &words, &tail)) return NULL;
    int wrong = state_from(words, state);
    if (!wrong && tail.len >= PACKET) {
        PyErr_SetString(PyExc_ValueError, "a tail has fewer than 32 bytes");
        wrong = -1;
    }
    if (!wrong) hash = end(state, tail.buf, (unsigned)tail.len);
    PyBuffer_Release(&tail);
    return wrong ? NULL : PyLong_FromUnsignedLongLong(hash);
}

static PyObject *py_one_shot(PyObject *self, PyObject *args) {
    PyObject *words;
    Py_buffer data;
    uint64_t fresh[WORDS], hash = 0;
    if (!PyArg_ParseTuple(args, "Oy*", &words, &data)) return NULL;
    int wrong = state_from(words, fresh);
    if (!wrong && data.len > WITHOUT_GIL) {
        Py_BEGIN_ALLOW_THREADS
        hash = whole(fresh, data.buf, (size_t)data.len);
        Py_END_ALLOW_THREADS
    } else if (!wrong) {
        hash = whole(fresh, data.buf, (size_t)data.len);
    }
    PyBuffer_Release(&data);
    return wrong ? NULL : PyLong_FromUnsignedLongLong(hash);
}

static PyObject *py_block_headers(PyObject *self, PyObject *args) {
    PyObject *words;
    unsigned long long begin, end_, first;
    Py_ssize_t count;
    uint64_t fresh[WORDS];
    if (!PyArg_ParseTuple(args, "OKKKn", &words, &begin, &end_, &first, &count)) return NULL;
    if (state_from(words, fresh)) return NULL;
    PyObject *out = PyBytes_FromStringAndSize(NULL, count * BLOCK_HEADER);
    if (!out) return NULL;
    uint8_t *place = (uint8_t *)PyBytes_AS_STRING(out);
    for (; count > 0; count--, place += BLOCK_HEADER, first += BLOCK) {
        store64(place + 8, first - begin);
        store64(place + 16, end_ - first);
        store64(place, whole(fresh, place + 8, 16));
    }
    return out;
}

static PyMethodDef methods[] = {
    {"absorb_all", py_absorb_all, METH_VARARGS, "Mix whole packets into a state."},
    {"finish", py_finish, METH_VARARGS, "The hash of what a state has seen and of a tail; the state stays as it is."},
    {"one_shot", py_one_shot, METH_VARARGS, "The hash of one buffer from the state before any data."},
    {"block_headers", py_block_headers, METH_VARARGS, "Headers of blocks of 65536 bytes within one chunk."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native", "HighwayHash64 in C.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native(void) {
    PyObject *made = PyModule_Create(&module);
    if (!made) return NULL;
    absorb = best_absorb();
    if (PyModule_AddStringConstant(made, "instructions", absorb == absorb_scalar ? "scalar" : "avx2")) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
