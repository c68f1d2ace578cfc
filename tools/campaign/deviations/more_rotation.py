"""More deviations of rotations and tables, shown whole."""

import numpy as np

from deviation import Table
from stages import EXACT, changed

TABLE = Table()
PI = EXACT("3.14159265358979323846264338327950288")


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def token(q):
    return np.arange(q.S)[:, None]


def token_of(place):
    return lambda p, q: p[:, :, place(np.arange(q.S), q.S)]


def nearest(p, bits):
    m, e = np.frexp(p.astype(np.float64))
    return np.ldexp(np.round(np.ldexp(m, bits)), e - bits).astype(EXACT)


# Rotations: positions.
def p(name, kind, change, cases, operations="rope", **figures):
    one(operations, "position", name, kind, change, cases, **figures)


p("clamped_2047", "position_clamped", lambda p, q: np.minimum(p, 2047), "far far_bf16 llama3",
  limit=2047)
p("clamped_below_10", "position_clamped", lambda p, q: np.maximum(p, 10), "near inter sections",
  "rope rope_sections", limit=10)
p("wrapped_2048", "position_wrapped", lambda p, q: p % 2048, "far far_bf16 yarn", limit=2048)
p("ring_after_4_sinks", "position_wrapped", lambda p, q: np.where(p < 4, p, 4 + (p - 4) % 1020),
  "far inter", limit=1020)
p("offset_-1", "position_offset", lambda p, q: p - 1, "near inter_bf16 sections xpos",
  "rope rope_sections xpos", shift=1)
p("offset_half", "position_offset", lambda p, q: p + EXACT("0.5"), "near inter sections", "rope "
  "rope_sections", shift=0.5)
p("offset_256", "position_offset", lambda p, q: p + 256, "near inter_bf16 llama3", shift=256)
p("three_quarters", "position_scaled", lambda p, q: p * EXACT("0.75"), "near inter xpos",
  "rope xpos", ratio=0.75)
p("leaky_after_512", "position_of_token", lambda p, q: np.where(p < 512, p, 512 + (p - 512) / 8),
  "far inter inter_bf16", words=r"above|beyond|over|after|from (position )?5|512|0\.125|factor=8|3584")
