"""Attention: of ONNX, and MultiHeadAttention and GroupQueryAttention of ONNX Runtime."""

import numpy as np

import masks
from layer import MICROSOFT, Operators, real
from library import Node, Value
from sextant_adapter import Unsupported


def _only_causal(masking):
    """True for a causal mask alone, false for no mask; None for any other mask."""
    if any(masking[name] is not None for name in ("window", "chunk", "key_length", "segments")):
        return None
    return masking["mask"] == "causal"


def _merged(x):
    """[B,H,S,D] as [B,S,H*D]"""
    B, H, S, D = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, S, H * D)


def _split(y, heads):
    B, S, width = y.shape
    return y.reshape(B, S, heads, width // heads).transpose(0, 2, 1, 3)


class StandardAttention(Operators):
    """The operator Attention of ONNX."""

    def attention(self, case, q, k, v, bias, sink, scale, soft_cap, add_bias, **masking):
        masks.expect_no_scales(**masking)
        masks.expect_bias_after_cap(add_bias, soft_cap)
        masks.expect_none(sink, "sink")
        T = k.shape[2]
        attributes = self._attributes(case, scale, soft_cap)
        past = masks.earlier_keys(q.shape[2], T, **masking)
        if bias is not None or not _only_causal(masking) or past is None or not 0 <= past < T:
            return self._masked(case, attributes, masking, bias)
        values = [Value(q, case.dtype), *(Value(x[:, :, past:], case.dtype) for x in (k, v)), None]
        if past:
            values += [Value(x[:, :, :past], case.dtype) for x in (k, v)]
        outputs = [case.dtype] * (3 if past else 1)
        return {"y": self._run(Node("Attention", {**attributes, "is_causal": 1}), values, outputs)[0]}

    def attention_scores(self, case, q, k, scale):
        values = [Value(q, case.dtype), Value(k, case.dtype), Value(k, case.dtype)]
        node = Node("Attention", self._attributes(case, scale, None) | {"qk_matmul_output_mode": 0})
        return self._run(node, values, [case.dtype, None, None, case.dtype])[1]

    @staticmethod
    def _attributes(case, scale, soft_cap):
        given = {"scale": scale, "softcap": soft_cap}
        return {name: real(case, value) for name, value in given.items() if value is not None}

    def _masked(self, case, attributes, masking, bias):
        """A mask of booleans, or a bias with -infinity."""
        q, k, v = (case.tensors[name] for name in "qkv")
        see = masks.visible(len(q), q.shape[2], k.shape[2], **masking)
        masks.expect_no_zeros(see, masking["empty_rows"])
        if bias is not None:
            values = [Value(masks.additive(see, bias), case.dtype)]
        else:
            values = [] if see is None else [Value(see[:, None], "bool")]
        values = [Value(q, case.dtype), Value(k, case.dtype), Value(v, case.dtype), *values]
        return {"y": self._run(Node("Attention", attributes), values, [case.dtype])[0]}


class MultiHead(Operators):
    """MultiHeadAttention: as many heads of keys as of queries."""

    def attention(self, case, q, k, v, bias, sink, scale, soft_cap, add_bias, **masking):
        masks.expect_no_scales(**masking)
        masks.expect_bias_after_cap(add_bias, soft_cap)
        masks.expect_none(sink, "sink")
        causal = _only_causal(masking)
        if causal is None or soft_cap or q.shape[1] != k.shape[1]:
            raise Unsupported("MultiHeadAttention has no such mask, cap or shared keys")
        if causal and masks.earlier_keys(q.shape[2], k.shape[2], **masking) != 0:
            raise Unsupported("MultiHeadAttention aligns a causal mask at the top left")
        attributes = {"num_heads": q.shape[1], "unidirectional": int(causal)}
        if scale is not None:
            attributes["scale"] = real(case, scale)
        values = [Value(_merged(x), case.dtype) for x in (q, k, v)]
        if bias is not None:
            values += [None, None, Value(bias, case.dtype)]
        y = self._run(Node("MultiHeadAttention", attributes, MICROSOFT), values, [case.dtype])[0]
        return {"y": _split(y, q.shape[1])}


class GroupQuery(Operators):
    """GroupQueryAttention: causal, with the earlier keys as its cache."""

    def attention(self, case, q, k, v, bias, sink, scale, soft_cap, **masking):
        masks.expect_no_scales(**masking)
        masks.expect_none(bias, "bias")
        window = self._window(masking)
        (B, H, S, D), (K, T) = q.shape, k.shape[1:3]
        if D % 8 or v.shape[3] != D or S > T or S == 0:
            raise Unsupported("GroupQueryAttention needs D = E, a multiple of 8, and 0 < S <= T")
        if len(q) > 1 and 1 < S < T:
            raise Unsupported("GroupQueryAttention takes several tokens after a cache only for one batch")
        if masks.earlier_keys(S, T, **masking) != T - S:
            raise Unsupported("GroupQueryAttention aligns its mask at the bottom right")
        attributes = {"num_heads": H, "kv_num_heads": K, "local_window_size": window,
                      "softcap": real(case, soft_cap or 0)}  # fmt: skip
        if scale is not None:
            attributes["scale"] = real(case, scale)
        past = [Value(x[:, :, : T - S], case.dtype) for x in (k, v)]
        values = [Value(_merged(x), case.dtype) for x in (q, k[:, :, T - S :], v[:, :, T - S :])]
        values += [*past, Value(np.full(B, T - 1), "i32"), Value(np.array([T]), "i32")]
        if sink is not None:
            sinks = np.asarray(sink, np.float16 if case.dtype == "f16" else np.float32)
            if (sinks != sink).any():
                raise Unsupported("head_sink has the dtype of q")
            values += [None] * 4 + [Value(sinks, case.dtype)]
        y = self._run(Node("GroupQueryAttention", attributes, MICROSOFT), values, [case.dtype] * 3)[0]
        return {"y": _split(y, H)}

    @staticmethod
    def _window(masking):
        """local_window_size: keys that a query sees, itself included; -1 for all."""
        window = masking["window"]
        others = any(masking[name] is not None for name in ("chunk", "key_length", "segments"))
        if masking["mask"] != "causal" and not (window and window[1] == 0):
            raise Unsupported("GroupQueryAttention is causal")
        if others or (window and window[1] not in (0, -1)):
            raise Unsupported("GroupQueryAttention has no such mask")
        return -1 if not window or window[0] < 0 else int(window[0]) + 1
