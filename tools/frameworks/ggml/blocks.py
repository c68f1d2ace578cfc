"""Numbers in blocks of codes and a scale: the types Q8_0, MXFP4 and NVFP4 of ggml."""

import numpy as np

import serving
from library import BLOCKS
from sextant_adapter import Unsupported, _bits_of

TYPES = {("i8", "f16"): "q8_0", ("f4_e2m1", "e8m0"): "mxfp4", ("f4_e2m1", "f8_e4m3fn"): "nvfp4"}
SIZES = {"q8_0": 32, "mxfp4": 32, "nvfp4": 16}  # of the numbers of a scale
SCALE_RULES = {"q8_0": "quotient", "mxfp4": "floor", "nvfp4": "quotient"}
WITHOUT_AVX = ("x64", "sse42")


def _type(codes, scale, shape):
    """The type of ggml with these dtypes, for blocks [N,A,G,M]."""
    name = TYPES.get((codes, scale))
    if name is None:
        raise Unsupported(f"no type of ggml has {codes} with a scale of {scale}")
    if shape[1] != 1 or shape[3] != SIZES[name] or name == "nvfp4" and shape[2] % 4:
        raise Unsupported(f"a block of {name} is {SIZES[name]} numbers of a row, with nvfp4 four times")
    return name


def _bytes(nibbles):
    """Patterns of 4 bits [..., numbers of a scale], the first half in the low bits."""
    low, high = np.split(nibbles, 2, -1)
    return (low | high << 4).astype(np.uint8)


def _nibbles(data):
    return np.concatenate([data & 15, data >> 4], -1)


class Blocks:
    """The conversions of a CPU library, by the operation `cast`, or those that write files."""

    def __init__(self, library, files):
        self._library, self._files = library, files

    def quantize(self, case, x, limit, least, scale_rule, ties, codes_by):
        serving.expect_inputs(case, "x")
        name = _type(case.outputs["codes"]["dtype"], case.outputs["scale"]["dtype"], x.shape)
        if name != "q8_0" and not self._files:
            raise Unsupported("llama.cpp quantizes nothing but files to 4 bits of a float")
        own = self._rules(name)
        if (scale_rule, ties, codes_by) != own or limit or least or case.dtype == "f64":
            raise Unsupported(f"{name} has {' '.join(own)}, no limit, no least scale, and is of f32")
        rows = x.reshape(len(x), -1)
        if self._files:
            blocks = self._library.file_blocks(rows, name)
        else:
            with self._library.graph(x.size) as graph:
                blocks = graph.values(graph.cast(graph.tensor(rows, "f32"), name))
        codes = blocks["codes"]
        if name != "q8_0":
            codes = _nibbles(codes.reshape(*x.shape[:3], -1))
        return {"scale": blocks["scale"].reshape(len(x), -1), "codes": codes.reshape(x.shape)}

    def _rules(self, name):
        """How ggml computes scales, rounds ties, and by which scale it computes codes. Of ties
        between numbers of 4 bits it takes the smaller one, which no rule says."""
        if name != "q8_0":
            return SCALE_RULES[name], "even", "stored"
        is_reference = self._files or self._library.cpu_name in WITHOUT_AVX
        return SCALE_RULES[name], "away" if is_reference else "even", "unrounded"

    def dequantize(self, case, codes, scale):
        serving.expect_inputs(case, "codes", "scale")
        name = _type(case.dtypes["codes"], case.dtypes["scale"], codes.shape)
        if case.dtype == "f64":
            raise Unsupported("ggml dequantizes to f32")
        if name != "q8_0":
            codes = _bytes(_bits_of(codes, "f4_e2m1"))
            scale = _bits_of(scale, case.dtypes["scale"])
        size, block = BLOCKS[name]
        blocks = np.empty((len(scale), case.tensors["codes"][0].size // size), block)
        blocks["scale"] = scale.reshape(blocks["scale"].shape)
        blocks["codes"] = codes.reshape(blocks["codes"].shape)
        with self._library.graph(case.tensors["codes"].size) as graph:
            y = graph.cast(graph.tensor(blocks, name), "f32")
            y = y if case.dtype == "f32" else graph.cast(y, case.dtype)
            return graph.values(y).reshape(*scale.shape, -1)[:, None]
