"""Attention in ggml: ggml_flash_attn_ext, or the graph of llama.cpp without it."""

import numpy as np

import masks
from sextant_adapter import Unsupported

PRECISION_F32 = 10  # GGML_PREC_F32


class Attention:
    """The operations with a library of ggml; flash: by ggml_flash_attn_ext."""

    def __init__(self, library, flash):
        self._library, self._flash = library, flash

    def attention(self, case, q, k, v, bias, sink, scale, soft_cap, add_bias, **masking):
        masks.expect_no_scales(**masking)
        masks.expect_bias_after_cap(add_bias, soft_cap)
        return self._attend(case, q, k, v, scale, soft_cap, masking, bias, sink)

    def attention_scores(self, case, q, k, scale):
        self._check(case)
        with self._library.graph(2 * q.size + k.size) as graph:
            scores = graph.mul_mat(graph.tensor(k, case.dtypes["k"]), graph.tensor(q, "f32"))
            scores = graph.scale(scores, q.shape[3] ** -0.5 if scale is None else scale)
            return graph.values(scores if case.dtype == "f32" else graph.cast(scores, case.dtype))

    @staticmethod
    def _check(case):
        if case.dtype not in ("f32", "f16", "bf16"):
            raise Unsupported(f"ggml has no attention in {case.dtype}")

    def _attend(self, case, q, k, v, scale, soft_cap, masking, bias, sink):
        self._check(case)
        see = masks.visible(q.shape[0], q.shape[2], k.shape[2], **masking)
        if not self._flash:
            masks.expect_no_zeros(see, masking["empty_rows"])
        mask = masks.additive(see, bias)
        scale = q.shape[3] ** -0.5 if scale is None else scale
        with self._library.graph(3 * (q.size + k.size + v.size)) as graph:
            tensors = (graph.tensor(q, "f32"), graph.tensor(k, case.dtypes["k"]),
                       graph.tensor(v, case.dtypes["v"]))  # fmt: skip
            sink = None if sink is None else graph.tensor(sink, "f32")
            if self._flash:
                y = self._flashed(graph, tensors, mask, scale, soft_cap, sink)
            else:
                y = self._plain(graph, tensors, mask, scale, soft_cap, sink)
            y = graph.values(y if case.dtype == "f32" else graph.cast(y, case.dtype))
            return {"y": y.transpose(0, 2, 1, 3) if self._flash else y}

    @staticmethod
    def _flashed(graph, tensors, mask, scale, soft_cap, sink):
        if mask is not None:
            with np.errstate(over="ignore"):
                narrow = mask.astype(np.float16)
            if (narrow != mask).any():
                raise Unsupported("the mask of ggml_flash_attn_ext is f16; the bias is not exact in it")
            mask = graph.tensor(narrow, "f16")
        y = graph.flash_attn_ext(*tensors, mask, scale, 0.0, soft_cap or 0.0)
        graph.modify("flash_attn_ext_set_prec", y, PRECISION_F32)
        return y if sink is None else graph.modify("flash_attn_ext_add_sinks", y, sink)

    @staticmethod
    def _plain(graph, tensors, mask, scale, soft_cap, sink):
        q, k, v = tensors
        scores = graph.modify("mul_mat_set_prec", graph.mul_mat(k, q), PRECISION_F32)
        if soft_cap:
            scores = graph.scale(graph.tanh(graph.scale(scores, scale / soft_cap)), soft_cap)
            scale = 1.0
        mask = None if mask is None else graph.tensor(mask, "f32")
        weights = graph.soft_max_ext(scores, mask, scale, 0.0)
        if sink is not None:
            graph.modify("soft_max_add_sinks", weights, sink)
        return graph.mul_mat(graph.cont(graph.transpose(v)), weights)
