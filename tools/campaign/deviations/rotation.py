"""Deviations of rotations: positions, frequencies, scalings, amplitudes, layout and rows."""

from functools import partial

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add
ALL = "rope rope_sections xpos"
PAIRS = "near inter inter_bf16 far sections xpos xpos_key"
PI = EXACT("3.14159265358979323846264338327950288")
# Words that fair sentences have.
PRECISION = r"bf16|round|bits|precision|truncat|\bcut\b|quanti|grid|multiple"
TOKENS = (r"another|other token|chunk|block|tile|order|permut|exchang|moved|act as|offset|shift"
          r"|restart|reset|repeat|stale|modulo|wrap|quarter")
SCALING = r"scal|factor|ramp|limit|context|original|beta|yarn|llama3|frequenc|period|wavelen|\bpi\b"


def token(q):
    return np.arange(q.S)[:, None]


# Positions.
p = partial(one, "rope", "position")
p("clamped_999", "position_clamped", lambda p, q: np.minimum(p, 999), "far far_bf16 medium",
  limit=999)
p("wrapped_511", "position_wrapped", lambda p, q: p % 511, "far far_bf16 llama3", limit=511)
p("mantissa_of_16", "position_rounded", lambda p, q: np.round(p / 16) * 16, "inter far")
p("absolute", "position_absolute", lambda p, q: np.abs(p), "negative")
p("from_first_token", "position_relative", lambda p, q: p - p[:, :, :1], "inter medium",
  listed="positions_counted_from_zero")
p("padding_counted", "position_of_batch",
  lambda p, q: p + np.array([0, 5, 11])[:q.B, None, None, None], "batch")
p("head_added", "position_is_head", lambda p, q: p + np.arange(q.H)[None, :, None, None],
  "near inter_bf16")
# ChunkKV, H2O: the offset is the number of rows that are kept.
p("one_of_4_evicted", "position_of_token", lambda p, q: p - token(q) // 4,
  "near inter inter_bf16 medium", words="token|position")
one("rope xpos", "position", "constant_7", "position_constant", lambda p, q: 0 * p + 7,
    "near inter xpos", value=7)
one("xpos", "position", "blocks_of_4", "position_rounded", lambda p, q: p // 4 * 4,
    "near inter far_bf16 xpos")
one(ALL, "position", "thirds", "position_scaled", lambda p, q: p / 3,
    "near inter far sections xpos", ratio=1 / 3)
one("rope_sections xpos", "position", "offset_17", "position_offset", lambda p, q: p + 17,
    "near inter batch sections xpos far_bf16", shift=17)
one("rope_sections xpos", "position", "clamped_100", "position_clamped",
    lambda p, q: np.minimum(p, 100), "sections xpos near", limit=100)
one("rope_sections xpos", "position", "wrapped_64", "position_wrapped", lambda p, q: p % 64,
    "sections xpos xpos_bf16", limit=64)
p = partial(shown, "rope", "position")
# NeMo Automodel: a slice of the table instead of rows by id.
p("contiguous_from_first", "position_is_index", lambda p, q: p[:, :, :1] + token(q),
  "inter inter_bf16 batch",
  words=r"index|slot|place|count|first|consecutive|contiguous|start|0, 1, 2|sequence|one by one")
# rotary-embedding-torch: the key of the cache is the length of a chunk without its offset.
p("cached_chunk_of_12", "position_restarts", lambda p, q: p[:, :, np.arange(q.S) % 12],
  "near inter medium", words=rf"{TOKENS}|\b12\b")
# Megatron-LM: the chunks of a context-parallel group, joined in the order of the ranks.
p("chunks_in_zigzag", "position_of_token",
  lambda p, q: p[:, :, np.arange(q.S).reshape(4, -1)[[0, 3, 1, 2]].ravel()], "near inter medium",
  words=rf"{TOKENS}|zig")
# llama.cpp: a context shift discards 255 tokens after the 4 that are kept; keys shift too early.
p("shifted_by_255_after_4", "position_offset", lambda p, q: np.where(p < 259, p, p - 255),
  "far inter llama3 far_bf16", shift=255,
  words=r"offset|shift|less|early|subtract|above|beyond|from|after|minus|added")
# candle's qwen2: positions, frequencies, and their product are in bf16.
shown("rope", "angle", "phases_in_bf16", "position_rounded", lambda a, q: in_bf16(
    in_bf16(q.seen["position"]) * in_bf16(q.seen["frequency"])), "inter far f64", words=PRECISION)
