"""Bugs of real implementations: rotations and positions. Most rest on a report or a source, which
the comment names; the others are of the same kinds. Written without a look at the program."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

TABLE = Table()
PI = EXACT("3.14159265358979323846264338327950288")
# Words that fair sentences have.
PRECISION = r"bf16|round|bits|precision|truncat|\bcut\b|quanti|grid|multiple"
TOKENS = (r"another|other token|chunk|block|tile|order|permut|exchang|moved|act as|offset|shift"
          r"|restart|reset|repeat|stale|modulo|wrap|quarter")
ZERO = r"zero|unwritten|missing|lost|is 0|not (computed|written)"
SCALING = r"scal|factor|ramp|limit|context|original|beta|yarn|llama3|frequenc|period|wavelen|\bpi\b"
HEADS = r"head|slope|index|order|\bH\b|extra|exchang|repeat|rank|zero|missing|times|multipl|factor"
LAST = r"last|constant|same|all (the )?quer|(every|each) quer|query_position|act as|form|row"
AXIS = (r"axis|axes|section|order|interleav|contiguous|height|width|transpos|stride|another"
        r"|other token|channel|second|half|halves|layout")


def one(operations, stage, name, kind, change, cases, **rest):
    TABLE.add(operations, name, kind, {stage: change}, cases, **rest)


def p(name, kind, change, cases, operations="rope", **rest):
    one(operations, "position", name, kind, change, cases, **rest)


def f(name, kind, change, cases, stage="frequency", operations="rope", **rest):
    one(operations, stage, name, kind, change, cases, **rest)


def token(q):
    return np.arange(q.S)[:, None]


def places(q):
    """The given positions, as they broadcast to x."""
    return q.position[:, None, :, None]


def in_bf16(values):
    return rounded("bf16")(values, None)


# rope: positions.
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
one("rope", "angle", "phases_in_bf16", "position_rounded",
    lambda a, q: in_bf16(in_bf16(q.seen["position"]) * in_bf16(q.seen["frequency"])),
    "inter far f64", words=PRECISION)
# Own reduction of large angles, by a turn of five digits.
one("rope", "angle", "turn_of_6.2832", "frequency_ratio",
    lambda a, q: a - np.floor(a / EXACT("6.2832")) * EXACT("6.2832"), "far llama3 yarn",
    words=r"\bpi\b|6\.28|reduc|frequenc|ratio|turn|angle|precision|modulo|wrap|period")

# rope: frequencies and scalings.
# litgpt's tests: Llama 3's base without a zero.
TABLE.add("rope", "base_50000", "base", changed(base=50000), "llama3 inter inter_bf16", base=50000)
# mlx-lm's internlm3: the base is grown although the type is linear.
f("base_grown_too", "base", lambda b, q: b * EXACT(8) ** (EXACT(q.R) / (q.R - 2)), "linear", "base",
  base=lambda q: [1e4 * 8 ** (q.R / (q.R - 2)), 8 ** (q.R / (q.R - 2))], words=r"base|ntk|exponent")
f("pi_of_3.14", "scaling", lambda t, q: t * PI / EXACT("3.14"), "llama3", "turns", words=SCALING)


def blended_by_periods(f, q):
    """mlx-examples: periods are blended where frequencies are meant."""
    divided = q.seen["ramp"] if q.scaling["type"] == "yarn" else 1 - q.seen["ramp"]
    return q.seen["plain"] / (divided * EXACT(q.scaling["factor"]) + 1 - divided)


def limits_without_two_pi(lim, q):
    """tvm repaired its limits: here they are of the length, not of turns of 2 pi."""
    s, base = q.scaling, 2 * np.log(EXACT(q.base))
    length = EXACT(s["original_max_position_embeddings"])
    low, high = (q.R * np.log(length / s[beta]) / base for beta in ("beta_fast", "beta_slow"))
    if s["truncate"]:
        low, high = np.floor(low), np.ceil(high)
    return max(low, EXACT(0)), min(high, EXACT(q.R - 1))


def list_by_chunk(a, q):
    """uzu: of a prompt in chunks, those within the trained length take the short list."""
    s = q.scaling
    ratio = np.array(s["long_factor"]).astype(EXACT) / np.array(s["short_factor"]).astype(EXACT)
    return np.where(token(q) < 12, a * ratio, a)


f("blended_by_periods", "scaling", blended_by_periods, "llama3 yarn yarn_bf16",
  operations="rope rope_frequencies", words=rf"{SCALING}|blend")
f("limits_without_two_pi", "scaling", limits_without_two_pi, "yarn yarn_bf16", "limits",
  words=SCALING)
# Megatron-LM: max_position_embeddings has two meanings, and the limits take the extended length.
TABLE.add("rope_frequencies", "limits_of_extended_length", "scaling",
          changed(scaling__original_max_position_embeddings=16384), "yarn", value=[16384, 4])
f("short_list_in_first_chunk", "scaling", list_by_chunk, "longrope", "angle",
  words=rf"{SCALING}|short|long|first|token|chunk|position|seq_len")

# rope: amplitudes.
# TensorRT-LLM: attention_factor, the final factor, goes through the formula of mscale.
f("amplitude_as_mscale", "amplitude",
  lambda a, q: 1 + a * np.log(EXACT(q.scaling["factor"])) / 10, "yarn yarn_bf16", "amplitude")
# YaRN's paper gives sqrt(1/t), and t is taken for it.
f("amplitude_of_misread_t", "amplitude", lambda a, q: 1 / np.sqrt(a), "yarn yarn_bf16",
  "amplitude", "rope rope_cos_sin")

# rope: layout and rows.
for name, kind, change, cases, words in (
    # MLX: of one token in several batches only the first batch is written.
    ("first_batch_written", "rows_zero",
     lambda y, q: np.where(np.arange(q.B)[:, None, None, None] >= 1, 0, y), "batch",
     rf"{ZERO}|batch"),
    # ONNX Runtime: the kernel returns for a position beyond the cache.
    ("zero_from_16384", "rows_zero", lambda y, q: np.where(places(q) >= 16384, 0, y),
     "far far_bf16 llama3", rf"{ZERO}|(position|token).*(above|beyond|from|16384)"),
    # llama.cpp's Vulkan: more rows than the largest number of workgroups.
    ("rows_from_64_unwritten", "rows_zero", lambda y, q: np.where(
        np.arange(y[..., :1].size).reshape(y[..., :1].shape) >= 64, 0, y), "near inter_bf16 medium",
     rf"{ZERO}|row|head"),
    # llama.cpp's Vulkan: a partial rotation of a view; the rest is copied without the row's stride.
    ("rest_of_token_0", "rest", lambda y, q: np.where(np.arange(q.D) < q.R, y, q.x[:, :, :1]),
     "partial", r"rest|outside|channel|token|first|same|copied|\bD \d+"),
):
    one("rope", "output", name, kind, change, cases, words=words)
# sglang: a width that is no power of 2 is rotated up to the next one.
TABLE.add("rope", "width_up_to_power_of_2", "channel_window", changed(R=32), "window",
          words=r"width|\bR\b|channel|pair|partner|window|rest|outside|power|\b32\b")
# tt-metal: the -1 of "rotate half" is decoded in another format.
one("rope", "rotated", "minus_one_as_minus_half", "term_missing", lambda new, q: (
    q.seen["operands"][0] * q.seen["cos_table"] - q.seen["operands"][1] * q.seen["sin_table"] / 2,
    new[1]), "near inter_bf16 far",
    words=r"\bsin|first|half|0\.5|1/2|term|minus|missing|partner|factor|twice")


# rope_sections.
def of_axes(axis, q):
    """The angles of pairs on these axes."""
    return q.position[:, axis].swapaxes(1, 2)[:, None].astype(EXACT) * q.seen["frequency"]


def sections_over_channels(new, q):
    """lmdeploy, transformers: the doubled sections, over the table of full width at once."""
    (a, b), axis = q.seen["operands"], np.repeat(np.arange(3), 2 * np.array(q.sections))
    first, second = of_axes(axis[:q.R // 2], q), of_axes(axis[q.R // 2:], q)
    return a * np.cos(first) - b * np.sin(first), a * np.sin(second) + b * np.cos(second)


def read_as_tokens_by_axes(p, q):
    """sgl-kernel-xpu: [axes, tokens] is flattened; read here as tokens of three numbers."""
    read = q.position.reshape(len(q.position), q.S, -1).swapaxes(1, 2)
    return read[:, q.seen["axis"]].swapaxes(1, 2)[:, None].astype(EXACT)


for stage, name, change, cases in (
    # As in vllm-gaudi and MNN, blocks for Qwen3-VL too: here with Qwen2-VL's sections.
    ("axis", "axis_in_blocks_of_qwen2", lambda a, q: np.repeat([0, 1, 2], [16, 24, 24])[:len(a)],
     "sections dealt"),
    # Qwen3-VL: a comment had THTHWHTHW for THWTHWTHW.
    ("axis", "axis_of_misprinted_comment", lambda a, q: np.append(
        np.resize([0, 1, 0, 1, 2, 1, 0, 1, 2], 30), np.zeros(len(a) - 30, int)), "dealt"),
    # As vLLM's ERNIE 4.5 VL: height and width by turns, and then time.
    ("axis", "axis_height_and_width_first", lambda a, q: np.where(
        np.arange(len(a)) < 2 * q.sections[1], 1 + np.arange(len(a)) % 2, 0), "sections dealt"),
    ("rotated", "sections_over_channels", sections_over_channels, "sections"),
    ("position", "read_as_tokens_by_axes", read_as_tokens_by_axes, "sections dealt"),
):
    one("rope_sections", stage, name, "axis", change, cases, words=AXIS)

# xpos.
# local-attention: half of the window is the base of the growth.
TABLE.add("xpos", "scale_base_64", "scale_base", changed(scale_base=64),
          "xpos xpos_key xpos_bf16", value=[64, 8], words=r"scale_base|decay|growth|gain")


def gamma_of_channels(g, q):
    """gamma is taken for a number of channels, not for a part of them."""
    t = (places(q).astype(EXACT) - q.center) / EXACT(q.scale_base)
    z = (np.arange(0, q.R, 2).astype(EXACT) + EXACT(q.gamma)) / (q.R + EXACT(q.gamma))
    return z ** (t if q.role == "query" else -t)


one("xpos", "growth", "gamma_of_channels", "gamma", gamma_of_channels,
    "xpos xpos_key xpos_bf16", value=lambda q: float(q.gamma) / q.R,
    words=r"gamma|decay|growth|gain")

# Tables.
f("exponents_in_integers", "frequency_one", lambda e, q: np.floor(e), "plain plain_f64", "exponent",
  "rope_frequencies", words=r"all |every pair|one frequency|same|first|exponent|integer|constant")
# Half of the head per axis, of which half are pairs: divided once too often.
f("width_halved", "exponent_width", lambda w, q: w / 2, "plain plain_f64 llama3", "width",
  "rope_frequencies", words=r"width|exponent|base|denominator|head|twice|\bR\b")
# sglang-jax, modalities: frequencies in the model's format, angles in f32.
f("frequencies_in_bf16", "frequency_ramp", rounded("bf16"), "halves yarn", "frequency",
  "rope_cos_sin", words=PRECISION)


def at_45_degrees(tables, q):
    """Fourier position embedding: pairs with too long periods have cos and sin 1."""
    return tuple(np.where(q.seen["frequency"] < 2 * PI / 4096, 1, t) for t in tables)


one("rope_cos_sin", "cos_sin", "long_periods_at_45_degrees", "frequency_plateau", at_45_degrees,
    "halves half_width", words=r"pairs?.*(frequenc|turn|still|\b1\b)|\bsin.*\b1\b|constant|column"
    r"|channel|45|period|\b(is|are) 1\b|frequenc.*pairs?")
# fairseq and its ports: positions start after the index of padding.
p("from_1", "position_offset", lambda p, q: p + 1, "paper tensor2tensor", "sinusoidal", shift=1)
# DETR's relatives (pvic): a temperature of 20.
TABLE.add("sinusoidal", "base_20", "base", changed(base=20), "paper tensor2tensor", base=20)
# As BART's 2 * (j // 2) of channels, of a j that counts pairs already.
f("exponents_of_even_pairs", "frequency_order", lambda e, q: e[np.arange(len(e)) // 2 * 2],
  "paper tensor2tensor", "exponent", "sinusoidal", words=r"order|other|shared|same|neighbo|two"
  r"|each 2|pairs?.*frequenc|frequenc.*pairs?|even|exponent|repeat")

# ALiBi.
for stage, name, kind, change, cases, figures in (
    # MPT for a causal mask: one row, the distances to the last key, for all queries.
    ("queries", "distance_to_last_key", "position_constant",
     lambda p, q: 0 * p + q.key_position[-1], "distance distance_bf16", {"words": LAST}),
    # keras-hub's Falcon: in a step with a cache, the bias is built over the new tokens alone.
    ("output", "cached_keys_without_bias", "rows_zero",
     lambda b, q: np.where(np.arange(q.T) < q.T - q.S, 0, b), "distance distance_bf16",
     {"words": rf"{ZERO}|\bT\b|key|column|cache"}),
    # Megatron-DeepSpeed, FlashInfer: each of 4 ranks has the slopes of the first.
    ("slope", "slopes_of_first_rank", "slope", lambda s, q: s[np.arange(q.H) % (q.H // 4)],
     "distance key distance_bf16", {"words": HEADS}),
    # x-transformers: half of the heads are meant to have a bias.
    ("slope", "upper_half_without_bias", "slope",
     lambda s, q: np.where(np.arange(q.H) >= q.H // 2, 0, s), "distance key", {"words": HEADS}),
    # BLOOM counts the tokens of a mask: 5 of padding on the left are at 0.
    ("keys", "padding_of_5_not_counted", "position_offset", lambda p, q: np.maximum(p - 5, 0),
     "distance key", {"shift": 5, "words": r"offset|shift|less|early|padd|minus|subtract|clamp"
                      r"|late|more|added|further|T 0 to \d+ at T 5 to"}),
):
    one("alibi", stage, name, kind, change, cases, **figures)


def slopes_of_mpt(e, q):
    """Those of the next power of two: the first, third ... before the second, fourth ..."""
    n = 1 << (q.H - 1).bit_length()
    every = EXACT(q.max_bias) * np.arange(1, n + 1) / n
    return np.append(every[::2], every[1::2])[:q.H]


def extra_from_zero(e, q):
    """ggml's m1 to the power 2 (h - n) + 1, without the one."""
    n, h = 1 << (q.H.bit_length() - 1), np.arange(q.H)
    return np.where(h < n, e, EXACT(q.max_bias) * (h - n) / n)