p("self_extend_after_256", "position_of_token",
  lambda p, q: np.where(p < 256, p, p // 8 + 224), "far inter",
  words=r"above|beyond|over|after|from (position )?2|256|block|group|multiple|round")
p("rounded_to_4_bits", "position_rounded", lambda p, q: nearest(p, 4), "far near inter_bf16")
p("blocks_of_2", "position_rounded", lambda p, q: p // 2 * 2, "near inter")
p("up_to_next_8", "position_rounded", lambda p, q: -(-p // 8) * 8, "near inter far_bf16")
p("negative_as_uint16", "position_wrapped", lambda p, q: p % 65536, "negative", limit=65536,
  )
p("index_from_1", "position_is_index", lambda p, q: token(q) + 1 + 0 * p, "inter far medium",
  words=r"index|slot|place|count|0, 1, 2|899")
p("index_over_batch", "position_is_index",
  lambda p, q: token(q) + q.S * np.arange(q.B)[:, None, None, None] + 0 * p, "batch")
p("index_within_8", "position_is_index", lambda p, q: token(q) % 8 + 0 * p, "inter inter_bf16")
p("heads_read_as_tokens", "position_is_head",
  lambda p, q: p[:, 0, ((np.arange(q.H)[:, None] * q.S + np.arange(q.S)) // q.H), 0][..., None],
  "near inter", words=r"head|token|position")
p("batch_0_and_1_exchanged", "position_of_batch", lambda p, q: p[[1, 0, 2]], "batch")
p("tokens_exchanged_in_pairs", "position_of_token", token_of(lambda s, n: s ^ 1), "inter far near",
  words=r"exchang|pair|swap|another|neighbo|\+ 1|- 1|of each 2|other")
p("three_before", "position_of_token", token_of(lambda s, n: np.maximum(s - 3, 0)), "inter far",
  words=r"3|before|previous|earlier")
p("last_token_at_length", "position_of_token",
  lambda p, q: np.where(token(q) == q.S - 1, q.S, p), "inter medium", words="token|position")
p("restarts_at_5", "position_restarts",
  lambda p, q: np.where(token(q) < 5, p, p - p[:, :, 5:6]), "inter near medium", token=5)
p("restarts_every_8", "position_restarts",
  lambda p, q: p - p[:, :, np.arange(q.S) // 8 * 8], "inter inter_bf16")
p("cumulated", "position_of_token", lambda p, q: np.cumsum(p, 2), "near",
  words=r"cumul|sum|token|position")
p("negated_above_1000", "position_absolute", lambda p, q: np.where(p > 1000, -p, p), "far inter",
  words=r"negat|sign|backwards|above|act as")

# Rotations: frequencies and amplitudes.


def f(name, kind, change, cases, stage="frequency", operations="rope", **figures):
    one(operations, stage, name, kind, change, cases, **figures)


def k(f):
    return np.arange(len(f))


for base in (8192, 20000):
    TABLE.add("rope rope_sections xpos", f"base_{base}", "base", changed(base=base),
              "near inter sections xpos", base=base)
TABLE.add("rope", "base_5000000", "base", changed(base=5000000), "llama3 inter_bf16", base=5000000)
f("width_128", "exponent_width", lambda w, q: EXACT(128), "near inter partial", "width",
  words=r"width|exponent|base|denominator|head|128")
f("width_-4", "exponent_width", lambda w, q: w - 4, "near inter f64", "width")
f("exponent_times_0.9", "exponent_scaled", lambda e, q: e * EXACT("0.9"), "near inter", "exponent")
f("index_1.5", "exponent_shift", lambda k, q: k + EXACT("1.5"), "near inter xpos", "index",
  "rope xpos")
f("index_halved_in_integers", "frequency_order", lambda f, q: f[k(f) // 4 * 4], "near inter_bf16")
f("linear_between_ends", "frequency_ramp",
  lambda f, q: np.linspace(f[0], f[-1], len(f)).astype(EXACT), "near inter")
f("in_degrees", "frequency_ratio", lambda f, q: f * 180 / PI, "near f64", ratio=57.29577951)
f("times_0.025", "frequency_ratio", lambda f, q: f / 40, "near inter xpos_bf16", "frequency",
  "rope xpos", ratio=40)
f("only_first_quarter", "frequency_plateau", lambda f, q: np.where(k(f) < len(f) // 4, f, 0),
  "near inter inter_bf16", ratio=0)
f("upper_half_sixteenth", "frequency_plateau",
  lambda f, q: np.where(k(f) >= len(f) // 2, f / 16, f), "inter inter_bf16", ratio=1 / 16)
f("last_pair_times_3", "frequency_of_pair",
  lambda f, q: np.where(k(f) == len(f) - 1, 3 * f, f), "near inter inter_bf16")
f("pairs_6_and_7_exchanged", "frequency_order",
  lambda f, q: f[np.where(k(f) == 6, 7, np.where(k(f) == 7, 6, k(f)))], "near inter",
  words=r"order|exchang|swap|another|pairs? (6|7)")
f("half_taken_twice", "frequency_order", lambda f, q: np.tile(f[:len(f) // 2], 2), "near inter",
  words=r"repeat|mod|twice|order|another")
# scalings
for words, cases in (
    (dict(scaling__factor=32), "llama3 llama3_bf16"),
    (dict(scaling__low_freq_factor=1.5), "llama3 llama3_bf16"),
    (dict(scaling__original_max_position_embeddings=131072), "llama3"),
    (dict(scaling__original_max_position_embeddings=16384), "llama3_bf16 yarn"),
    (dict(scaling__beta_fast=16), "yarn yarn_bf16"),
    (dict(scaling__beta_slow=2), "yarn yarn_bf16"),
    (dict(scaling__factor=2), "linear yarn"),
    (dict(scaling__attention_factor=1.0), "yarn yarn_bf16"),
):
    key, value = next(iter(words.items()))
    if key == "scaling__attention_factor":
        continue
    TABLE.add("rope", f"{key[9:]}_{value}", "scaling", changed(**words), cases, value=value)
TABLE.add("rope", "ntk_for_linear", "scaling", changed(scaling={"type": "ntk", "factor": 8}),
          "linear")
TABLE.add("rope", "ntk_for_yarn", "scaling", changed(scaling={"type": "ntk", "factor": 4}), "yarn",
          words=r"scal|factor|ramp|base|ntk|frequenc|amplitude|gain")
f("factors_exchanged", "scaling", lambda r, q: np.clip(
    (q.seen["turns"] - 4) / EXACT(1 - 4), 0, 1), "llama3 llama3_bf16", "ramp")
f("ramp_over_wavelengths", "scaling", lambda r, q: np.clip(
    (8192 - 8192 / q.seen["turns"]) / EXACT(8192 - 2048), 0, 1), "llama3 llama3_bf16", "ramp")
f("ramp_from_low_only", "scaling", lambda r, q: np.where(q.seen["turns"] < 1, 0, 1), "llama3",
  "ramp")
f("limits_of_base_10000", "scaling",
  lambda lim, q: tuple(x * np.log(EXACT(q.base)) / np.log(EXACT(10000)) for x in lim), "yarn_bf16",
  "limits")
f("limits_without_half", "scaling", lambda lim, q: (2 * lim[0], 2 * lim[1]), "yarn yarn_bf16",
  "limits")
f("limits_exchanged_betas", "scaling", lambda lim, q: (lim[0], lim[0] + 1), "yarn", "limits")
f("linear_multiplies", "frequency_ratio", lambda f, q: f * 64, "linear")
f("longrope_list_shifted", "scaling",
  lambda f, q: f * factors(q) / np.append(factors(q)[1:], factors(q)[-1]), "longrope")
f("longrope_multiplies", "scaling", lambda f, q: f * factors(q) ** 2, "longrope")


def factors(q):
    return np.array(q.scaling["long_factor"]).astype(EXACT)


for name, change, cases in (
    ("of_0.07", lambda a, q: 1 + (a - 1) * EXACT("0.7"), "yarn yarn_bf16"),
    ("inverse", lambda a, q: 1 / a, "yarn yarn_bf16"),
    ("without_root", lambda a, q: a * a, "longrope"),
    ("rooted", lambda a, q: np.sqrt(a), "yarn yarn_bf16"),
):
    f(f"amplitude_{name}", "amplitude", change, cases, "amplitude")
f("gain_0.9", "amplitude", lambda a, q: a * EXACT("0.9"), "near inter sections xpos", "amplitude",
  "rope rope_sections xpos", gain=0.9)
one("rope", "cos_table", "cos_times_0.8", "amplitude_one_side", lambda t, q: t * EXACT("0.8"),
    "near inter")
one("rope", "sin_table", "sin_absolute", "sign", lambda t, q: np.abs(t), "near inter",
    words=r"sin|absolute|sign")
one("rope", "sin_table", "sin_of_next_pair", "frequency_order", lambda t, q: np.roll(t, -1, -1),
    "near inter", words=r"sin|pair|another|order|shift")
one("rope", "cos_table", "cos_table_reversed", "frequency_order", lambda t, q: t[..., ::-1],
    "near inter", words=r"cos|pair|revers|order")

# Rotations: layout, rows.
for name, change, ops in (
    ("rolled_2", lambda p, q: (p[0], np.roll(p[1], -2)), "rope xpos"),
    ("blocks_of_4", lambda p, q: blocks(q, 4), "rope rope_sections xpos"),
    ("first_reversed", lambda p, q: (p[0][::-1], p[1]), "rope"),
):
    one(ops, "pairs", f"pairs_{name}", "pairing", change, "near inter inter_bf16 sections xpos")


def blocks(q, width):
    i, half = np.arange(q.R // 2), width // 2
    first = q.offset + i // half * width + i % half
    return first, first + half


one("rope", "pairs", "window_at_12", "channel_window",
    lambda p, q: (p[0] - q.offset + 12, p[1] - q.offset + 12), "window")
one("rope", "pairs", "window_8_later", "channel_window", lambda p, q: (p[0] + 8, p[1] + 8), "partial")
TABLE.add("rope", "all_of_head_rotated", "channel_window", changed(R=48), "partial",
          words=r"width|R=|channel|pair|rest|outside")
TABLE.add("rope", "half_of_width_rotated", "channel_window", changed(R=16), "partial",
          words=r"width|R=|channel|pair|still")
one("rope", "output", "written_interleaved", "order",
    lambda y, q: np.stack(np.split(y, 2, -1), -1).reshape(y.shape), "near far_bf16")


def rotated(name, kind, function, cases="near inter inter_bf16 xpos", operations="rope", **rest):
    one(operations, "rotated", name, kind,
        lambda new, q: function(*q.seen["operands"], q.seen["cos_table"], q.seen["sin_table"], q),
        cases, **rest)


def turned(a, b, c, s, sign):
    return a * c - b * s * sign, a * s * sign + b * c


rotated("upper_pairs_backwards", "direction", lambda a, b, c, s, q: turned(
    a, b, c, s, np.where(np.arange(q.R // 2) >= q.R // 4, -1, 1)))
rotated("tokens_from_10_backwards", "position_absolute", lambda a, b, c, s, q: turned(
    a, b, c, s, np.where(token(q) >= 10, -1, 1)))
rotated("first_negated", "sign", lambda a, b, c, s, q: (b * s - a * c, a * s + b * c))
rotated("second_unrotated", "term_missing", lambda a, b, c, s, q: (a * c - b * s, b),
        words=r"missing|only|term|unchanged|copied|second|not rotated|still", operations="rope xpos")
rotated("sin_missing_in_first", "term_missing", lambda a, b, c, s, q: (a * c, a * s + b * c))
one("rope", "output", "first_3_tokens_still", "rows_still",
    lambda y, q: np.where(token(q) < 3, q.x, y), "inter inter_bf16")
one("rope", "output", "every_eighth_token_zero", "rows_zero",
    lambda y, q: np.where(token(q) % 8 == 7, 0, y), "near inter_bf16")
one("rope", "output", "two_tokens_before", "rows_moved", lambda y, q: np.roll(y, 2, 2),
    "near inter_bf16")
one("rope", "output", "quarters_2_and_3_exchanged", "order",
    lambda y, q: np.concatenate([np.split(y, 4, -1)[i] for i in (0, 2, 1, 3)], -1), "near inter")
one("rope", "output", "divided_by_root_of_D", "factor", lambda y, q: y / np.sqrt(EXACT(q.D)),
    "near inter", ratio=lambda q: float(np.sqrt(q.D)))
one("rope", "output", "head_1_halved", "factor",
    lambda y, q: np.where((np.arange(q.H) == 1)[:, None, None], y / 2, y), "near inter",
    words=r"head|H 1", ratio=0.5)
for name, change in (
    ("cyclic", lambda a, q: (a + 1) % 3),
    ("section_16_8_8", lambda a, q: np.repeat([0, 1, 2], [16, 8, 8])),
    ("dealt_from_second", lambda a, q: (np.arange(len(a)) + 1) % 3),
    ("upper_half_of_last", lambda a, q: np.where(np.arange(len(a)) >= len(a) // 2, 2, a)),
):
    one("rope_sections", "axis", f"axis_{name}", "axis", change, "sections dealt")

# xpos' growth.
for words in (dict(scale_base=256), dict(gamma=0.45), dict(center=12)):
    word, value = next(iter(words.items()))
    TABLE.add("xpos", f"{word}_{value}", word, changed(**words), "xpos xpos_key xpos_bf16",
              value=value)
for name, change in (
    ("of_k_over_R", lambda g, q: zeta(q, 1) ** power(q)),
    ("in_whole_steps", lambda g, q: zeta(q, 2) ** np.trunc(power(q))),
    ("half_up", lambda g, q: zeta(q, 2, EXACT("0.5")) ** power(q)),
):
    one("xpos", "growth", f"growth_{name}", "growth", change, "xpos xpos_bf16")


def zeta(q, two, up=0):
    i, gamma = np.arange(q.R // 2).astype(EXACT) + up, EXACT(q.gamma)
    return (two * i / q.R + gamma) / (1 + gamma)


def power(q):
    t = (q.position[:, None, :, None].astype(EXACT) - q.center) / EXACT(q.scale_base)
    return t if q.role == "query" else -t


# Tables.
TABLES = "plain plain_f64 halves half_width paper tensor2tensor"
TABLE.add("rope_frequencies rope_cos_sin sinusoidal", "base_50000", "base", changed(base=50000),
          TABLES, base=50000)
f("times_0.3", "frequency_ratio", lambda f, q: f * EXACT("0.3"), TABLES, "frequency",
  "rope_frequencies rope_cos_sin sinusoidal", ratio=0.3)
f("wavelengths", "exponent_scaled", lambda f, q: 2 * PI / f, "plain plain_f64", "frequency",
  "rope_frequencies", words=r"wavelength|invers|exponent|base")
f("llama3_factors_exchanged", "scaling", lambda r, q: np.clip(
    (q.seen["turns"] - 4) / EXACT(1 - 4), 0, 1), "llama3", "ramp", "rope_frequencies")
f("amplitude_of_0.07", "amplitude", lambda a, q: 1 + (a - 1) * EXACT("0.7"), "yarn", "amplitude",
  "rope_frequencies rope_cos_sin")
p("index", "position_is_index", lambda p, q: np.arange(q.S)[:, None] + 0 * p,
  "halves half_width tensor2tensor", "rope_cos_sin sinusoidal")
p("offset_2", "position_offset", lambda p, q: p + 2, "halves half_width paper tensor2tensor",
  "rope_cos_sin sinusoidal", shift=2)
p("blocks_of_8", "position_rounded", lambda p, q: p // 8 * 8, "halves paper tensor2tensor",
  "rope_cos_sin sinusoidal")
TABLE.add("rope_cos_sin", "layout_interleaved", "layout", changed(layout="interleaved"), "halves",
          words=r"layout|interleav|concat|order|pair|halves")
one("rope_cos_sin", "cos_sin", "sin_for_both", "cos_and_sin", lambda t, q: (t[1], t[1]),
    "halves half_width")
one("sinusoidal", "sin_cos", "sin_for_both", "cos_and_sin", lambda t, q: (t[0], t[0]),
    "paper tensor2tensor", words=r"sin|right numbers of M")
one("sinusoidal", "exponent", "exponent_without_two", "exponent_scaled", lambda e, q: e / 2,
    "paper tensor2tensor")
one("sinusoidal", "sin_cos", "times_root_of_M", "factor",
    lambda t, q: tuple(x * np.sqrt(EXACT(q.M)) for x in t), "paper tensor2tensor", ratio=8)
