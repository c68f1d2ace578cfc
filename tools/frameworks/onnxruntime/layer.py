"""Layers and rotation: operators of ONNX (domain ai.onnx) and of ONNX Runtime (com.microsoft)."""

import numpy as np

from library import TYPES, Node, NoKernel, Value
from sextant_adapter import Unsupported, round_to

MICROSOFT = "com.microsoft"


def real(case, value):
    """An attribute of ONNX, which is f32. f16 and f32 kernels round the number to f32 anyway."""
    if case.dtype == "f64" and np.float32(value) != value:
        raise Unsupported(f"attributes of ONNX are f32, and {value} is not exact in f32")
    return float(value)


class Operators:
    """Calls of single operators."""

    def __init__(self, library):
        self._library = library

    def _run(self, node, values, outputs):
        try:
            return self._library.run(node, values, outputs)
        except NoKernel as error:
            raise Unsupported(f"{node.operator}: {error}") from error

    def _one(self, case, operator, names, attributes=None, domain="", opset=23):
        """The operator of the inputs with these names, all in their dtypes."""
        values = [Value(case.tensors[name], case.dtypes[name]) for name in names]
        node = Node(operator, attributes or {}, domain, opset)
        return self._run(node, values, [case.dtype])[0]

    def _normed(self, case, node, outputs):
        """A norm with a weight, and a bias, in f32 if there is such a kernel, else in the dtype."""
        names = [name for name in case.tensors if name in ("weight", "bias")]
        values = [Value(case.tensors[name], case.dtypes[name])
                  for name in case.tensors if name not in names]  # fmt: skip
        tensors = {name: case.tensors[name] for name in names}
        if case.attributes.get("unit_offset"):
            tensors["weight"] = tensors["weight"] + tensors["weight"].dtype.type(1)
        try:
            wide = [Value(tensors[name], case.dtypes[name]) for name in names]
            return self._library.run(node, values + wide, outputs)
        except NoKernel:
            narrow = {name: round_to(tensors[name], case.dtype) for name in names}
            if any((narrow[name] != tensors[name]).any() for name in names):
                raise Unsupported(f"weights of {node.operator} have the dtype of x") from None
            return self._run(node, values + [Value(narrow[name], case.dtype) for name in names],
                             outputs)  # fmt: skip


class Rotation(Operators):
    """rope_rotate by an operator `_rotated`."""

    def rope_rotate(self, case, x, cos, sin, pairing, offset, direction, R):
        if offset or R == 0:
            raise Unsupported("RotaryEmbedding rotates the first channels, at least one pair")
        sin = -sin if direction == "transpose" else sin
        return self._rotated(case, x, cos, sin, pairing == "interleaved", R)


class Standard(Rotation):
    """Operators of ONNX."""

    def rms_norm(self, case, eps):
        node = Node("RMSNormalization", {"axis": -1, "epsilon": real(case, eps)})
        return self._normed(case, node, [case.dtype])[0]

    def layer_norm(self, case, eps):
        node = Node("LayerNormalization", {"axis": -1, "epsilon": real(case, eps)}, opset=17)
        return self._normed(case, node, [case.dtype])[0]

    def softmax(self, case):
        return self._one(case, "Softmax", "x", {"axis": -1}, opset=13)

    def activation(self, case, kind, beta):
        simple = {"sigmoid": "Sigmoid", "relu": "Relu", "tanh": "Tanh"}
        if kind in simple:
            return self._one(case, simple[kind], "x", opset=14)
        if kind == "swish":
            return self._one(case, "Swish", "x", {"alpha": real(case, beta)}, opset=24)
        if kind.startswith("gelu"):
            form = "tanh" if kind == "gelu_tanh" else "none"
            return self._one(case, "Gelu", "x", {"approximate": form}, opset=20)
        raise Unsupported(f"activation {kind}")

    def linear(self, case):
        if "bias" in case.tensors:
            return self._one(case, "Gemm", ("x", "weight", "bias"), {"transB": 1}, opset=13)
        values = [Value(case.tensors["x"], case.dtypes["x"]),
                  Value(case.tensors["weight"].T, case.dtypes["weight"])]  # fmt: skip
        return self._run(Node("MatMul", opset=13), values, [case.dtype])[0]

    def embedding(self, case, scale):
        if scale != 1:
            raise Unsupported("Gather does not scale")
        return self._one(case, "Gather", ("table", "token"), {"axis": 0}, opset=13)

    def cast(self, case, x, overflow):
        to = case.outputs["y"]["dtype"]
        attributes = {"to": TYPES[to]}
        if to.startswith("f8"):
            attributes["saturate"] = int(overflow == "saturate")
        elif overflow == "saturate":
            raise Unsupported("Cast saturates only in types of 8 bits")
        return self._run(Node("Cast", attributes), [Value(x, case.dtypes["x"])], [to])[0]

    def _rotated(self, case, x, cos, sin, interleaved, R):
        node = Node("RotaryEmbedding", {"interleaved": int(interleaved), "rotary_embedding_dim": R})
        values = [Value(x, case.dtype), Value(cos, case.dtype), Value(sin, case.dtype)]
        return self._run(node, values, [case.dtype])[0]


class Contributed(Rotation):
    """Operators of ONNX Runtime (com.microsoft)."""

    def rms_norm(self, case, eps):
        node = Node("SimplifiedLayerNormalization", {"axis": -1, "epsilon": real(case, eps)}, opset=17)
        return self._normed(case, node, [case.dtype])[0]

    def add_rms_norm(self, case, x, residual, eps):
        node = Node("SkipSimplifiedLayerNormalization", {"epsilon": real(case, eps)}, MICROSOFT, 17)
        y, total = self._normed(case, node, [case.dtype, None, None, case.dtype])
        return {"y": y, "sum": total}

    def activation(self, case, kind, beta):
        operator = {"gelu": "Gelu", "gelu_tanh": "FastGelu", "swish": "QuickGelu"}.get(kind)
        if operator is None:
            raise Unsupported(f"activation {kind}")
        attributes = {"alpha": real(case, beta)} if kind == "swish" else {}
        return self._one(case, operator, "x", attributes, MICROSOFT, 17)

    def _rotated(self, case, x, cos, sin, interleaved, R):
        """The tables have one row per token of the batch, and positions count the rows."""
        B, H, S, D = x.shape
        attributes = {"interleaved": int(interleaved)}
        if R != D:
            attributes |= {"rotary_embedding_dim": R, "num_heads": H}
        position = np.arange(B * S).reshape(B, S)
        values = [Value(x, case.dtype), Value(position, "i64"),
                  *(Value(table.reshape(B * S, R // 2), case.dtype) for table in (cos, sin))]  # fmt: skip
        return self._run(Node("RotaryEmbedding", attributes, MICROSOFT), values, [case.dtype])[0]
