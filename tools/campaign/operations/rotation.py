"""Rotations: rope, rope_sections, xpos, and their tables. Formulas: Su et al. 2021 (2104.09864),
eq. 34; scalings as in huggingface/transformers modeling_rope_utils.py; xpos: Sun et al. 2022
(2212.10554), section 3; sinusoidal: Vaswani et al. 2017 (1706.03762), section 3.5."""

import numpy as np

from stages import EXACT

PI = EXACT("3.14159265358979323846264338327950288")


def frequencies(q, at):
    """[R/2] radians per token, and the amplitude of cos and sin."""
    k = at("index", np.arange(q.R // 2).astype(EXACT), q)
    exponent = at("exponent", 2 * k / at("width", EXACT(q.R), q), q)
    scaling = at("scaling", q.scaling, q)
    plain = at("plain", at("base", base_of(q, scaling), q) ** -exponent, q)
    f, amplitude = SCALINGS.get(scaling["type"], unscaled)(plain, q, scaling, at)
    return at("frequency", f, q), at("amplitude", EXACT(amplitude), q)


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


def linear(f, q, scaling, at):
    return f / scaling["factor"], 1


def llama3(f, q, scaling, at):
    trained, factor = scaling["original_max_position_embeddings"], EXACT(scaling["factor"])
    low, high = EXACT(scaling["low_freq_factor"]), EXACT(scaling["high_freq_factor"])
    turns = at("turns", trained * f / (2 * PI), q)
    kept = at("ramp", np.clip((turns - low) / (high - low), 0, 1), q)
    return (1 - kept) * f / factor + kept * f, 1


def yarn(f, q, scaling, at):
    factor, base = EXACT(scaling["factor"]), np.log(EXACT(q.base))
    trained = EXACT(scaling["original_max_position_embeddings"])

    def limit(turns):
        return q.R * np.log(trained / (2 * PI * turns)) / (2 * base)

    low, high = limit(EXACT(scaling["beta_fast"])), limit(EXACT(scaling["beta_slow"]))
    if scaling["truncate"]:
        low, high = np.floor(low), np.ceil(high)
    low, high = at("limits", (max(low, EXACT(0)), min(high, EXACT(q.R - 1))), q)
    divided = at("ramp", np.clip((np.arange(q.R // 2) - low) / (high - low), 0, 1), q)
    amplitude = scaling.get("attention_factor") or EXACT("0.1") * np.log(factor) + 1
    return divided * f / factor + (1 - divided) * f, amplitude


def longrope(f, q, scaling, at):
    trained = scaling["original_max_position_embeddings"]
    is_long = at("is_long", (q.seq_len or trained) > trained, q)
    factors = np.array(scaling["long_factor" if is_long else "short_factor"]).astype(EXACT)
    factor = EXACT(scaling["factor"])
    return f / factors, np.sqrt(1 + np.log(factor) / np.log(EXACT(trained)))


SCALINGS = {"linear": linear, "llama3": llama3, "yarn": yarn, "longrope": longrope}


def rotate(x, position, q, at):
    """x [B,H,S,D]; position broadcasts to [B,H,S,R/2]."""
    f, amplitude = frequencies(q, at)
    angle = at("angle", at("position", position.astype(EXACT), q) * f, q)
    cos, sin = at("cos", np.cos(angle), q), at("sin", np.sin(angle), q)
    growth = at("growth", growth_of(q, position.astype(EXACT)), q)
    cos = at("cos_table", cos * amplitude * growth, q)
    sin = at("sin_table", sin * amplitude * growth * direction(q), q)
    first, second = at("pairs", pairs_of(q), q)
    a, b = x[..., first], x[..., second]
    at("operands", (a, b), q)
    ac, bs, as_, bc = (at("product", v, q) for v in (a * cos, b * sin, a * sin, b * cos))
    new = at("rotated", (ac - bs, as_ + bc), q)
    y = at("rest", x.copy(), q)
    y[..., first], y[..., second] = new
    return at("output", y, q)


def direction(q):
    return -1 if getattr(q, "direction", "forward") == "transpose" else 1


def pairs_of(q):
    half, k = q.R // 2, np.arange(q.R // 2)
    if q.pairing == "half":
        return q.offset + k, q.offset + k + half
    return q.offset + 2 * k, q.offset + 2 * k + 1


def growth_of(q, position):
    if not hasattr(q, "gamma"):
        return EXACT(1)
    k, gamma = np.arange(q.R // 2).astype(EXACT), EXACT(q.gamma)
    t = (position - q.center) / EXACT(q.scale_base)
    return ((2 * k / q.R + gamma) / (1 + gamma)) ** (t if q.role == "query" else -t)


def rope(q, at):
    return {"y": rotate(q.x, q.position[:, None, :, None], q, at)}


def rope_sections(q, at):
    """Each pair takes its position from the axis of its section."""
    axis = at("axis", axis_of_pairs(q), q)
    return {"y": rotate(q.x, q.position[:, axis, :].swapaxes(1, 2)[:, None], q, at)}


def axis_of_pairs(q):
    sections, k = q.sections, np.arange(q.R // 2)
    if q.order == "contiguous":
        return np.repeat(np.arange(len(sections)), sections)
    interleaved = k % len(sections)
    return np.where(k < len(sections) * np.array(sections)[interleaved], interleaved, 0)


def xpos(q, at):
    q.scaling, q.seq_len = {"type": "none"}, None
    return rope(q, at)


def rope_frequencies(q, at):
    f, amplitude = frequencies(q, at)
    return {"inv_freq": f, "attention_factor": amplitude}


def rope_cos_sin(q, at):
    f, amplitude = frequencies(q, at)
    angle = at("angle", at("position", q.position[:, :, None].astype(EXACT), q) * f, q)
    cos, sin = at("cos_sin", (np.cos(angle) * amplitude, np.sin(angle) * amplitude), q)
    spread = {"half_width": lambda t: t, "halves": lambda t: np.concatenate((t, t), -1),
              "interleaved": lambda t: np.repeat(t, 2, -1)}[q.layout]
    return {"cos": spread(cos), "sin": spread(sin)}


def sinusoidal(q, at):
    k, half = at("index", np.arange(q.M // 2).astype(EXACT), q), q.M // 2
    exponent = 2 * k / q.M if q.denominator == "paper" else k / max(half - 1, 1)
    f = at("frequency", EXACT(q.base) ** -at("exponent", exponent, q), q)
    angle = at("angle", at("position", q.position[:, None].astype(EXACT), q) * f, q)
    sin, cos = at("sin_cos", (np.sin(angle), np.cos(angle)), q)
    if q.layout == "concatenated":
        return {"y": np.concatenate((sin, cos), -1)}
    return {"y": np.stack((sin, cos), -1).reshape(q.S, q.M)}
