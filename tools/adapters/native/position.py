"""Position operations without rotation, as in Hugging Face; one function per operation."""

import torch

from rope import powers, table_of
from steps import wide


def scaled_by(q, factor):
    """Multiplies by one factor per token, rounded to the dtype of q."""
    return q * factor.to(q.dtype)[:, None]


def log_n_scale(q, position, original_max_position_embeddings):
    grown = (position + 1).clamp(min=1).to(wide(q).dtype)
    trained = torch.tensor(original_max_position_embeddings, dtype=grown.dtype)
    return scaled_by(q, (torch.log(grown) / torch.log(trained)).clamp(min=1))


def temperature_scale(q, position, beta, floor_scale, start):
    steps = (position + start).div(floor_scale, rounding_mode="floor").to(wide(q).dtype)
    return scaled_by(q, 1 + beta * torch.log(1 + steps))


def sinusoidal(position, base, layout, denominator, M, dtype):
    working = torch.promote_types(dtype, torch.float32)
    inv_freq = powers(M, base, working)
    if denominator == "tensor2tensor":
        inv_freq = 1.0 / base ** (torch.arange(M // 2, dtype=working) / max(M // 2 - 1, 1))
    cos, sin = table_of(position, inv_freq, 1.0, dtype)
    if layout == "concatenated":
        return torch.cat((sin, cos), -1)
    return torch.stack((sin, cos), -1).flatten(-2)


def alibi_slopes(max_bias, H, dtype):
    """If H is not a power of two, the other heads take every second slope of 2n heads."""
    n = 2 ** (H.bit_length() - 1) if H else 1
    exponents = [(h + 1) / n for h in range(n)] + [(2 * h + 1) / (2 * n) for h in range(H - n)]
    return 2 ** -(max_bias * torch.tensor(exponents[:H], dtype=dtype))


def alibi(slope, query_position, key_position, form, dtype):
    distance = key_position - query_position[:, None]
    if form == "key":
        distance = key_position.expand(distance.shape)
    if form == "symmetric":
        distance = -distance.abs()
    return (slope[:, None, None] * distance).to(dtype)


def bucket_of(distance, n, max_distance):
    """The bucket of a distance >= 0 among n: the first half exact, the others logarithmic."""
    exact = n // 2
    bucket = exact
    while bucket < n - 1 and distance ** (n - exact) * exact ** (bucket + 1 - exact) >= (
        max_distance ** (bucket + 1 - exact) * exact ** (n - exact)
    ):
        bucket += 1
    return distance if distance < exact else bucket


def relative_bias(table, query_position, key_position, bidirectional, max_distance, P):
    def row(query, key):
        n = P // 2 if bidirectional else P
        distance = abs(key - query) if bidirectional else max(query - key, 0)
        return bucket_of(distance, n, max_distance) + (n if bidirectional and key > query else 0)

    rows = [[row(int(q), int(k)) for k in key_position] for q in query_position]
    index = torch.tensor(rows, dtype=torch.int64).reshape(len(query_position), len(key_position))
    return table[index].movedim(-1, 0)
