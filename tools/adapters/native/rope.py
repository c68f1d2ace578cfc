"""Rotary operations with the roundings of Hugging Face; one function per operation."""

import torch

import rope_types
from steps import Unsupported, parameters_of, wide


def working(x):
    return torch.promote_types(x.dtype, torch.float32)


def powers(width, base, dtype):
    """base^-(2k/width)"""
    return 1.0 / base ** (torch.arange(0, width, 2).to(dtype) / width)


def frequencies(base, scaling, seq_len, R, dtype):
    """inv_freq and attention factor. Scaled types, from rope_types.py, exist only in f32."""
    if R == 0:
        return torch.ones(0, dtype=dtype), 1.0
    name, given = scaling["type"], parameters_of(scaling)
    if name == "none":
        return powers(R, base, dtype), 1.0
    if name not in rope_types.TYPES or dtype == torch.float64:
        raise Unsupported(f"scaling {name} in {dtype}")
    if name in ("dynamic", "longrope"):
        given["length"] = seq_len or 0
    return rope_types.TYPES[name](R, base, **given)


def rope_frequencies(base, scaling, seq_len, R, dtype):
    inv_freq, amplitude = frequencies(base, scaling, seq_len, R, dtype)
    return {"inv_freq": inv_freq, "attention_factor": torch.tensor(amplitude, dtype=dtype)}


def table_of(position, inv_freq, amplitude, dtype):
    """cos and sin, rounded to dtype. The axis of inv_freq is appended to those of position."""
    angle = position.to(inv_freq.dtype)[..., None] * inv_freq
    return (angle.cos() * amplitude).to(dtype), (angle.sin() * amplitude).to(dtype)


def rope_table(position, inv_freq, attention_factor, dtype):
    cos, sin = table_of(position, inv_freq, attention_factor, dtype)
    return {"cos": cos, "sin": sin}


def rope_cos_sin(position, layout, base, scaling, seq_len, R, dtype):
    working = torch.promote_types(dtype, torch.float32)
    inv_freq, amplitude = frequencies(base, scaling, seq_len, R, working)
    tables = table_of(position, inv_freq, amplitude, dtype)
    if layout == "halves":
        tables = [torch.cat((table, table), -1) for table in tables]
    elif layout == "interleaved":
        tables = [table.repeat_interleave(2, -1) for table in tables]
    return dict(zip(("cos", "sin"), tables))


