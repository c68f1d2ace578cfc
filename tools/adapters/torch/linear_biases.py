"""ALiBi in several models; `python3 linear_biases.py NAME` serves one.

  Form(max_bias).slopes(heads)                               [heads], in f32
  Form(max_bias).bias(slope, query_position, key_position)   [heads,S,T], in the slopes' dtype
"""

import math

import torch

from subject import DTYPES, WIDE, Unsupported, as_tensor, serve


def power_of_two_below(heads):
    return 1 << (heads.bit_length() - 1)


class Press:
    """The code of the ALiBi authors: powers of a ratio in f64, distances from the query."""

    form = "distance"
    max_bias = 8.0

    def __init__(self, max_bias):
        if max_bias != self.max_bias:
            raise Unsupported(f"max_bias is {self.max_bias}")

    def slopes(self, heads):
        def geometric(count):
            return [2.0 ** (-8 * (h + 1) / count) for h in range(count)]

        closest = power_of_two_below(heads)
        further = geometric(2 * closest)[0::2][: heads - closest]
        return torch.tensor(geometric(closest) + further)

    def bias(self, slope, query_position, key_position):
        distance = key_position[None, :] - query_position[:, None]
        return slope[:, None, None] * self.counted(distance, slope.dtype)

    def counted(self, distance, dtype):
        return distance.to(dtype)


class Bloom(Press):
    """BLOOM: powers of a ratio in f32; key positions instead of distances (adds a row constant)."""

    form = "key"

    def slopes(self, heads):
        closest = power_of_two_below(heads)
        ratio = torch.tensor(2.0 ** -(2.0 ** -(math.log2(closest) - 3)))
        slopes = ratio ** torch.arange(1, 1 + closest)
        if closest == heads:
            return slopes
        ratio = torch.tensor(2.0 ** -(2.0 ** -(math.log2(2 * closest) - 3)))
        further = ratio ** torch.arange(1, 1 + 2 * (heads - closest), 2)
        return torch.cat((slopes, further))

    def bias(self, slope, query_position, key_position):
        key = self.counted(key_position, slope.dtype)
        return (slope[:, None, None] * key).expand(-1, len(query_position), -1)


class Mpt(Press):
    """MPT: slopes of the next power of two, odd ones first, truncated; symmetric distances."""

    form = "symmetric"

    def __init__(self, max_bias):
        self.max_bias = max_bias

    def slopes(self, heads):
        count = 1 << (heads - 1).bit_length()
        exponent = torch.arange(1, count + 1).float() * (self.max_bias / count)
        slopes = 1.0 / 2.0**exponent
        if count != heads:
            slopes = torch.cat((slopes[1::2], slopes[::2]))[:heads]
        return slopes

    def bias(self, slope, query_position, key_position):
        return -super().bias(slope, query_position, key_position).abs()


class Baichuan(Press):
    """Baichuan 13B: 40 heads; key positions, read from a stored mask."""

    form = "key"

    def bias(self, slope, query_position, key_position):
        if key_position.min() < 0 or key_position.max() >= 4096:
            raise Unsupported("the mask has columns for keys 0..4095")
        mask = slope[:, None, None] * torch.arange(4096).to(slope.dtype)
        return mask[:, :, key_position].expand(-1, len(query_position), -1)


class AnyHeadCount(Press):
    """Wrong: the formula for a power of two with any number of heads."""

    def slopes(self, heads):
        return torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)])


class TowardsFarKeys(Press):
    """Wrong: the distance is positive, so that far keys are favoured."""

    def counted(self, distance, dtype):
        return -distance.to(dtype)


class CountedInBf16(Bloom):
    """Wrong: positions are computed in the dtype of the model."""

    def counted(self, distance, dtype):
        return distance.to(torch.bfloat16).to(dtype)


def alibi_slopes(form):
    def answer(max_bias, H, dtype, **_):
        wide = DTYPES[WIDE[dtype]]
        return (form(max_bias).slopes(H) if H else torch.zeros(0)).to(wide)

    return answer


def alibi(form):
    def answer(slope, query_position, key_position, dtype, **given):
        if given["form"] != form.form:
            raise Unsupported(f"the form is {form.form}")
        positions = as_tensor(query_position), as_tensor(key_position)
        shape = len(slope), *map(len, positions)
        if 0 in shape:
            return torch.zeros(shape, dtype=DTYPES[dtype])
        return form(form.max_bias).bias(as_tensor(slope), *positions).to(DTYPES[dtype])

    return answer


def system(form):
    return {"alibi_slopes": alibi_slopes(form), "alibi": alibi(form)}


SYSTEMS = {
    "alibi_press": system(Press),
    "alibi_bloom": system(Bloom),
    "alibi_mpt": system(Mpt),
    "alibi_baichuan_13b": system(Baichuan),
    "alibi_any_head_count": system(AnyHeadCount),
    "alibi_towards_far_keys": system(TowardsFarKeys),
    "alibi_counted_in_bf16": system(CountedInBf16),
}

if __name__ == "__main__":
    serve(SYSTEMS)
