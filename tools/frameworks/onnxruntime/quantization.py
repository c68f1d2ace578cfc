"""QuantizeLinear and DequantizeLinear of ONNX: codes by a scale that the operator is given."""

import numpy as np

import serving
from layer import Operators
from library import TYPES, Node, Value
from sextant_adapter import Unsupported, _TYPES, round_to


class Quantization(Operators):
    """One scale for all: per tensor. Rows with a scale each: per axis. Groups of a row: blocked."""

    def quantize(self, case, x, limit, least, scale_rule, ties, codes_by):
        serving.expect_inputs(case, "x")
        serving.expect_plain(scale_rule=scale_rule, ties=ties, codes_by=codes_by)
        codes, dtype = (case.outputs[name]["dtype"] for name in ("codes", "scale"))
        scale = self._scale(serving.rows_of_blocks(x), limit or _TYPES[codes].largest, least)
        scale = round_to(scale, dtype).reshape(x.shape[0], x.shape[2])
        y = self._linear("QuantizeLinear", Value(x, case.dtypes["x"]), Value(scale, dtype), codes)
        return {"scale": scale, "codes": y}

    @staticmethod
    def _scale(rows, limit, least):
        """Of each block, in f32. ONNX has no operator for it."""
        largest = np.abs(rows.astype(np.float32)).max(1, initial=0)
        return np.maximum(largest, np.float32(least)) / np.float32(limit)

    def dequantize(self, case, codes, scale, zero=None):
        serving.expect_inputs(case, "codes", "scale", "zero")
        return self._linear("DequantizeLinear", Value(codes, case.dtypes["codes"]),
                            Value(scale, case.dtypes["scale"]), case.dtype, zero)  # fmt: skip

    def _linear(self, operator, x, scale, to, zero=None):
        """The operator, with a scale[N,G] and a zero point for blocks of x[N,A,G,M]."""
        N, A, G, M = shape = x.array.shape
        attributes, sizes = {"output_dtype": TYPES.get(to)}, ()
        if attributes["output_dtype"] is None or {x.dtype, scale.dtype} - TYPES.keys():
            raise Unsupported(f"{operator} has no {x.dtype}, {scale.dtype} and {to}")
        if scale.dtype not in (x.dtype, to):
            raise Unsupported("scales have the type of the numbers")  # ../FINDINGS.md
        if G > 1 and A * M == 0:
            raise Unsupported("blocks without numbers")
        if G > 1:
            attributes |= {"axis": 1, "block_size": A * M}
            sizes = N, G
        elif N > 1:
            attributes["axis"], sizes = 0, (N,)
        rows = Value(serving.rows_of_blocks(x.array).reshape(N, G * A * M), x.dtype)
        values = [rows, Value(scale.array.reshape(sizes), scale.dtype)]
        if zero is not None:
            values.append(Value(zero.astype(np.float64).reshape(sizes), x.dtype))
        return self._run(Node(operator, attributes), values, [to])[0].reshape(shape)
