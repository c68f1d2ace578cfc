"""Further rows of later_rotation: axes of pictures, growth, tables."""

import numpy as np

from stages import EXACT, changed, rounded, to_format

from .later_rotation import (
    TABLE, PI, PRECISION, one, token, head, places, k, p, f)

# rope_sections: axes of pictures.
AXIS_ONE = r"(axis|axes|section|pairs?|time|height|width).*({0})|({0}).*(axis|axes|section|pair)"


def on_axis(n, change):
    """Changes the positions of the pairs that have axis n."""
    return lambda p, q: np.where(q.seen["axis"] == n, change(p, q), p)


def starts(q):
    return np.repeat(np.cumsum([0, *q.sections[:-1]]), q.sections)


def own_range(f, q):
    """Each section has frequencies from 1 to nearly 1 / base."""
    width = np.repeat(q.sections, q.sections)
    return EXACT(q.base) ** -((np.arange(len(f)) - starts(q)).astype(EXACT) / width)


def second_of_last_axis(new, q):
    a, b = q.seen["operands"]
    angle = q.position[:, -1][:, None, :, None] * q.seen["frequency"]
    return new[0], a * np.sin(angle) + b * np.cos(angle)


def within_sections(pairs, q):
    first = np.arange(q.R // 2) + starts(q)
    return first, first + np.repeat(q.sections, q.sections)


def halved_sections(a, q):
    return np.tile(np.repeat(np.arange(3), np.array(q.sections) // 2), 2)


def axis_times(ratio):
    return on_axis(0, lambda p, q: ratio * p)


SECTIONS = "sections dealt"
for stage, name, kind, change, cases, figures in (
    ("axis", "axis_of_halved_sections", "axis", halved_sections, SECTIONS, {}),
    ("axis", "axis_first_border_one_late", "axis",
     lambda a, q: np.where(k(a) == q.sections[0], 0, a), "sections",
     {"words": r"axis|axes|section|pair 8"}),
    ("frequency", "frequency_restarts", "frequency_order",
     lambda f, q: f[np.arange(len(f)) - starts(q)], "sections",
     {"words": r"order|revers|another|other|shift|restart|repeat|section|pairs?.*(frequenc|turn)"
               r"|frequenc.*pair"}),
    ("frequency", "frequency_of_own_range", "frequency_order", own_range, "sections",
     {"words": r"restart|repeat|section|exponent|width|pairs?.*(frequenc|turn)|frequenc.*pair"}),
    ("position", "time_doubled", "position_scaled", axis_times(2), SECTIONS,
     {"ratio": 2, "words": AXIS_ONE.format(r"times|twice|doubl|multipl|factor|ratio|scal")
      + r"|(position|frequenc).*(times|twice|factor|ratio)"}),
    ("position", "height_from_1", "position_offset", on_axis(1, lambda p, q: p + 1), SECTIONS,
     {"shift": 1, "words": AXIS_ONE.format(r"offset|shift|off.by|plus|more|late|added|\+ ?1")
      + r"|position.*(offset|shift|off.by|plus|more|late|added)"}),
    ("position", "width_in_blocks_of_2", "position_rounded", on_axis(2, lambda p, q: p // 2 * 2),
     SECTIONS, {"words": r"round|cut|truncat|bits|multiple|block|even"}),
    ("position", "width_merged_by_2", "position_scaled", on_axis(2, lambda p, q: p // 2),
     SECTIONS, {"words": r"half|halv|0\.5|1/2|/ ?2|divid|round|block|merge"}),
    ("position", "width_clamped_127", "position_clamped",
     on_axis(2, lambda p, q: np.minimum(p, 127)), SECTIONS, {"limit": 127}),
    ("position", "time_is_index", "position_is_index", on_axis(0, lambda p, q: token(q) + 0 * p),
     SECTIONS, {}),
    ("position", "height_still", "pairs_still", on_axis(1, lambda p, q: 0 * p), SECTIONS,
     {"words": r"(pair|axis|section|height).*(still|not rotat|unchanged|copied|zero|\b0\b)"
               r"|position.*(zero|\b0\b)"}),
    ("rotated", "second_channels_of_last_axis", "axis", second_of_last_axis, SECTIONS,
     {"words": r"axis|axes|section|second|half|halves|channel"}),
    ("pairs", "pairs_within_sections", "pairing", within_sections, "sections", {}),
):
    one("rope_sections", stage, name, kind, change, cases, **figures)

# xpos.
XPOS = "xpos xpos_key xpos_bf16"


def zeta(q, i, gamma=None):
    gamma = EXACT(q.gamma) if gamma is None else EXACT(gamma)
    return (i.astype(EXACT) / q.R + gamma) / (1 + gamma)


def grown(q, z, position=None, center=None):
    position = places(q) if position is None else position
    t = (position - (q.center if center is None else center)) / EXACT(q.scale_base)
    return z ** (t if q.role == "query" else -t)


def evens(q):
    return np.arange(0, q.R, 2)


def growth_of_channels(y, q):
    """Zeta over all channels, not over pairs."""
    first, second = q.seen["pairs"]
    y = y.copy()
    for channels in (first, second):
        y[..., channels] *= grown(q, zeta(q, channels)) / q.seen["growth"]
    return y


for name, kind, change, cases, figures in (
    ("center_of_largest", "center",
     lambda g, q: grown(q, zeta(q, evens(q)), center=q.position.max() // 2), XPOS,
     {"value": lambda q: float(q.position.max() // 2)}),
    ("center_of_first_token", "center",
     lambda g, q: grown(q, zeta(q, evens(q)), center=q.position[0, 0]), XPOS,
     {"value": lambda q: float(q.position[0, 0]), "words": r"cent(er|re)|growth|first"}),
    ("growth_one_token_late", "center", lambda g, q: grown(q, zeta(q, evens(q)), places(q) + 1),
     "xpos xpos_key", {"words": r"cent(er|re)|growth|gain|decay",
                       "value": lambda q: [float(q.center) - 1, 1]}),
    ("growth_stops_at_512", "growth",
     lambda g, q: grown(q, zeta(q, evens(q)), np.minimum(places(q), 512)), XPOS,
     {"words": r"(growth|decay|gain|factor).*(stop|clamp|at most|above|beyond|limit|512|token"
      r"|position)"}),
    ("growth_of_slot", "growth", lambda g, q: grown(q, zeta(q, evens(q)), token(q)), XPOS,
     {"words": r"(growth|decay|gain|factor).*(index|slot|place|count|token|position|row)"}),
    ("growth_in_bf16", "growth", rounded("bf16"), "xpos xpos_key",
     {"words": rf"bf16|{PRECISION}"}),
    ("growth_not_normalized", "growth",
     lambda g, q: grown(q, zeta(q, evens(q)) * (1 + EXACT(q.gamma))), XPOS,
     {"words": r"growth|decay|gain|gamma"}),
    ("growth_by_exp2", "scale_base", lambda g, q: g ** np.log(EXACT(2)), XPOS,
     {"value": [512 / np.log(2), np.log(2)], "words": r"scale_base|growth|decay|gain"}),
    ("last_head_without_growth", "growth", lambda g, q: np.where(head(q) == q.H - 1, 1, g), XPOS,
     {"words": r"head|\bH \d"}),
):
    one("xpos", "growth", name, kind, change, cases, **figures)
one("xpos", "sin_table", "sin_without_growth", "amplitude_one_side",
    lambda t, q: t / q.seen["growth"], "xpos xpos_key", words="sin|growth")
one("xpos", "output", "growth_of_channels", "growth", growth_of_channels, XPOS,
    words=r"growth|decay|gain|factor")
p("angle_clamped_1023", "position_clamped", lambda p, q: np.minimum(p, 1023), "xpos xpos_bf16",
  "xpos", limit=1023)
f("exponent_doubled", "exponent_scaled", lambda e, q: 2 * e, "xpos xpos_bf16",
  "exponent", "xpos")

# Tables.
TABLE.add("rope_frequencies rope_cos_sin", "base_hard_coded", "base", changed(base=10000),
          "plain_f64 llama3 half_width", base=10000)
f("ramp_from_1", "scaling",
  lambda r, q: np.append(r[1:], 1), "yarn", "ramp", "rope_frequencies rope_cos_sin")
f("frequencies_in_f32", "frequency_ramp", rounded("f32"), "plain_f64", "frequency",
  "rope_frequencies", words=rf"f32|{PRECISION}")
f("last_of_pair_before", "frequency_of_pair", lambda f, q: np.append(f[:-1], f[-2]),
  "plain plain_f64 paper tensor2tensor", "frequency", "rope_frequencies sinusoidal",
  words=r"pairs?.*(frequenc|turn|still)|frequenc.*pair|last|shar|same|another|\b31\b|\b63\b")
f("whole_exponents_of_8", "frequency_order", lambda f, q: f[k(f) // 8 * 8], "halves",
  "frequency", "rope_cos_sin")
f("amplitude_of_inverse_factor", "amplitude", lambda a, q: 2 - a, "yarn", "amplitude",
  "rope_frequencies")


def spread_by(function, name, kind, cases, **rest):
    """function(cos, sin, question) -> tables of full width."""
    TABLE.add("rope_cos_sin", name, kind, {
        "question": changed(layout="half_width")["question"],
        "cos_sin": lambda t, q: function(*t, q)}, cases, **rest)


def twice(t):
    return np.concatenate((t, t), -1)


def all_channels(c, s, q):
    """The frequencies run over the channels, not over the pairs."""
    f = EXACT(q.base) ** -(np.arange(q.R).astype(EXACT) / q.R)
    angle = q.position[:, :, None].astype(EXACT) * f
    return np.cos(angle), np.sin(angle)


spread_by(lambda c, s, q: (twice(c), np.concatenate((-s, s), -1)), "first_half_of_sin_negated",
          "sign", "halves")
spread_by(all_channels, "frequencies_of_channels", "exponent_scaled", "halves",
          words=r"exponent|base|frequenc|channel")


def cos_sin(name, kind, change, cases, **rest):
    one("rope_cos_sin", "cos_sin", name, kind, lambda t, q: change(*t, q), cases, **rest)


def short_table(t, q, rows):
    return np.where(q.position[:, :, None] >= rows, 0, t)


cos_sin("zero_from_2048", "rows_zero",
        lambda c, s, q: (short_table(c, q, 2048), short_table(s, q, 2048)), "halves half_width")
cos_sin("table_in_f16", "elements", lambda c, s, q: tuple(to_format(t, "f16").astype(EXACT)
        for t in (c, s)), "halves yarn", words=rf"f16|{PRECISION}")
cos_sin("amplitude_on_cos", "amplitude_one_side",
        lambda c, s, q: (c, s / q.seen["amplitude"]), "yarn")
cos_sin("last_row_zero", "rows_zero", lambda c, s, q: tuple(
    np.where(token(q) == q.S - 1, 0, t) for t in (c, s)), "halves half_width")
cos_sin("sin_from_cos", "sign", lambda c, s, q: (c, np.abs(s)), "halves half_width",
        words=r"\bsin\b|absolute|sign")
p("sorted", "position_of_token", lambda p, q: np.sort(p, 1), "halves half_width", "rope_cos_sin",
  words=r"sort|order|another|other token|permut")

# sinusoidal: S, M. Frequencies of channels instead of pairs are the classical bug.


def sines(change):
    """change(angle, q) -> the arguments of sin and cos."""
    return lambda t, q: tuple(g(a) for g, a in zip((np.sin, np.cos), change(q.seen["angle"], q)))


def argument(q, exponent):
    return q.position[:, None].astype(EXACT) * EXACT(q.base) ** -exponent


def both(change):
    return lambda t, q: tuple(change(x, q) for x in t)


PAPER = "paper tensor2tensor"
for stage, name, kind, change, cases, figures in (
    ("sin_cos", "exponent_of_channel", "exponent_shift", sines(lambda a, q: (
        a, argument(q, (2 * np.arange(q.M // 2).astype(EXACT) + 1) / q.M))), "paper",
     {"words": r"cos.*(exponent|frequenc|pair|angle|turn)|(exponent|frequenc|pair|angle|turn).*cos"
               r"|exponent.*(channel|odd)|odd"}),
    ("sin_cos", "twice_exponent_of_channel", "exponent_scaled", sines(lambda a, q: (
        argument(q, 4 * np.arange(q.M // 2).astype(EXACT) / q.M),
        argument(q, (4 * np.arange(q.M // 2).astype(EXACT) + 2) / q.M))), "paper",
     {"words": r"exponent|frequenc|base|channel"}),
    ("sin_cos", "padding_row_zero", "rows_zero",
     both(lambda t, q: np.where(q.position[:, None] == 0, 0, t)), "paper", {}),
    ("sin_cos", "zero_from_2048", "rows_zero",
     both(lambda t, q: np.where(q.position[:, None] >= 2048, 0, t)), "tensor2tensor", {}),
    ("sin_cos", "times_root_of_2_over_M", "factor",
     both(lambda t, q: t * np.sqrt(EXACT(2) / q.M)), PAPER,
     {"ratio": lambda q: float(np.sqrt(2 / q.M))}),
    ("position", "normalized_to_a_turn", "position_scaled",
     lambda p, q: p * 2 * PI / p.max(), "paper", {"ratio": 2 * np.pi / 39}),
    ("sin_cos", "table_in_bf16", "elements", both(lambda t, q: to_format(t, "bf16").astype(EXACT)),
     "paper", {"words": rf"bf16|{PRECISION}"}),
    ("position", "last_row_of_token_before", "position_of_token",
     lambda p, q: np.append(p[:-1], p[-2:-1], 0), PAPER,
     {"words": r"last|before|previous|another|act as|copied|same|stale|token|row"}),
    ("sin_cos", "sin_negated", "sign", lambda t, q: (-t[0], t[1]), PAPER, {}),
    ("frequency", "without_one_over", "exponent_scaled", lambda f, q: 1 / f, PAPER,
     {"words": r"inver[st]|exponent|base|wavelength|reciproc"}),
):
    one("sinusoidal", stage, name, kind, change, cases, **figures)
TABLE.add("sinusoidal", "base_of_log10", "base",
          {"question": lambda q, _: changed(base=float(np.exp(np.log10(q.base))))["question"](
              q, q)},
          PAPER, base=lambda q: float(np.exp(np.log10(q.base))))
TABLE.add("sinusoidal", "denominator_of_tensor2tensor", "exponent_width",
          changed(denominator="tensor2tensor"), "paper", listed="denominator=tensor2tensor",
          words=r"width|exponent|base|denominator")
