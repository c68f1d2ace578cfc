"""Deviations of the axes of rope_sections, of the growth of xpos, and of tables asked for alone."""

import numpy as np

from deviation import Table
from stages import EXACT, changed, rounded

TABLE = Table()
one, shown, add = TABLE.one, TABLE.shown, TABLE.add

# Axes of pictures.
AXIS = (r"axis|axes|section|order|interleav|contiguous|height|width|transpos|stride|another"
        r"|other token|channel|second|half|halves|layout")
SECTIONS = "sections dealt"


def read_as_tokens_by_axes(p, q):
    """sgl-kernel-xpu: [axes, tokens] is flattened; read here as tokens of three numbers."""
    read = q.position.reshape(len(q.position), q.S, -1).swapaxes(1, 2)
    return read[:, q.seen["axis"]].swapaxes(1, 2)[:, None].astype(EXACT)


def on_axis(n, change):
    """Changes the positions of the pairs that have axis n."""
    return lambda p, q: np.where(q.seen["axis"] == n, change(p, q), p)


one("rope_sections", "axis", "axis_of_channels", "axis",
    lambda a, q: np.repeat(np.arange(3), q.sections)[np.arange(len(a)) // 2 * 2], SECTIONS)
for stage, name, kind, change, cases, figures in (
    # As in vllm-gaudi and MNN, blocks for Qwen3-VL too: here with Qwen2-VL's sections.
    ("axis", "axis_in_blocks_of_qwen2", "axis",
     lambda a, q: np.repeat([0, 1, 2], [16, 24, 24])[:len(a)], SECTIONS, {"words": AXIS}),
    # As vLLM's ERNIE 4.5 VL: height and width by turns, and then time.
    ("axis", "axis_height_and_width_first", "axis", lambda a, q: np.where(
        np.arange(len(a)) < 2 * q.sections[1], 1 + np.arange(len(a)) % 2, 0), SECTIONS,
     {"words": AXIS}),
    ("position", "read_as_tokens_by_axes", "axis", read_as_tokens_by_axes, SECTIONS,
     {"words": AXIS}),
    ("position", "width_in_blocks_of_2", "position_rounded", on_axis(2, lambda p, q: p // 2 * 2),
     SECTIONS, {"words": r"round|cut|truncat|bits|multiple|block|even"}),
    ("position", "time_is_index", "position_is_index",
     on_axis(0, lambda p, q: np.arange(q.S)[:, None] + 0 * p), SECTIONS, {}),
):
    shown("rope_sections", stage, name, kind, change, cases, **figures)

# Growth.
XPOS = "xpos xpos_key xpos_bf16"
add("xpos", "center_10", "center", changed(center=10), XPOS, value=10)
add("xpos", "gamma_0.3", "gamma", changed(gamma=0.3), XPOS, value=0.3)
one("xpos", "growth", "role_exchanged", "role", lambda g, q: 1 / g, XPOS,
    listed="role=query role=key")
one("xpos", "growth", "growth_rooted", "growth", lambda g, q: np.sqrt(g), XPOS)
one("xpos", "cos_table", "cos_without_growth", "amplitude_one_side",
    lambda t, q: t / q.seen["growth"], "xpos xpos_key", words="cos|growth")
shown("xpos", "sin_table", "sin_without_growth", "amplitude_one_side",
      lambda t, q: t / q.seen["growth"], "xpos xpos_key", words="sin|growth")
shown("xpos", "growth", "growth_by_exp2", "scale_base", lambda g, q: g ** np.log(EXACT(2)), XPOS,
      value=[512 / np.log(2), np.log(2)], words=r"scale_base|growth|decay|gain")
# local-attention: half of the window is the base of the growth.
add("xpos", "scale_base_64", "scale_base", changed(scale_base=64), XPOS, shown=True,
    value=[64, 8], words=r"scale_base|decay|growth|gain")

# Tables.
ANY = "plain plain_f64 llama3 halves half_width paper tensor2tensor"
PAPER = "paper tensor2tensor"
add("rope_frequencies rope_cos_sin sinusoidal", "base_12345", "base",
    changed(base=12345), ANY, base=12345)
for name, stage, change, kind, figures in (
    ("times_1.5", "frequency", lambda f, q: f * EXACT("1.5"), "frequency_ratio", {"ratio": 1.5}),
    ("rolled_1", "frequency", lambda f, q: np.roll(f, 1), "frequency_order", {}),
    ("index_2", "index", lambda k, q: k + 2, "exponent_shift", {}),
    ("upper_eighth", "frequency", lambda f, q: np.where(np.arange(len(f)) >= 13, f / 8, f),
     "frequency_plateau", {"ratio": 0.125}),
    ("pair_4_twice", "frequency", lambda f, q: np.where(np.arange(len(f)) == 4, f * 2, f),
     "frequency_of_pair", {"ratio": 2}),
):
    one("rope_frequencies sinusoidal", stage, name, kind, change, ANY, **figures)
for name, change, kind, figures in (
    ("clamped_999", lambda p, q: np.minimum(p, 999), "position_clamped", {"limit": 999}),
    ("wrapped_1000", lambda p, q: p % 1000, "position_wrapped", {"limit": 1000}),
    ("halved", lambda p, q: p / 2, "position_scaled", {"ratio": 0.5}),
):
    one("rope_cos_sin sinusoidal", "position", name, kind, change,
        "halves half_width tensor2tensor", **figures)
one("rope_cos_sin", "position", "offset_3", "position_offset", lambda p, q: p + 3,
    "halves half_width tensor2tensor paper", shift=3)
add("rope_frequencies rope_cos_sin", "factor_6", "scaling", changed(scaling__factor=6),
    "llama3 yarn", value=6)
one("rope_frequencies", "amplitude", "gain_1.3", "amplitude", lambda a, q: a * EXACT("1.3"),
    "plain yarn halves half_width", gain=1.3)
one("rope_cos_sin", "cos_sin", "cos_sin_swapped", "cos_and_sin", lambda t, q: t[::-1],
    "halves half_width yarn", listed="cos_and_sin_swapped")
one("rope_cos_sin", "cos_sin", "sin_negated", "direction", lambda t, q: (t[0], -t[1]),
    "halves half_width", listed="rotates_backwards")
one("sinusoidal", "sin_cos", "cos_first", "cos_and_sin", lambda t, q: t[::-1], PAPER,
    listed="cos_and_sin_swapped")
add("sinusoidal", "denominator_of_paper", "exponent_width", changed(denominator="paper"),
    "tensor2tensor", listed="denominator=paper")
shown("rope_frequencies", "exponent", "exponents_in_integers", "frequency_one",
      lambda e, q: np.floor(e), "plain plain_f64",
      words=r"all |every pair|one frequency|same|first|exponent|integer|constant")
# Half of the head per axis, of which half are pairs: divided once too often.
shown("rope_frequencies", "width", "width_halved", "exponent_width", lambda w, q: w / 2,
      "plain plain_f64 llama3", words=r"width|exponent|base|denominator|head|twice|\bR\b")
# Megatron-LM: max_position_embeddings has two meanings, and the limits take the extended length.
add("rope_frequencies", "limits_of_extended_length", "scaling",
    changed(scaling__original_max_position_embeddings=16384), "yarn", shown=True, value=[16384, 4])
# sglang-jax, modalities: frequencies in the model's format, angles in f32.
shown("rope_cos_sin", "frequency", "frequencies_in_bf16", "frequency_ramp", rounded("bf16"),
      "halves yarn", words=r"bf16|round|bits|precision|truncat|\bcut\b|quanti|grid|multiple")
add("rope_cos_sin", "layout_interleaved", "layout", changed(layout="interleaved"), "halves",
    shown=True, words=r"layout|interleav|concat|order|pair|halves")
# fairseq and its ports: positions start after the index of padding.
shown("sinusoidal", "position", "from_1", "position_offset", lambda p, q: p + 1, PAPER, shift=1)
# As BART's 2 * (j // 2) of channels, of a j that counts pairs already.
shown("sinusoidal", "exponent", "exponents_of_even_pairs", "frequency_order",
      lambda e, q: e[np.arange(len(e)) // 2 * 2], PAPER, words=r"order|other|shared|same|neighbo"
      r"|two|each 2|pairs?.*frequenc|frequenc.*pairs?|even|exponent|repeat")
# Frequencies of channels instead of pairs.
shown("sinusoidal", "sin_cos", "exponent_of_channel", "exponent_shift", lambda t, q: (
    t[0], np.cos(q.position[:, None].astype(EXACT)
                 * EXACT(q.base) ** -((2 * np.arange(q.M // 2).astype(EXACT) + 1) / q.M))), "paper",
    words=r"cos.*(exponent|frequenc|pair|angle|turn)|(exponent|frequenc|pair|angle|turn).*cos"
    r"|exponent.*(channel|odd)|odd")
shown("sinusoidal", "sin_cos", "sin_negated", "sign", lambda t, q: (-t[0], t[1]), PAPER)
shown("sinusoidal", "sin_cos", "times_root_of_2_over_M", "factor", lambda t, q: tuple(
    x * np.sqrt(EXACT(2) / q.M) for x in t), PAPER, ratio=lambda q: float(np.sqrt(2 / q.M)))
