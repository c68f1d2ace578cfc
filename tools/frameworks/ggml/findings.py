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


if __name__ == "__main__":
    ggml = Library(INSTALLED)
    print(f"ggml {ggml.version} {ggml.cpu_name}")
    for finding in (tables, flash, imrope, iterated, weights):
        finding(ggml)
