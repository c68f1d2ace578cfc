"""Deviations of rotations: positions, frequencies, amplitude, layout, rows. The catalogue of real
bugs has most of them (B01 to B84); the constants are mostly in no list."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
ALL = "rope rope_sections xpos"
TOKENS = "far far_bf16 sections xpos"
WIDE = "inter inter_bf16 far dealt xpos_bf16"


def position(name, kind, change, cases, operations="rope", **rest):
    TABLE.add(operations, name, kind, {"position": change}, cases, **rest)


def by_token(function):
    """function(positions, tokens): `tokens` are the places 0, 1, 2 ... of the sequence."""
    return lambda p, q: function(p, np.arange(q.S)[:, None])


def token_of(place):
    """The position of another token: place(s, S)."""
    return lambda p, q: p[:, :, place(np.arange(q.S), q.S)]


def to_bits(p, bits):
    """Cut, not rounded, to so many significant bits."""
    mantissa, exponent = np.frexp(p.astype(np.float64))
    return np.ldexp(np.trunc(np.ldexp(mantissa, bits)), exponent - bits).astype(EXACT)


for limit in (32767, 4095, 999):
    position(f"clamped_{limit}", "position_clamped", lambda p, q, m=limit: np.minimum(p, m),
             "far far_bf16 medium", limit=limit)
position("clamped_100", "position_clamped", lambda p, q: np.minimum(p, 100), "sections xpos near",
         "rope_sections xpos", limit=100)
for period in (1000, 4096, 8192, 511):
    position(f"wrapped_{period}", "position_wrapped", lambda p, q, m=period: p % m,
             "far far_bf16 llama3", limit=period)
position("wrapped_64", "position_wrapped", lambda p, q: p % 64, "sections xpos xpos_bf16",
         "rope_sections xpos", limit=64)
for shift in (2, -3, 17, 1):
    position(f"offset_{shift}", "position_offset", lambda p, q, c=shift: p + c,
             "near inter batch sections xpos far_bf16", ALL,
             listed="position_off_by_one" if shift == 1 else "", shift=shift)
position("offset_from_token_8", "position_offset", by_token(lambda p, s: p + (s >= 8)),
         "near inter far", shift=1)
position("offset_of_cache", "position_offset", by_token(lambda p, s: p - 5 * (s >= 12)),
         "near inter far_bf16", shift=5)
position("thirds", "position_scaled", lambda p, q: p / 3, "near inter far sections xpos", ALL,
         ratio=1 / 3)
position("doubled", "position_scaled", lambda p, q: 2 * p, "near inter far sections",
         "rope rope_sections", listed="rotates_twice", ratio=2)
position("tripled", "position_scaled", lambda p, q: 3 * p, "near inter sections xpos", ALL, ratio=3)
position("cut_to_8_bits", "position_rounded", lambda p, q: to_bits(p, 8), "far far_bf16 medium")
position("cut_to_11_bits", "position_rounded", lambda p, q: to_bits(p, 11), "far llama3")
position("blocks_of_4", "position_rounded", lambda p, q: p // 4 * 4, "near inter far_bf16 xpos",
         "rope xpos")
position("blocks_of_16", "position_rounded", lambda p, q: p // 16 * 16, "near inter far")
position("int16", "position_wrapped", lambda p, q: (p + 32768) % 65536 - 32768, "far far_bf16",
         limit=65536)
position("uint8", "position_wrapped", lambda p, q: p % 256, "far inter", limit=256)
position("absolute", "position_absolute", lambda p, q: np.abs(p), "negative")
position("negative_to_zero", "position_clamped", lambda p, q: np.maximum(p, 0), "negative",
         listed="negative_position_clamped", limit=0)
position("negative_to_minus_20", "position_clamped", lambda p, q: np.maximum(p, -20), "negative",
         limit=-20)
position("index", "position_is_index", by_token(lambda p, s: s + 0 * p), "inter far batch medium")
position("index_within_16", "position_is_index", by_token(lambda p, s: s % 16 + 0 * p),
         "near inter medium")
position("from_first_token", "position_relative", lambda p, q: p - p[:, :, :1],
         "inter medium", listed="positions_counted_from_zero")
position("zero", "position_constant", lambda p, q: 0 * p, "near inter sections xpos", ALL,
         listed="position_zero", value=0)
position("constant_7", "position_constant", lambda p, q: 0 * p + 7, "near inter xpos", "rope xpos",
         value=7)
position("first_token", "position_of_token", token_of(lambda s, n: 0 * s), "inter far medium",
         listed="position_of_first_token", words="first")
position("last_token", "position_of_token", token_of(lambda s, n: 0 * s + n - 1), "inter medium",
         words="last")
position("token_before", "position_of_token", token_of(lambda s, n: np.maximum(s - 1, 0)),
         "inter far inter_bf16", words="before|previous|earlier|- 1")
position("token_after", "position_of_token", token_of(lambda s, n: np.minimum(s + 1, n - 1)),
         "inter far inter_bf16", words=r"after|next|later|\+ 1")
position("reversed", "position_of_token", token_of(lambda s, n: n - 1 - s), "inter batch",
         words="revers")
position("even_token", "position_of_token", token_of(lambda s, n: s // 2 * 2), "inter far",
         words="even|two|each 2|before|neighbo|block")
position("first_batch", "position_of_batch", lambda p, q: p[:1] + 0 * p, "batch",
         listed="positions_of_first_batch")
position("last_batch", "position_of_batch", lambda p, q: p[-1:] + 0 * p, "batch")
position("next_batch", "position_of_batch", lambda p, q: np.roll(p, -1, 0), "batch")
position("restarts_at_12", "position_restarts",
         by_token(lambda p, s: np.where(s < 12, p, p - p[:, :, 12:13])), "near inter medium",
         token=12)
position("zero_from_20", "position_constant", by_token(lambda p, s: np.where(s < 20, p, 0)),
         "near inter medium", value=0)
position("by_head", "position_is_head",
         lambda p, q: np.arange(q.H)[None, :, None, None] + 0 * p, "near inter batch",
         listed="indexed_by_head")
position("head_added", "position_is_head",
         lambda p, q: p + np.arange(q.H)[None, :, None, None], "near inter_bf16")

for name, change in {
    "first_axis": lambda a, q: 0 * a,
    "second_axis": lambda a, q: 0 * a + 1,
    "last_two_exchanged": lambda a, q: np.array([0, 2, 1])[a],
    "first_two_exchanged": lambda a, q: np.array([1, 0, 2])[a],
    "reversed": lambda a, q: 2 - a,
    "by_turns": lambda a, q: np.arange(len(a)) % 3,
    "equal_sections": lambda a, q: np.arange(len(a)) * 3 // len(a),
    "section_8_16_8": lambda a, q: np.repeat([0, 1, 2], [8, 16, 8]),
    "last_4_pairs_of_time": lambda a, q: np.where(np.arange(len(a)) >= 28, 0, a),
    "first_pair_of_rows": lambda a, q: np.where(np.arange(len(a)) < 3, 1, a),
}.items():
    listed = {"first_axis": "first_axis_for_all", "last_two_exchanged": "last_axes_swapped",
              "reversed": "sections_reversed"}.get(name, "")
    TABLE.add("rope_sections", f"axis_{name}", "axis", {"axis": change}, "sections dealt",
              listed=listed)


def frequency(name, kind, change, cases, stage="frequency", operations="rope", **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def pairs(choose, factor):
    """Multiplies the frequencies of the pairs k for which choose(k, count)."""
    return lambda f, q: np.where(choose(np.arange(len(f)), len(f)), f * EXACT(factor), f)


for base in (12345, 1000, 1000000, 9999, 40000):
    TABLE.add(ALL, f"base_{base}", "base", changed(base=base), "near f64 inter inter_bf16 sections"
              " xpos xpos_bf16", base=base)
TABLE.add("rope", "base_10000", "base", changed(base=10000), "inter inter_bf16 llama3",
          listed="base=10000", base=10000)
for width in (-2, 2, 16):
    frequency(f"width_{width}", "exponent_width", lambda w, q, d=width: w + d,
              "near inter partial f64 sections", "width", "rope rope_sections")
TABLE.add("rope", "width_of_head", "exponent_width", {"width": lambda w, q: EXACT(q.D)},
          "partial window", listed="exponent_over_head_width")
for step, listed in ((1, "exponent_shifted_up"), (-1, "exponent_shifted_down"),
                     (0.5, "exponent_odd"), (2, ""), (-3, ""), (0.25, "")):
    frequency(f"index_{step}", "exponent_shift", lambda k, q, d=step: k + EXACT(d),
              "near inter far_bf16 xpos", "index", "rope xpos", listed=listed)
frequency("exponent_halved", "exponent_scaled", lambda e, q: e / 2, "near inter sections",
          "exponent", "rope rope_sections", listed="exponent_without_two")
frequency("exponent_three_halves", "exponent_scaled", lambda e, q: 3 * e / 2, "near inter f64",
          "exponent")
frequency("exponent_negative", "exponent_scaled", lambda e, q: -e, "near", "exponent",
          listed="exponent_positive")
frequency("frequencies_reversed", "frequency_order", lambda f, q: f[::-1],
          "near inter sections", "frequency", "rope rope_sections")
frequency("rolled_3", "frequency_order", lambda f, q: np.roll(f, 3), "near inter inter_bf16")
frequency("next", "frequency_order", lambda f, q: np.append(f[1:], f[-1]), "near inter")
frequency("neighbours_exchanged", "frequency_order",
          lambda f, q: f.reshape(-1, 2)[:, ::-1].ravel(), "near inter far_bf16")
frequency("shared_by_two", "frequency_order", lambda f, q: np.repeat(f[::2], 2), "near inter")
frequency("first_for_all", "frequency_one", lambda f, q: 0 * f + f[0], "near inter xpos",
          "frequency", "rope xpos")
for ratio in (1.5, 0.7, 6.283185307179586, 1.01):
    frequency(f"times_{ratio:.4g}", "frequency_ratio", lambda f, q, r=ratio: f * EXACT(r),
              "near inter f64 sections xpos_bf16", "frequency", ALL, ratio=ratio)
for name, choose, factor in (
    ("upper_eighth", lambda k, n: k >= 20, 0.125), ("upper_third", lambda k, n: k >= 11, 1 / 3),
    ("lower_double", lambda k, n: k < 9, 2), ("middle_half", lambda k, n: (k > 5) & (k < 13), 0.5),
    ("upper_still", lambda k, n: k >= 13, 0), ("upper_fifth_faster", lambda k, n: k >= 10, 5)):
    frequency(f"pairs_{name}", "frequency_plateau", pairs(choose, factor), "inter inter_bf16 far",
              ratio=factor)
for pair, factor in ((5, 1.25), (0, 0.5), (9, 0), (3, -1)):
    frequency(f"pair_{pair}_times_{factor}", "frequency_of_pair",
              pairs(lambda k, n, p=pair: k == p, factor), "near inter inter_bf16")
frequency("ramp_to_a_quarter", "frequency_ramp",
          lambda f, q: f * np.linspace(1, 0.25, len(f)).astype(EXACT), "near inter far_bf16")
frequency("llama3_on_plain", "scaling",
          lambda f, q: np.where(f < 0.005, f / 8, f), "inter inter_bf16 far")

for words, cases, listed in (
    (dict(scaling__factor=16), "llama3 llama3_bf16", ""),
    (dict(scaling__factor=5), "llama3 linear", ""),
    (dict(scaling__low_freq_factor=2), "llama3 llama3_bf16", ""),
    (dict(scaling__high_freq_factor=8), "llama3 llama3_bf16", ""),
    (dict(scaling__high_freq_factor=3), "llama3", ""),
    (dict(scaling__original_max_position_embeddings=2048), "llama3 yarn llama3_bf16", ""),
    (dict(scaling__original_max_position_embeddings=5000), "llama3 yarn", ""),
    (dict(scaling__beta_fast=24), "yarn yarn_bf16", ""),
    (dict(scaling__beta_slow=3), "yarn yarn_bf16", ""),
    (dict(scaling__factor=6), "yarn yarn_bf16", ""),
    (dict(scaling__truncate=False), "yarn", "yarn_truncate_flipped"),
    (dict(scaling__truncate=True), "yarn_bf16", "yarn_truncate_flipped scaling.yarn.truncate=true"),
    (dict(scaling={"type": "none"}), "llama3 yarn linear longrope", "scaling=none"),
    (dict(scaling={"type": "linear", "factor": 4}), "yarn inter", "yarn_divides_all"),
):
    name = "_".join(str(v if not isinstance(v, dict) else v["type"]) for v in words.values())
    key = next(iter(words)).removeprefix("scaling__")
    value = next(iter(words.values()))
    figures = {"value": value} if isinstance(value, int) and not isinstance(value, bool) else {}
    TABLE.add("rope", f"{key}_{name}", "scaling", changed(**words), cases, listed=listed, **figures)
frequency("ramp_squared", "scaling", lambda r, q: r * r, "llama3 yarn llama3_bf16", "ramp")
frequency("ramp_smooth", "scaling", lambda r, q: r * r * (3 - 2 * r), "llama3 yarn", "ramp")
frequency("limits_half_up", "scaling", lambda lim, q: (lim[0] + 4, lim[1] + 4), "yarn yarn_bf16",
          "limits")
frequency("turns_without_two_pi", "scaling", lambda t, q: t * EXACT(2 * np.pi), "llama3", "turns",
          listed="llama3_without_two_pi")
frequency("short_list", "scaling", lambda is_long, q: False, "longrope", "is_long",
          listed="longrope_always_short longrope_lists_swapped")

for gain in (1.1, 0.5, 1.25):
    TABLE.add(ALL, f"gain_{gain}", "amplitude", {"amplitude": lambda a, q, g=gain: a * EXACT(g)},
              "near inter yarn sections xpos", gain=gain)
TABLE.add("rope", "amplitude_squared", "amplitude", {"amplitude": lambda a, q: a * a},
          "yarn yarn_bf16", listed="yarn_amplitude_twice")
TABLE.add("rope", "amplitude_missing", "amplitude", {"amplitude": lambda a, q: EXACT(1)},
          "yarn yarn_bf16 longrope", listed="yarn_amplitude_missing longrope_amplitude_missing")
TABLE.add("rope", "amplitude_of_02", "amplitude", {"amplitude": lambda a, q: 2 * a - 1},
          "yarn yarn_bf16")
TABLE.add("rope", "amplitude_of_log2", "amplitude",
          {"amplitude": lambda a, q: (a - 1) / np.log(EXACT(2)) + 1}, "yarn yarn_bf16")
for side in ("cos", "sin"):
    TABLE.add("rope", f"{side}_times_1.2", "amplitude_one_side",
              {f"{side}_table": lambda t, q: t * EXACT("1.2")}, "near inter inter_bf16", gain=1.2)
    TABLE.add("rope", f"{side}_plus_0.01", "amplitude_one_side",
              {f"{side}_table": lambda t, q: t + EXACT("0.01")}, "near inter")
