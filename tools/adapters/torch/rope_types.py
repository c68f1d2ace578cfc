"""The rope types of a configuration, as Qwen2 and similar models read them.

  initial(width, base, scaling)      (inverse frequencies [width/2], attention scaling)
  Length(width, base, scaling)       the same, as a function of the sequence length
"""

import math

import torch

from rotary_forms import inverse_frequencies
from subject import Unsupported, parameters_of


def none(width, base):
    return inverse_frequencies(width, base), 1.0


def linear(width, base, factor):
    return inverse_frequencies(width, base) / factor, 1.0


def llama3(
    width, base, factor, low_freq_factor, high_freq_factor, original_max_position_embeddings
):
    frequencies = inverse_frequencies(width, base)
    rotations = original_max_position_embeddings * frequencies / (2 * math.pi)
    kept = ((rotations - low_freq_factor) / (high_freq_factor - low_freq_factor)).clamp(0, 1)
    return (1 - kept) * frequencies / factor + kept * frequencies, 1.0


def yarn(
    width, base, factor, original_max_position_embeddings, beta_fast, beta_slow, truncate,
    attention_factor=None, ramp="index", **others,
):  # fmt: skip
    if ramp != "index" or set(others) - {"crossed"}:
        raise Unsupported(f"yarn with ramp={ramp} {others}")

    def pair_of(rotations):
        wavelength = original_max_position_embeddings / rotations
        return width * math.log(wavelength / (2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(beta_fast), pair_of(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low >= high:
        raise Unsupported("the limits of the ramp are not increasing")
    divided = ((torch.arange(width // 2).float() - low) / (high - low)).clamp(0, 1)
    frequencies = inverse_frequencies(width, base)
    if attention_factor is None:
        attention_factor = 0.1 * math.log(factor) + 1 if factor > 1 else 1.0
    return frequencies / factor * divided + frequencies * (1 - divided), attention_factor


def dynamic(width, base, factor, max_position_embeddings, length=0):
    return none(width, grown_base(width, base, factor, max_position_embeddings, length))


def grown_base(width, base, factor, max_position_embeddings, length):
    growth = factor * max(length, max_position_embeddings) / max_position_embeddings - (factor - 1)
    return base * growth ** (width / (width - 2))


def longrope(
    width, base, short_factor, long_factor, original_max_position_embeddings, factor,
    attention_factor=None, length=0, **others,
):  # fmt: skip
    if others:
        raise Unsupported(f"longrope with {others}")
    divisors = long_factor if length > original_max_position_embeddings else short_factor
    if attention_factor is None:
        growth = math.log(factor) / math.log(original_max_position_embeddings)
        attention_factor = math.sqrt(1 + growth) if factor > 1 else 1.0
    return inverse_frequencies(width, base) / torch.tensor(divisors), attention_factor


TYPES = {
    "none": none,
    "linear": linear,
    "llama3": llama3,
    "yarn": yarn,
    "dynamic": dynamic,
    "longrope": longrope,
}


def initial(width, base, scaling):
    if scaling["type"] not in TYPES:
        raise Unsupported(f"scaling {scaling['type']}")
    return TYPES[scaling["type"]](width, base, **parameters_of(scaling))


class Length:
    """Recomputes frequencies for a sequence longer than all before it. Restores the original ones
    for a sequence shorter than the trained length."""

    def __init__(self, width, base, scaling):
        self.name, self.given = scaling["type"], parameters_of(scaling)
        self.width, self.base = width, base
        self.original = initial(width, base, scaling)
        self.trained = self.given.get("max_position_embeddings", 0)
        self.longest, self.current = self.trained, self.original

    def recomputed(self, length):
        return TYPES[self.name](self.width, self.base, length=length, **self.given)

    def at(self, length):
        if self.name == "longrope":
            return self.recomputed(length)
        if self.name == "dynamic" and length > self.longest:
            self.current, self.longest = self.recomputed(length), length
        if self.name == "dynamic" and length < self.trained:
            self.current, self.longest = self.restored()
        return self.current

    def restored(self):
        return self.original, self.trained


class NeverRestored(Length):
    """Wrong: keeps the frequencies of a long sequence for shorter ones."""

    def restored(self):
        return self.current, self.longest


class Compounding(Length):
    """Wrong: grows the last base, not the original one, for every longer sequence."""

    def at(self, length):
        if self.name != "dynamic":
            raise Unsupported(f"scaling {self.name}")
        if length > self.trained:
            self.base = grown_base(self.width, self.base, length=length, **self.given)
        return none(self.width, self.base)
