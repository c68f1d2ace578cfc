"""Shows the findings about ggml (../FINDINGS.md) with 60-digit arithmetic, without Sextant.

    /usr/bin/python3 tools/frameworks/ggml/findings.py
"""

import ctypes
import pathlib
import sys

import mpmath
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from library import INSTALLED, Library  # noqa: E402
from shown import gelu_tanh, show, swish  # noqa: E402

IMROPE = 40
PRECISION_F32 = 10


def elementwise(library, name, numbers):
    with library.graph() as graph:
        x = graph.tensor(np.float32(numbers), "f32")
        return graph.values(getattr(graph, name)(x)).ravel()


def tables(library):
    print("gelu and gelu_quick of f32 numbers look up a table of f16 numbers")
    numbers = [float(np.float32(x)) for x in (-0.1, 1.2345, 3.05, 9.9990234375)]
    for x, y in zip(numbers, elementwise(library, "gelu", numbers)):
        show(f"gelu({x:.9g})", y, gelu_tanh(x))
    numbers = [float(np.float32(x)) for x in (-17.5, 1.2345, 65520, 70000, -70000)]
    for x, y in zip(numbers, elementwise(library, "gelu_quick", numbers)):
        show(f"gelu_quick({x:.9g})", y, swish(x, "1.702"))


def flash_mean(library, T, S, threads, dtype):
    """The mean of T values 1, with equal weights: queries are 0."""
    with library.graph(1 << 20) as graph:
        q, k, v = (graph.tensor(np.full((1, 1, n, 8), value), kind)
                   for n, value, kind in ((S, 0, "f32"), (T, 1, dtype), (T, 1, dtype)))  # fmt: skip
        y = graph.flash_attn_ext(q, k, v, None, 0.125, 0.0, 0.0)
        graph.modify("flash_attn_ext_set_prec", y, PRECISION_F32)
        return graph.values(y, threads).ravel()[0]


def flash(library):
    print("flash_attn_ext with f16 values adds in f16: the mean of T numbers 1, GGML_PREC_F32 set")
    for T, S, threads in ((2048, 1, 1), (4096, 1, 1), (32768, 1, 1), (32768, 1, 4), (32768, 2, 4), (32768, 64, 1)):
        show(f"T={T}, {S} queries, {threads} threads", flash_mean(library, T, S, threads, "f16"), 1)
    show("the same in bf16, T=32768, 1 query", flash_mean(library, 32768, 1, 1, "bf16"), 1)


def imrope(library):
    print("rope_multi, IMROPE, sections 24 20 20: the angle of a pair at t = h = w = 20000, 4th position 0")
    with library.graph() as graph:
        x = np.zeros((1, 1, 128), np.float32)
        x[..., :64] = 1  # pair k becomes (cos, sin) of its angle
        position = np.int32([20000, 20000, 20000, 0])
        y = graph.rope_multi(graph.tensor(x, "f32"), graph.tensor(position, "i32"), None, 128,
                             (ctypes.c_int * 4)(24, 20, 20, 0), IMROPE, 0, 5e6, 1.0, 0.0, 1.0, 32.0, 1.0)  # fmt: skip
        y = graph.values(y).ravel()
    for k in (60, 61, 62, 63):
        show(f"sin of pair {k}", y[64 + k], mpmath.sin(20000 * mpmath.mpf(5000000) ** (-mpmath.mpf(k) / 64)))


def iterated(library):
    print("rope_ext: frequencies are products of f32 numbers; angle of a pair at position 131071, base 10000")
    with library.graph() as graph:
        x = np.zeros((1, 1, 128), np.float32)
        x[..., :64] = 1
        y = graph.rope_ext(graph.tensor(x, "f32"), graph.tensor(np.int32([131071]), "i32"), None,
                           128, 2, 0, 1e4, 1.0, 0.0, 1.0, 32.0, 1.0)  # fmt: skip
        y = graph.values(y).ravel()
    for k in (3, 5, 7):
        angle = 131071 * mpmath.mpf(10000) ** (-mpmath.mpf(k) / 64)
        show(f"sin of pair {k}", y[64 + k], mpmath.sin(angle))