def rope_rotate(x, cos, sin, pairing, offset, direction, R):
    """x [B,H,S,D], cos and sin [B,S,R/2]"""
    before, rotary, after = x.split((offset, R, x.shape[-1] - offset - R), -1)
    sin = -sin if direction == "transpose" else sin
    cos, sin = (table.to(x.dtype)[:, None] for table in (cos, sin))
    if pairing == "half":
        a, b = rotary[..., : R // 2], rotary[..., R // 2 :]
    else:
        a, b = rotary[..., 0::2], rotary[..., 1::2]
    pair = (a * cos - b * sin, b * cos + a * sin)
    rotated = torch.cat(pair, -1) if pairing == "half" else torch.stack(pair, -1).flatten(-2)
    return torch.cat((before, rotated, after), -1)


def rope_given(x, position, inv_freq, pairing, offset, direction, attention_factor, R):
    cos, sin = table_of(position, inv_freq, attention_factor, x.dtype)
    return rope_rotate(x, cos, sin, pairing, offset, direction, R)


def rope(x, position, pairing, base, scaling, seq_len, offset, direction, R):
    inv_freq, amplitude = frequencies(base, scaling, seq_len, R, working(x))
    return rope_given(x, position, inv_freq, pairing, offset, direction, amplitude, R)


def rope_complex(x, position, base, scaling, seq_len, offset, direction, R):
    return rope(x, position, "interleaved", base, scaling, seq_len, offset, direction, R)


def rope_shift(k, delta, pairing, base, scaling, seq_len, offset, direction, R):
    inv_freq, _ = frequencies(base, scaling, seq_len, R, working(k))
    position = delta[:, None].expand(-1, k.shape[2])
    return rope_given(k, position, inv_freq, pairing, offset, direction, 1.0, R)


def pairs_of(pairing, count):
    """The indices of the two channels of each pair."""
    k = torch.arange(count // 2)
    return (k, k + count // 2) if pairing == "half" else (2 * k, 2 * k + 1)


def rope_matrix(position, pairing, base, scaling, seq_len, D, dtype):
    working = torch.promote_types(dtype, torch.float32)
    inv_freq, amplitude = frequencies(base, scaling, seq_len, D, working)
    cos, sin = table_of(position, inv_freq, amplitude, dtype)
    matrix, (i, j) = torch.zeros(len(position), D, D, dtype=dtype), pairs_of(pairing, D)
    matrix[:, i, i], matrix[:, i, j], matrix[:, j, i], matrix[:, j, j] = cos, -sin, sin, cos
    return matrix


def rope_relayout(weight, from_, to, offset, H, D, R):
    y = weight.clone()
    for source, target in zip(pairs_of(from_, R), pairs_of(to, R)):
        for head in range(0, H * D, D):
            y[head + offset + target] = weight[head + offset + source]
    return y


def axes_of(sections, order):
    """The position axis of each pair."""
    pairs, count = range(sum(sections)), len(sections)
    if order == "contiguous":
        return [axis for axis, size in enumerate(sections) for _ in range(size)]
    if order == "interleaved":
        return [k % count if k < count * sections[k % count] else 0 for k in pairs]
    return [1 + k % (count - 1) if k < len(pairs) - sections[0] else 0 for k in pairs]


def rope_sections(x, position, sections, order, pairing, base, scaling, seq_len, offset,
                  direction, R):  # fmt: skip
    inv_freq, amplitude = frequencies(base, scaling, seq_len, R, working(x))
    of_pairs = position[:, axes_of(sections, order)].transpose(1, 2)  # [B,S,R/2]
    angle = of_pairs.to(inv_freq.dtype) * inv_freq
    cos, sin = ((f * amplitude).to(x.dtype) for f in (angle.cos(), angle.sin()))
    return rope_rotate(x, cos, sin, pairing, offset, direction, R)


def axial_list(kind, count, base, max_freq, dtype):
    if kind == "lang":
        return powers(2 * count, base, dtype)
    if kind == "pixel":
        return torch.linspace(1, max_freq / 2, count, dtype=dtype) * torch.pi
    return torch.ones(count, dtype=dtype)


def rope_axial(x, position, frequencies, arrangement, pairing, base, max_freq, offset, direction,
               A, R):  # fmt: skip
    alternating = arrangement == "alternating"
    each = R // (2 * A)
    listed = axial_list(frequencies, each * (A if alternating else 1), base, max_freq, working(x))
    of_axes = [listed[a::A] if alternating else listed for a in range(A)]
    angles = [wide(position)[:, a, :, None] * of_axes[a] for a in range(A)]
    if arrangement != "blocks":
        angles = [torch.cat(angles, -1)]
    for angle in angles:
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        width = 2 * angle.shape[-1]
        x = rope_rotate(x, cos, sin, pairing, offset, direction, width)
        offset += width
    return x


def xpos(x, position, pairing, base, role, scale_base, gamma, center, offset, R):
    inv_freq = powers(R, base, working(x)) if R else torch.ones(0, dtype=working(x))
    decay = (torch.arange(0, R, 2).to(inv_freq.dtype) / max(R, 1) + gamma) / (1 + gamma)
    growth = decay ** ((position - center).to(inv_freq.dtype) / scale_base)[..., None]
    amplitude = growth if role == "query" else 1 / growth
    cos, sin = table_of(position, inv_freq, amplitude, x.dtype)
    return rope_rotate(x, cos, sin, pairing, offset, "forward", R)
