"""The rotary operations of ggml: ggml_rope_ext, ggml_rope_multi and their backward operations."""

import ctypes

import numpy as np

import rotary
from sextant_adapter import Unsupported

NORMAL, NEOX, MROPE, VISION, IMROPE = 0, 2, 8, 24, 40  # GGML_ROPE_TYPE_*
MODES = {"interleaved": NORMAL, "half": NEOX}


def _tokens(x):
    """[B,H,S,D] as ggml has it in one ubatch: [B*S,H,D]."""
    return x.transpose(0, 2, 1, 3).reshape(-1, x.shape[1], x.shape[3])


def _heads(tokens, like):
    B, H, S, D = like.shape
    return tokens.reshape(B, S, H, D).transpose(0, 2, 1, 3)


def _positions(position):
    """i32 tokens in one list; ggml has no other positions."""
    if position.size and np.abs(position).max() >= 2**31:
        raise Unsupported("ggml has positions of 32 bits")
    if (position != np.floor(position)).any():
        raise Unsupported("ggml has integer positions")
    return np.ravel(position).astype(np.int32)


class Rope:
    """The operations with a library of ggml."""

    def __init__(self, library):
        self._library = library

    def rope(self, case, x, position, pairing, base, scaling, seq_len, offset, direction, R):
        given = rotary.rotary(self._library, base, scaling, seq_len, R)
        return self._rotated(case.dtypes["x"], x, _positions(position), MODES[pairing], given,
                             offset, direction, R)  # fmt: skip

    def rope_complex(self, case, x, position, base, scaling, seq_len, offset, direction, R):
        return self.rope(case, x, position, "interleaved", base, scaling, seq_len, offset,
                         direction, R)  # fmt: skip

    def rope_shift(self, case, k, delta, pairing, base, scaling, seq_len, offset, direction, R):
        """The shift of llama.cpp's cache: no amplitude."""
        given = rotary.rotary(self._library, base, scaling, seq_len, R)
        given.amplitude = 1.0
        if given.ext:
            given.amplitude /= 1 + 0.1 * np.log(1 / given.scale)
        position = np.repeat(delta, k.shape[2])
        return self._rotated(case.dtypes["k"], k, _positions(position), MODES[pairing], given,
                             offset, direction, R)  # fmt: skip

    def rope_sections(self, case, x, position, sections, order, pairing, base, scaling, seq_len,
                      offset, direction, A, R):  # fmt: skip
        """Four position axes; llama.cpp gives 0 for the axes that a model does not have."""
        mode = {"contiguous": MROPE, "interleaved": IMROPE}.get(order)
        if mode is None or pairing != "half" or A > 4 or (mode == IMROPE and A != 3):
            raise Unsupported(f"sections of order {order}, pairing {pairing}, {A} axes")
        if not any(sections[:3]):
            raise Unsupported("ggml needs a section that is not empty")
        given = rotary.rotary(self._library, base, scaling, seq_len, R)
        axes = np.zeros((4, x.shape[0] * x.shape[2]), np.int32)
        axes[:A] = _positions(position.swapaxes(0, 1)).reshape(A, -1)
        sections = [*map(int, sections), 0, 0, 0][:4]
        return self._rotated(case.dtypes["x"], x, axes, mode, given, offset, direction, R, sections)

    def rope_axial(self, case, x, position, frequencies, arrangement, pairing, base, max_freq,
                   offset, direction, A, D, R):  # fmt: skip
        """The rotation of Qwen2-VL's image encoder."""
        kind = (frequencies, arrangement, pairing, A, offset, R)
        if kind != ("lang", "halves", "half", 2, 0, D):
            raise Unsupported("ggml has only the axial rotation of Qwen2-VL's image encoder")
        rows = _positions(position.swapaxes(0, 1)).reshape(2, -1)
        return self._rotated(case.dtypes["x"], x, np.concatenate((rows, rows)), VISION,
                             rotary.Rotary(base), 0, direction, D // 2, [D // 4] * 4)  # fmt: skip

    def _rotated(self, dtype, x, positions, mode, given, offset, direction, R, sections=None):
        if dtype not in ("f32", "f16"):
            raise Unsupported(f"ggml_rope has no {dtype}")
        if offset % 2 or R == 0 or x.shape[3] % 2:
            raise Unsupported("ggml_rope rotates an even offset, an even head and at least a pair")
        back = "_back" if direction == "transpose" else ""
        with self._library.graph(x.size) as graph:
            factors = given.factors and graph.tensor(given.factors, "f32")
            operands = (graph.tensor(_tokens(x), dtype), graph.tensor(np.ravel(positions), "i32"), factors)
            if sections is None:
                y = getattr(graph, "rope_ext" + back)(
                    *operands, R, mode, given.context, *given.floats())  # fmt: skip
            else:
                y = getattr(graph, "rope_multi" + back)(
                    *operands, R, (ctypes.c_int * 4)(*sections), mode, given.context,
                    *given.floats())  # fmt: skip
            if offset:
                y = graph.modify("rope_set_offset", y, offset)
            return _heads(graph.values(y), x)