# Own reduction of large angles, by a turn of five digits.
shown("rope", "angle", "turn_of_6.2832", "frequency_ratio",
      lambda a, q: a - np.floor(a / EXACT("6.2832")) * EXACT("6.2832"), "far llama3 yarn",
      words=r"\bpi\b|6\.28|reduc|frequenc|ratio|turn|angle|precision|modulo|wrap|period")


def in_bf16(values):
    return rounded("bf16")(values, None)


# Frequencies.
f = partial(one, "rope", "frequency")
f("pairs_over_half_head", "frequency_order", lambda f, q: np.concatenate((f[::2], f[::2])),
  "near inter")
f("lower_half_still", "frequency_plateau",
  lambda f, q: np.where(np.arange(len(f)) < len(f) // 2, 0, f), "near inter inter_bf16")
f("pair_5_times_1.25", "frequency_of_pair",
  lambda f, q: np.where(np.arange(len(f)) == 5, f * EXACT(1.25), f), "near inter inter_bf16")
f("scaled_by_length_ratio", "frequency_ratio", lambda f, q: f / EXACT("2.5"), "inter far",
  ratio=0.4)
f("ramp_to_a_quarter", "frequency_ramp",
  lambda f, q: f * np.linspace(1, 0.25, len(f)).astype(EXACT), "near inter far_bf16")
one("rope xpos", "frequency", "first_for_all", "frequency_one", lambda f, q: 0 * f + f[0],
    "near inter xpos")
one("rope_sections", "frequency", "frequencies_reversed", "frequency_order", lambda f, q: f[::-1],
    "near inter sections")
one("rope_sections xpos", "frequency", "times_0.7", "frequency_ratio", lambda f, q: f * EXACT(0.7),
    "near inter f64 sections xpos_bf16", ratio=0.7)
add(ALL, "base_12345", "base", changed(base=12345),
    "near f64 inter inter_bf16 sections xpos xpos_bf16", base=12345)
one("rope rope_sections", "width", "width_16", "exponent_width", lambda w, q: w + 16,
    "near inter partial f64 sections")
one("rope xpos", "index", "index_-3", "exponent_shift", lambda k, q: k + EXACT(-3),
    "near inter far_bf16 xpos")
one("rope rope_sections", "exponent", "exponent_halved", "exponent_scaled", lambda e, q: e / 2,
    "near inter sections", listed="exponent_without_two")
# litgpt's tests: Llama 3's base without a zero.
add("rope", "base_50000", "base", changed(base=50000), "llama3 inter inter_bf16", shown=True,
    base=50000)
# mlx-lm's internlm3: the base is grown although the type is linear.
shown("rope", "base", "base_grown_too", "base",
      lambda b, q: b * EXACT(8) ** (EXACT(q.R) / (q.R - 2)), "linear",
      base=lambda q: [1e4 * 8 ** (q.R / (q.R - 2)), 8 ** (q.R / (q.R - 2))],
      words=r"base|ntk|exponent")
one("rope", "cos_table", "half_table_of_cos", "frequency_order",
    lambda t, q: np.concatenate((t[..., :q.R // 4], t[..., :q.R // 4]), -1), "near inter",
    words="cos|channel|pair|frequenc")
one("rope", "sin_table", "sin_of_next_token", "position_of_token",
    lambda t, q: np.sin((q.seen["position"] + 1) * q.seen["frequency"]), "near inter",
    words="sin|position|angle")

# Scalings.
add("rope", "beta_fast_24", "scaling", changed(scaling__beta_fast=24), "yarn yarn_bf16", value=24)
one("rope", "ramp", "ramp_inverted", "scaling", lambda r, q: 1 - r, "llama3 yarn yarn_bf16")
one("rope", "is_long", "short_list", "scaling", lambda is_long, q: False, "longrope",
    listed="longrope_always_short longrope_lists_swapped")
shown("rope", "turns", "pi_of_3.14", "scaling", lambda t, q: t * PI / EXACT("3.14"), "llama3",
      words=SCALING)


def blended_by_periods(f, q):
    """mlx-examples: periods are blended where frequencies are meant."""
    divided = q.seen["ramp"] if q.scaling["type"] == "yarn" else 1 - q.seen["ramp"]
    return q.seen["plain"] / (divided * EXACT(q.scaling["factor"]) + 1 - divided)


shown("rope rope_frequencies", "frequency", "blended_by_periods", "scaling", blended_by_periods,
      "llama3 yarn yarn_bf16", words=rf"{SCALING}|blend")

# Amplitudes.
one("rope_sections xpos", "amplitude", "gain_1.1", "amplitude", lambda a, q: a * EXACT(1.1),
    "near inter yarn sections xpos", gain=1.1)
# YaRN's paper gives sqrt(1/t), and t is taken for it.
shown("rope rope_cos_sin", "amplitude", "amplitude_of_misread_t", "amplitude",
      lambda a, q: 1 / np.sqrt(a), "yarn yarn_bf16")
for side in ("cos", "sin"):
    one("rope", f"{side}_table", f"{side}_times_1.2", "amplitude_one_side",
        lambda t, q: t * EXACT("1.2"), "near inter inter_bf16", gain=1.2)

# Layout: which channels are pairs, and what a rotation does to them.
one(ALL, "pairs", "pairs_next_second", "pairing", lambda p, q: (p[0], np.roll(p[1], -1)), PAIRS)
add("rope xpos", "pairing_interleaved", "pairing", changed(pairing="interleaved"),
    "near far sections xpos", listed="pairing=interleaved")
one("rope", "pairs", "window_at_8", "channel_window",
    lambda p, q: (p[0] - q.offset + 8, p[1] - q.offset + 8), "window", offset=8)
# sglang: a width that is no power of 2 is rotated up to the next one.
add("rope", "width_up_to_power_of_2", "channel_window", changed(R=32), "window", shown=True,
    words=r"width|\bR\b|channel|pair|partner|window|rest|outside|power|\b32\b")


def rotated(operations, name, kind, function, **rest):
    """function(a, b, cos, sin) -> the two channels of each pair."""
    one(operations, "rotated", name, kind, lambda new, q: function(
        *q.seen["operands"], q.seen["cos_table"], q.seen["sin_table"]), PAIRS, **rest)


rotated(ALL, "sin_negated", "direction", lambda a, b, c, s: (a * c + b * s, b * c - a * s),
        listed="rotates_backwards direction=transpose")
rotated("rope xpos", "second_subtracted", "sign", lambda a, b, c, s: (a * c - b * s, b * c - a * s))
rotated("rope rope_sections", "cos_sin_swapped", "cos_and_sin",
        lambda a, b, c, s: (a * s - b * c, a * c + b * s), listed="cos_and_sin_swapped")
rotated("rope xpos", "hazard", "hazard",
        lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c),
        listed="overwrites_its_input")
rotated("rope", "next_table_for_second", "frequency_order", lambda a, b, c, s: (
    a * c - b * s, a * np.roll(s, -1, -1) + b * np.roll(c, -1, -1)))
one(ALL, "rotated", "first_pair_still", "pairs_still", lambda new, q: tuple(np.where(
    np.arange(q.R // 2) == 0, o, n) for o, n in zip(q.seen["operands"], new)), PAIRS, count=1)
# tt-metal: the -1 of "rotate half" is decoded in another format.
shown("rope", "rotated", "minus_one_as_minus_half", "term_missing", lambda new, q: (
    q.seen["operands"][0] * q.seen["cos_table"] - q.seen["operands"][1] * q.seen["sin_table"] / 2,
    new[1]), "near inter_bf16 far",
      words=r"\bsin|first|half|0\.5|1/2|term|minus|missing|partner|factor|twice")
# Rows.
one("rope", "output", "heads_0_and_1_exchanged", "order",
    lambda y, q: y[:, [1, 0, *range(2, q.H)]], "near inter far")
one("rope", "output", "batch_of_other", "rows_moved", lambda y, q: np.roll(y, 1, 0), "batch")
one("rope", "output", "tokens_of_last_block_still", "rows_still",
    lambda y, q: np.where((np.arange(q.S) >= q.S // 16 * 16)[:, None], q.x, y),
    "near inter_bf16 partial")
one("rope", "output", "output_times_1.5", "factor", lambda y, q: y * EXACT("1.5"), "near inter",
    ratio=1.5)
# MLX: of one token in several batches only the first batch is written.
shown("rope", "output", "first_batch_written", "rows_zero",
      lambda y, q: np.where(np.arange(q.B)[:, None, None, None] >= 1, 0, y), "batch",
      words=r"zero|unwritten|missing|lost|is 0|not (computed|written)|batch")
# llama.cpp's Vulkan: a partial rotation of a view; the rest is copied without the row's stride.
shown("rope", "output", "rest_of_token_0", "rest",
      lambda y, q: np.where(np.arange(q.D) < q.R, y, q.x[:, :, :1]), "partial",
      words=r"rest|outside|channel|token|first|same|copied|\bD \d+")