def weights(library):
    print("mul_mat rounds f32 activations to the type of the weights")
    for dtype in ("f32", "f16", "bf16"):
        with library.graph() as graph:
            x, one = np.float32([[1.005]]), np.float32([[1]])
            y = graph.mul_mat(graph.tensor(one, dtype), graph.tensor(x, "f32"))
            show(f"{float(x):.9g} times 1 of {dtype}", graph.values(y).ravel()[0], float(x))


def nibbles(block):
    """The numbers of 4 bits of a block of MXFP4."""
    codes = np.concatenate([block["codes"] & 15, block["codes"] >> 4])
    values = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
    return [values[code & 7] * (-1 if code & 8 else 1) for code in codes]


def ties(library):
    print("Q8_0: ties by a scale of 1; 127 is the largest number of the block")
    x = np.zeros((1, 32), np.float32)
    x[0, :5] = 127, 0.5, 1.5, 2.5, -0.5
    with library.graph() as graph:
        block = graph.values(graph.cast(graph.tensor(x, "f32"), "q8_0")).ravel()[0]
    print(f"  {x[0, 1:5]}: the CPU library {block['codes'][1:5]}, "
          f"ggml_quantize_chunk {library.file_blocks(x, 'q8_0')[0, 0]['codes'][1:5]}")  # fmt: skip
    print("MXFP4: ties by a scale of 1; to even they are 0, 1, 1, 2, 2, 4, 4")
    x[0, :8] = 6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5
    print(f"  {x[0, 1:8]}: {nibbles(library.file_blocks(x, 'mxfp4')[0, 0])[1:8]}")


def exponents(library):
    print("MXFP4: the scale of small numbers; the smallest one is 2^-127 (byte 0)")
    for largest in (2.0**-125, 2.0**-126, 2.0**-127, 2.0**-140):
        x = np.full((1, 32), largest, np.float32)
        byte = int(library.file_blocks(x, "mxfp4")[0, 0]["scale"][0])
        power = "NaN" if byte == 255 else f"2^{byte - 127}"
        print(f"  largest number {largest:.3g}: byte {byte}, {power}, expected 2^-127")


def scales_of_nvfp4(library):
    print("NVFP4: the scale of a block, its largest number / 6 rounded to e4m3 (at most 448)")
    for exact, rounded in ((240, 240), (247, 240), (248, 256), (260, 256), (300, 288), (390, 384),
                           (7.25 / 512, 7 / 512), (7.75 / 512, 8 / 512)):  # fmt: skip
        x = np.full((1, 64), 6 * exact, np.float32)
        byte = int(library.file_blocks(x, "nvfp4")[0, 0]["scale"][0])
        exponent, fraction = divmod(byte, 8)
        scale = (fraction + 8 * (exponent > 0)) * 2.0 ** (max(exponent, 1) - 10)
        show(f"largest number / 6 = {exact:.7g}", scale, rounded)


def router(library):
    print("weights of two experts in llama.cpp's graph: their sum counts as at least 2^-14")
    with library.graph() as graph:
        scores = graph.sigmoid(graph.tensor(np.float32([[-12, -13]]), "f32"))
        y = graph.values(graph.div(scores, graph.clamp(graph.sum_rows(scores), 2.0**-14, np.inf)))
    exact = [1 / (1 + mpmath.exp(x)) for x in (12, 13)]
    for got, score in zip(y.ravel(), exact):
        show("weight", got, score / sum(exact))


if __name__ == "__main__":
    ggml = Library(INSTALLED)
    print(f"ggml {ggml.version} {ggml.cpu_name}")
    for finding in (tables, flash, imrope, iterated, weights, ties, exponents, scales_of_nvfp4,
                    router):  # fmt: skip
        finding(ggml)
