"""Shows the findings about ONNX Runtime (../FINDINGS.md) with 60-digit arithmetic, without Sextant.

    /usr/bin/python3 tools/frameworks/onnxruntime/findings.py
"""

import pathlib
import sys

import mpmath
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "adapters/python")]
from library import INSTALLED, TYPES, Library, Node, Value  # noqa: E402
from shown import gelu_tanh, show, swish  # noqa: E402

MICROSOFT = "com.microsoft"


def elementwise(library, node, numbers, dtype):
    return library.run(node, [Value(np.array(numbers), dtype)], [dtype])[0]


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-mpmath.mpf(x)))


def logistic(library):
    print("Sigmoid, Swish, QuickGelu: small results have an absolute error; x is cut off at -18 and 18")
    for operator, domain, opset, exact in (("Sigmoid", "", 13, sigmoid), ("Swish", "", 24, swish),
                                           ("QuickGelu", MICROSOFT, 13, swish)):  # fmt: skip
        attributes = {} if operator == "Sigmoid" else {"alpha": 1.0}
        for dtype, numbers in (("f32", (-8.0, -12.0, -17.0, -40.0)), ("f64", (-8.0, -20.0, -40.0))):
            node = Node(operator, attributes, domain, opset)
            for x, y in zip(numbers, elementwise(library, node, numbers, dtype)):
                show(f"{operator} {dtype} ({x})", y, exact(x))


def gelu(library):
    print("Gelu (tanh) and FastGelu in f64 compute with shortened constants")
    root = mpmath.sqrt(mpmath.mpf(float(np.float32(2 / np.pi))))
    cubic = mpmath.mpf(float(np.float32(0.044715)))
    fast = mpmath.mpf("0.797885")
    x = 1.5
    y = elementwise(library, Node("Gelu", {"approximate": "tanh"}, opset=20), [x], "f64")[0]
    show(f"Gelu({x})", y, gelu_tanh(x))
    show("  against sqrt(2/pi of f32) and 0.044715 of f32", y, gelu_tanh(x, root, cubic))
    y = elementwise(library, Node("FastGelu", {}, MICROSOFT, 20), [x], "f64")[0]
    show(f"FastGelu({x})", y, gelu_tanh(x))
    show("  against 0.797885 and 0.035677", y, gelu_tanh(x, fast, mpmath.mpf("0.035677") / fast))


def attention_scale(library):
    print("Attention in f64: the scale is the square of an f32 number, the rounded root of the scale")
    one = Value(np.ones((1, 1, 1, 1)), "f64")
    node = Node("Attention", {"scale": 0.5})
    score = library.run(node, [one, one, one], ["f64", None, None, "f64"])[1].ravel()[0]
    show("score of 1 and 1, scale 0.5", score, 0.5)
    show("  against the square of sqrt(0.5) in f32", score, mpmath.mpf(float(np.float32(0.5**0.5))) ** 2)


def unidirectional(library):
    print("MultiHeadAttention, unidirectional, 2 queries, 4 keys: which keys a query sees (weights)")
    node = Node("MultiHeadAttention", {"num_heads": 1, "unidirectional": 1}, MICROSOFT)
    values = [Value(x, "f32") for x in (np.zeros((1, 2, 4)), np.zeros((1, 4, 4)), np.eye(4)[None])]
    for s, row in enumerate(library.run(node, values, ["f32"])[0][0]):
        print(f"  query {s}: {row.tolist()}, expected {s + 1} keys")


def cached(library):
    print("Attention, is_causal, one cached key and three more: which keys the queries see (weights)")
    node, values = Node("Attention", {"is_causal": 1}), np.eye(4)[None, None]
    zeros = np.zeros((1, 1, 3, 4))
    for queries in (1, 2):
        inputs = [Value(x, "f32") for x in (zeros[:, :, :queries], zeros, values[:, :, 1:])]
        cache = [Value(x, "f32") for x in (zeros[:, :, :1], values[:, :, :1])]
        y = library.run(node, [*inputs, None, *cache], ["f32"] * 3)[0]
        print(f"  {queries} queries: {y[0, 0].tolist()}; query 0 should see 2 keys")


def small_weights(library):
    print("Softmax: weights below about 1e-38 become 0")
    y = library.run(Node("Softmax", {"axis": -1}, opset=13), [Value(np.array([[0.0, -90.0]]), "f32")], ["f32"])[0]
    show("weight of score -90", y[0, 1], 1 / (1 + mpmath.exp(90)))


def conversion(library):
    print("Cast to f8_e5m2 with saturate=0: finite numbers just beyond the largest one, 57344")
    node = Node("Cast", {"to": TYPES["f8_e5m2"], "saturate": 0})
    numbers = np.array([61439.0, 61440.0, 65535.0, 65536.0, np.inf])
    y = library.run(node, [Value(numbers, "f32")], ["f8_e5m2"])[0]
    for x, got, exact in zip(numbers, y, (57344, "inf", "inf", "inf", "inf")):
        print(f"  {x:g}: {got:g}, expected {exact}")


def mixed_types(library):
    print("QuantizeLinear and DequantizeLinear of opset 23: a scale of another type than the numbers")
    one = np.ones((1, 4))
    for kind, x, scale, to in (("Quantize", "f16", "f16", "i8"), ("Quantize", "f16", "f32", "i8"),
                               ("Dequantize", "i8", "f32", "f32"), ("Dequantize", "i8", "f32", "f16"),
                               ("Dequantize", "i8", "f32", "bf16")):  # fmt: skip
        node = Node(f"{kind}Linear", {"output_dtype": TYPES[to]})
        try:
            y = library.run(node, [Value(one, x), Value(np.array(0.5), scale)], [to])[0].ravel()
        except RuntimeError as error:
            y = "Tensor type mismatch" if "Tensor type mismatch" in str(error) else error
        print(f"  {kind}Linear of {x} by a scale of {scale} to {to}: {y}")


if __name__ == "__main__":
    onnxruntime = Library(INSTALLED)
    print(f"ONNX Runtime {onnxruntime.version}")
    for finding in (logistic, gelu, attention_scale, unidirectional, cached, small_weights, conversion,
                    mixed_types):
        finding(onnxruntime)