for name, change, cases in (("halves_of_mpt_exchanged", slopes_of_mpt, "twelve forty"),
                            ("extra_from_zero", extra_from_zero, "forty")):
    one("alibi_slopes", "exponent", name, "head_index", change, cases, words=HEADS)

# Factors of positions.
# vLLM turned Llama 4's factor on for contexts above 32768.
one("temperature_scale", "factor", "only_from_32768", "function",
    lambda f, q: np.where(q.position < 32768, 1, f), "temperature temperature_bf16",
    words=r"(position|token|row).*(\b1\b|not scaled|unscaled|missing|unchanged|below|from|beyond"
    r"|above|under|clamp|act as)|32768|\bshort|unchanged.*position")
one("temperature_scale", "factor", "beta_inside_logarithm", "function",
    lambda f, q: 1 + np.log(1 + EXACT(q.beta) * q.seen["block"]), "temperature temperature_bf16",
    words=r"beta|\blog|\bln\b|inside|product|block")
# Qwen: the start of the slice was taken from another axis, so that it is 0.
p("slice_from_0", "position_is_index", lambda p, q: np.arange(q.S).astype(EXACT), "log_n",
  "log_n_scale", words=r"index|slot|place|count|0, 1, 2|missing|not (scaled|applied)|unscaled|\b1\b"
  r"|unchanged|itself|without|ignored|zero|act as")


# Relative positions.
def skewed(r, q):
    """Music Transformer's skew without a mask: beyond the diagonal are those of the next query.
    So in conformers (espnet, OpenTransformer), which see later keys too."""
    past = np.clip(np.arange(1 - q.S, 1), -q.clip, q.clip) + q.clip
    dot = np.einsum("bhsd,ld->bhsl", q.q, q.key_table[past])
    padded = np.concatenate((0 * dot[..., :1], dot), -1)
    return padded.reshape(*dot.shape[:2], q.S + 1, q.S)[:, :, 1:]


# transformers' BERT with a cache: distances of the new token alone, to itself.
one("relative_attention", "distance", "distance_always_0", "position_constant",
    lambda d, q: 0 * d, "relative relative_bf16 relative_cached",
    words=rf"{LAST}|zero|\b0\b|distance|clip|middle")
one("relative_attention", "relative", "skewed_without_mask", "table", skewed, "relative_bf16",
    words=r"later|future|beyond|diagonal|next|skew|shift|row|quer|distance")
