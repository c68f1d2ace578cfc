"""Norms, activations, gates and products of ggml."""

import numpy as np

from sextant_adapter import Unsupported

ACTIVATIONS = {"sigmoid": "sigmoid", "gelu": "gelu_erf", "gelu_tanh": "gelu", "relu": "relu",
               "tanh": "tanh"}  # fmt: skip
SWISH = {1: "silu", 1.702: "gelu_quick"}  # by beta
GATES = {"geglu": "geglu_erf_split", "geglu_tanh": "geglu_split", "reglu": "reglu_split"}
SWIGLU = {1: "swiglu_split", 1.702: "geglu_quick_split"}  # by beta

SMALLEST_SUM = 2.0**-14  # of the weights of a token's experts, in llama.cpp


def _only(dtypes, case):
    if case.dtype not in dtypes:
        raise Unsupported(f"ggml has {case.operation} only in {' and '.join(dtypes)}")


class Layer:
    """The operations with a library of ggml. Products of 16-bit tensors are f32 in ggml; an
    operation `cast` of ggml rounds them to the dtype of the case."""

    def __init__(self, library):
        self._library = library

    def rms_norm(self, case, x, weight, eps, unit_offset):
        _only(("f32",), case)
        weight = weight + np.float32(1) if unit_offset else weight
        with self._library.graph(x.size + weight.size) as graph:
            y = graph.rms_norm(graph.tensor(x, "f32"), eps)
            return graph.values(graph.mul(y, graph.tensor(weight, "f32"))).reshape(x.shape)

    def add_rms_norm(self, case, x, residual, weight, eps, unit_offset):
        _only(("f32",), case)
        weight = weight + np.float32(1) if unit_offset else weight
        with self._library.graph(2 * x.size + weight.size) as graph:
            total = graph.add(graph.tensor(x, "f32"), graph.tensor(residual, "f32"))
            y = graph.mul(graph.rms_norm(total, eps), graph.tensor(weight, "f32"))
            y = graph.values(y).reshape(x.shape)
            return {"y": y, "sum": graph.values(total).reshape(x.shape)}

    def layer_norm(self, case, x, weight, bias, eps):
        _only(("f32",), case)
        with self._library.graph(x.size + 2 * weight.size) as graph:
            y = graph.mul(graph.norm(graph.tensor(x, "f32"), eps), graph.tensor(weight, "f32"))
            return graph.values(graph.add(y, graph.tensor(bias, "f32"))).reshape(x.shape)

    def softmax(self, case, x):
        _only(("f32",), case)
        with self._library.graph(x.size) as graph:
            return graph.values(graph.soft_max(graph.tensor(x, "f32"))).reshape(x.shape)

    def soft_cap(self, case, x, cap):
        _only(("f32",), case)
        with self._library.graph(x.size) as graph:
            inner = graph.tanh(graph.scale(graph.tensor(x, "f32"), 1 / cap))
            return graph.values(graph.scale(inner, cap)).reshape(x.shape)

    def embedding(self, case, token, table, scale):
        _only(("f32", "f16", "bf16"), case)
        if scale != 1 and case.dtype != "f32":
            raise Unsupported("ggml_get_rows gives f32, which llama.cpp scales")
        with self._library.graph(table.size + token.size * table.shape[1]) as graph:
            y = graph.get_rows(graph.tensor(table, case.dtype), graph.tensor(token, "i32"))
            y = y if scale == 1 else graph.scale(y, scale)
            return self._stored(graph, y, case.dtype).reshape(len(token), table.shape[1])

    def linear(self, case, x, weight, bias=None):
        _only(("f32", "f16", "bf16"), case)
        with self._library.graph(2 * x.size + weight.size + len(x) * len(weight)) as graph:
            y = self._layer(graph, graph.tensor(x, "f32"), weight, bias, case.dtypes["weight"])
            return self._stored(graph, y, case.dtype).reshape(len(x), len(weight))

    @staticmethod
    def _layer(graph, x, weight, bias, dtype):
        y = graph.mul_mat(graph.tensor(weight, dtype), x)
        return y if bias is None else graph.add(y, graph.tensor(bias, "f32"))

    @staticmethod
    def _stored(graph, y, dtype):
        return graph.values(y if dtype == "f32" else graph.cast(y, dtype))

    def activation(self, case, x, kind, beta):
        name = SWISH.get(beta) if kind == "swish" else ACTIVATIONS.get(kind)
        if name is None:
            raise Unsupported(f"activation {kind}, beta {beta}")
        wide = name in ("sigmoid", "relu", "tanh")  # unary-ops.cpp; the others: ops.cpp
        _only(("f32", "f16", "bf16") if wide else ("f32", "f16"), case)
        with self._library.graph(x.size) as graph:
            return graph.values(getattr(graph, name)(graph.tensor(x, case.dtype))).reshape(x.shape)

    def gated(self, case, gate, up, kind, beta, limit, alpha, plus_one):
        _only(("f32", "f16"), case)
        with self._library.graph(gate.size + up.size) as graph:
            operands = graph.tensor(gate, case.dtype), graph.tensor(up, case.dtype)
            y = self._gate(graph, operands, kind, alpha or beta, limit, plus_one, case.dtype)
            return graph.values(y).reshape(gate.shape)

    @staticmethod
    def _gate(graph, operands, kind, beta, limit, plus_one, dtype):
        if kind == "swiglu" and limit and plus_one and dtype == "f32":
            return graph.swiglu_oai(*operands, beta, limit)
        name = SWIGLU.get(beta) if kind == "swiglu" else GATES.get(kind)
        if name is None or limit or plus_one:
            raise Unsupported(f"gate {kind}, beta {beta}, limit {limit}, plus_one {plus_one}")
        return getattr(graph, name)(*operands)

    def feed_forward(self, case, x, gate, up, down, kind,
                     gate_bias=None, up_bias=None, down_bias=None):
        _only(("f32",), case)
        with self._library.graph(2 * x.size + gate.size + up.size + down.size) as graph:
            tensor = graph.tensor(x, "f32")
            halves = [self._layer(graph, tensor, weight, bias, "f32")
                      for weight, bias in ((gate, gate_bias), (up, up_bias))]
            hidden = self._gate(graph, halves, kind, 1, None, False, "f32")
            y = graph.values(self._layer(graph, hidden, down, down_bias, "f32"))
            return {"y": y.reshape(len(x), len(down)), "hidden": graph.values(hidden).reshape(len(x), len(gate))}

    def router(self, case, logits, score, groups, renormalise, scale, K, bias=None):
        """The graph that llama.cpp builds (build_moe_ffn), for models without groups of experts."""
        if case.dtype == "f64" or groups["type"] != "none" or renormalise.get("eps", 0) > 1e-20:
            raise Unsupported("scores are f32, groups are not in this graph, sums have no eps")
        N, E = logits.shape
        with self._library.graph(2 * logits.size + E) as graph:
            tensor = graph.tensor(logits, "f32")
            scores = graph.soft_max(tensor) if score == "softmax" else graph.sigmoid(tensor)
            by = scores if bias is None else graph.add(scores, graph.tensor(bias, "f32"))
            indices = graph.argsort_top_k(by, K)
            chosen = graph.get_rows(graph.reshape_3d(scores, 1, E, N), indices)
            weights = graph.reshape_3d(chosen, K, N, 1)
            if renormalise["type"] == "sum":
                total = graph.clamp(graph.sum_rows(weights), SMALLEST_SUM, np.inf)
                weights = graph.div(weights, total)
            weights = weights if scale == 1 else graph.scale(weights, scale)
            return {"weights": graph.values(weights).reshape(N, K),
                    "indices": graph.values(indices).reshape(N, K)}  # fmt: skip
