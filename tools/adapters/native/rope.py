"""Rotations and their tables. Formulas: Su et al. 2021 (2104.09864), eq. 34; scalings as in
huggingface/transformers modeling_rope_utils.py; xpos: Sun et al. 2022 (2212.10554), section 3."""

import numpy as np

from steps import EXACT, cos_of, sextant, sin_of, with_words

PI = EXACT("3.14159265358979323846264338327950288")


def frequencies(q, at):
    """[R/2] radians per token, and the amplitude of cos and sin."""
    k = at("index", np.arange(q.R // 2).astype(at.real), q)
    exponent = at("exponent", 2 * k / at("width", at.real(q.R), q), q)
    scaling = at("scaling", q.scaling, q)
    plain = at("plain", at("base", at.real(base_of(q, scaling)), q) ** -exponent, q)
    scaled = SCALINGS.get(scaling["type"])
    if scaled is None:
        raise sextant.Unsupported(f"scaling {scaling['type']}")
    f, amplitude = scaled(plain, q, scaling, at) if q.R else (plain, 1)
    return at("frequency", f, q), at("amplitude", at.real(amplitude), q)


def base_of(q, scaling):
    base, growth = EXACT(q.base), EXACT(1)
    if scaling["type"] == "ntk":
        growth = EXACT(scaling["factor"])
    if scaling["type"] == "dynamic":
        trained = scaling["max_position_embeddings"]
        length = max(q.seq_len or trained, trained)
        growth = EXACT(scaling["factor"]) * length / trained - (scaling["factor"] - 1)
    return base * growth ** (EXACT(q.R) / max(q.R - 2, 1))


def unscaled(f, q, scaling, at):
    return f, 1


def linear_scaling(f, q, scaling, at):
    return f / at.real(scaling["factor"]), 1


def llama3(f, q, scaling, at):
    trained, factor = scaling["original_max_position_embeddings"], at.real(scaling["factor"])
    low, high = at.real(scaling["low_freq_factor"]), at.real(scaling["high_freq_factor"])
    turns = at("turns", at.real(trained) * f / at.real(2 * PI), q)
    kept = at("ramp", np.clip((turns - low) / (high - low), 0, 1), q)
    return (1 - kept) * f / factor + kept * f, 1


def refuse_others(scaling):
    """Parameters that the formulas do not have."""
    for name, usual in (("ramp", "index"), ("mscale", None), ("mscale_all_dim", None),
                        ("short_mscale", None), ("long_mscale", None)):
        if scaling.get(name, usual) != usual:
            raise sextant.Unsupported(f"{scaling['type']} with {name}={scaling[name]}")


def yarn(f, q, scaling, at):
    refuse_others(scaling)
    factor, base = EXACT(scaling["factor"]), np.log(EXACT(q.base))
    trained = EXACT(scaling["original_max_position_embeddings"])

    def limit(turns):
        return q.R * np.log(trained / (2 * PI * turns)) / (2 * base)

    low, high = limit(EXACT(scaling["beta_fast"])), limit(EXACT(scaling["beta_slow"]))
    if scaling["truncate"]:
        low, high = np.floor(low), np.ceil(high)
    low, high = max(low, EXACT(0)), min(high, EXACT(q.R - 1))
    if low >= high:
        raise sextant.Unsupported("the limits of the ramp are not increasing")
    low, high = at("limits", (low, high), q)
    k = np.arange(q.R // 2).astype(at.real)
    divided = at("ramp", np.clip((k - at.real(low)) / at.real(high - low), 0, 1), q)
    amplitude = amplitude_of(scaling, EXACT("0.1") * np.log(factor) + 1)
    return divided * f / at.real(factor) + (1 - divided) * f, amplitude


def amplitude_of(scaling, usual):
    """The given amplitude, else the usual one of a scaling that stretches."""
    if scaling.get("attention_factor") is not None:
        return scaling["attention_factor"]
    return usual if scaling["factor"] > 1 else 1


def longrope(f, q, scaling, at):
    refuse_others(scaling)
    trained = scaling["original_max_position_embeddings"]
    is_long = at("is_long", (q.seq_len or trained) > trained, q)
    factors = np.array(scaling["long_factor" if is_long else "short_factor"]).astype(at.real)
    growth = np.log(EXACT(scaling["factor"])) / np.log(EXACT(trained))
    return f / factors, amplitude_of(scaling, np.sqrt(1 + growth))


def ntk_mixed(f, q, scaling, at):
    part = np.arange(1, q.R // 2 + 1).astype(at.real) / at.real(q.R // 2)
    return f / at.real(scaling["factor"]) ** part ** at.real(scaling["mixed_b"]), 1


def proportional(f, q, scaling, at):
    turns = np.arange(q.R // 2) < np.floor(scaling["partial_rotary_factor"] * q.R / 2)
    return np.where(turns, f / at.real(scaling["factor"]), at.real(0)), 1


def explicit(f, q, scaling, at):
    return np.array(scaling["inv_freq"]).astype(at.real), scaling["attention_factor"]


SCALINGS = {"none": unscaled, "ntk": unscaled, "dynamic": unscaled,  # those two have another base
            "linear": linear_scaling, "llama3": llama3, "yarn": yarn, "longrope": longrope,
            "ntk_mixed": ntk_mixed, "proportional": proportional, "explicit": explicit}


def rotate(x, position, q, at):
    """x [B,H,S,D]; position broadcasts to [B,H,S,R/2]."""
    return turned(x, position, *frequencies(q, at), q, at)


def turned(x, position, f, amplitude, q, at):
    position = position.astype(at.real)
    angle = at("angle", at("position", position, q) * f, q)
    cos, sin = at("cos", cos_of(angle), q), at("sin", sin_of(angle), q)
    growth = at("growth", growth_of(q, position, at), q)
    cos = at("cos_table", at.T(cos * amplitude * growth), q)
    sin = at("sin_table", at.T(sin * amplitude * growth) * direction(q), q)
    return rotated(x, cos, sin, q, at)


def rotated(x, cos, sin, q, at):
    first, second = at("pairs", pairs_of(q.pairing, q.R, q.offset), q)
    a, b = x[..., first], x[..., second]
    at("operands", (a, b), q)
    ac, bs, as_, bc = (at("product", at.T(v), q) for v in (a * cos, b * sin, a * sin, b * cos))
    new = at("rotated", (at.T(ac - bs), at.T(as_ + bc)), q)
    y = at("rest", x.copy(), q)
    y[..., first], y[..., second] = new
    return at("output", y, q)


def direction(q):
    return -1 if getattr(q, "direction", "forward") == "transpose" else 1


def pairs_of(pairing, R, offset=0):
    """The channels of both elements of each pair."""
    k = np.arange(R // 2)
    first, second = (k, k + R // 2) if pairing == "half" else (2 * k, 2 * k + 1)
    return offset + first, offset + second


def growth_of(q, position, at):
    if not hasattr(q, "gamma"):
        return at.real(1)
    k, gamma = np.arange(q.R // 2).astype(at.real), at.real(q.gamma)
    t = (position - at.real(q.center)) / at.real(q.scale_base)
    return ((2 * k / at.real(q.R) + gamma) / (1 + gamma)) ** (t if q.role == "query" else -t)


def rope(q, at):
    return {"y": rotate(q.x, q.position[:, None, :, None], q, at)}


def rope_complex(q, at):
    return rope(with_words(q, pairing="interleaved"), at)


def rope_given(q, at):
    position, amplitude = q.position[:, None, :, None], at.real(q.attention_factor)
    return {"y": turned(q.x, position, q.inv_freq, amplitude, q, at)}


def rope_rotate(q, at):
    cos, sin = at.T(q.cos)[:, None], at.T(q.sin)[:, None] * direction(q)
    return {"y": rotated(q.x, cos, sin, q, at)}


def rope_shift(q, at):
    """Rotated keys have their amplitude already."""
    f, _ = frequencies(q, at)
    return {"y": turned(q.k, q.delta[:, None, None, None], f, at.real(1), q, at)}


def rope_sections(q, at):
    """Each pair takes its position from the axis of its section."""
    axis = at("axis", axis_of_pairs(q), q)
    return {"y": rotate(q.x, q.position[:, axis, :].swapaxes(1, 2)[:, None], q, at)}


def axis_of_pairs(q):
    sections, k, count = np.array(q.sections), np.arange(q.R // 2), len(q.sections)
    if q.order == "contiguous":
        return np.repeat(np.arange(count), sections)
    if q.order == "interleaved":
        return np.where(k < count * sections[k % count], k % count, 0)
    return np.where(k < len(k) - sections[0], 1 + k % (count - 1), 0)


def rope_axial(q, at):
    """The pairs of every axis, by the axis's coordinate; in blocks, each axis is a rotation."""
    pairs = q.R // (2 * q.A)
    alternating, in_blocks = q.arrangement == "alternating", q.arrangement == "blocks"
    listed = axial_list(q, pairs * (q.A if alternating else 1), at)
    angles = [(q.position[:, a, :, None] * (listed[a :: q.A] if alternating else listed))
              .astype(at.real)[:, None] for a in range(q.A)]
    x = q.x
    for i, angle in enumerate(angles if in_blocks else [np.concatenate(angles, -1)]):
        width = 2 * angle.shape[-1]
        cos, sin = at.T(cos_of(angle)), at.T(sin_of(angle)) * direction(q)
        x = rotated(x, cos, sin, with_words(q, R=width, offset=q.offset + i * width), at)
    return {"y": x}


def axial_list(q, count, at):
    if q.frequencies == "lang":
        return at.real(q.base) ** -(np.arange(count).astype(at.real) / at.real(max(count, 1)))
    if q.frequencies == "pixel":
        return (np.linspace(EXACT(1), EXACT(q.max_freq) / 2, count) * PI).astype(at.real)
    return np.ones(count, at.real)


def xpos(q, at):
    q.scaling, q.seq_len = {"type": "none"}, None
    return rope(q, at)


def rope_frequencies(q, at):
    f, amplitude = frequencies(q, at)
    return {"inv_freq": f, "attention_factor": amplitude}


def table_of(position, f, amplitude, q, at):
    """cos and sin; the axis of f is appended to those of position."""
    angle = at("angle", at("position", position[..., None].astype(at.real), q) * f, q)
    return at("cos_sin", (cos_of(angle) * amplitude, sin_of(angle) * amplitude), q)


def rope_table(q, at):
    cos, sin = table_of(q.position, q.inv_freq, at.real(q.attention_factor), q, at)
    return {"cos": cos, "sin": sin}


def rope_cos_sin(q, at):
    cos, sin = table_of(q.position, *frequencies(q, at), q, at)
    spread = {"half_width": lambda t: t, "halves": lambda t: np.concatenate((t, t), -1),
              "interleaved": lambda t: np.repeat(t, 2, -1)}[q.layout]
    return {"cos": spread(cos), "sin": spread(sin)}


def rope_matrix(q, at):
    cos, sin = table_of(q.position, *frequencies(with_words(q, R=q.D), at), q, at)
    matrix, (i, j) = np.zeros((len(q.position), q.D, q.D), at.real), pairs_of(q.pairing, q.D)
    matrix[:, i, i], matrix[:, i, j], matrix[:, j, i], matrix[:, j, j] = cos, -sin, sin, cos
    return {"matrix": matrix}


def rope_relayout(q, at):
    y, weight = (w.reshape(q.H, q.D, -1) for w in (q.weight.copy(), q.weight))
    for source, target in zip(pairs_of(getattr(q, "from"), q.R, q.offset),
                              pairs_of(q.to, q.R, q.offset)):
        y[:, target] = weight[:, source]
    return {"y": y.reshape(q.weight.shape)}
