"""Positions without rotation. Formulas: sinusoidal: Vaswani et al. 2017 (1706.03762), section 3.5;
ALiBi: Press, Smith and Lewis 2021 (2108.12409), section 3; buckets: Raffel et al. 2019
(1910.10683), section 2.1; temperature: Llama 4; log n: Qwen-1."""

import numpy as np

from steps import EXACT, cos_of, sin_of


def sinusoidal(q, at):
    k, half = at("index", np.arange(q.M // 2).astype(at.real), q), q.M // 2
    paper = q.denominator == "paper"
    exponent = 2 * k / at.real(q.M) if paper else k / at.real(max(half - 1, 1))
    f = at("frequency", at.real(q.base) ** -at("exponent", exponent, q), q)
    angle = at("angle", at("position", q.position[:, None].astype(at.real), q) * f, q)
    sin, cos = at("sin_cos", (sin_of(angle), cos_of(angle)), q)
    if q.layout == "concatenated":
        return {"y": np.concatenate((sin, cos), -1)}
    return {"y": np.stack((sin, cos), -1).reshape(q.S, q.M)}


def alibi(q, at):
    i, t = at("queries", q.query_position, q)[:, None], at("keys", q.key_position, q)[None]
    distance = {"distance": i - t, "key": -t + 0 * i, "symmetric": np.abs(i - t)}[q.form]
    distance = at("distance", distance.astype(at.real), q)
    return {"bias": at("output", -at("slope", q.slope, q)[:, None, None] * distance, q)}


def alibi_slopes(q, at):
    """If H is not a power of two, the other heads take every second slope of 2n heads."""
    n = at("powers", 1 << max(q.H.bit_length() - 1, 0), q)
    h = np.arange(q.H)
    exponent = np.where(h < n, (h + 1) / EXACT(n), (2 * (h - n) + 1) / EXACT(2 * n))
    exponent = at("exponent", at.real(q.max_bias) * exponent.astype(at.real), q)
    return {"slope": at("output", at("root", at.real(2), q) ** -exponent, q)}


def temperature_scale(q, at):
    p = at("position", q.position.astype(EXACT), q)
    block = at("block", np.floor((p + q.start) / EXACT(q.floor_scale)).astype(at.real), q)
    factor = at("factor", at.T(1 + at.real(q.beta) * np.log(1 + block)), q)
    return {"y": at("output", at.T(q.q * factor[:, None]), q)}


def log_n_scale(q, at):
    p = at("position", q.position.astype(EXACT), q)
    trained = at("trained", at.real(q.original_max_position_embeddings), q)
    ratio = np.log(np.maximum(p + 1, 1).astype(at.real)) / np.log(trained)
    factor = at("factor", at.T(np.maximum(1, ratio)), q)
    return {"y": at("output", at.T(q.q * factor[:, None]), q)}


def relative_bias(q, at):
    def row(query, key):
        n = q.P // 2 if q.bidirectional else q.P
        distance = abs(key - query) if q.bidirectional else max(query - key, 0)
        bucket = bucket_of(distance, n, q.max_distance)
        return bucket + (n if q.bidirectional and key > query else 0)

    rows = [[row(int(query), int(key)) for key in q.key_position] for query in q.query_position]
    rows = np.array(rows, int).reshape(q.S, q.T)
    return {"bias": np.moveaxis(q.table[rows], -1, 0)}


def bucket_of(distance, n, max_distance):
    """The bucket of a distance >= 0 among n: the first half exact, the others logarithmic."""
    exact = n // 2
    bucket = exact
    while bucket < n - 1 and distance ** (n - exact) * exact ** (bucket + 1 - exact) >= (
        max_distance ** (bucket + 1 - exact) * exact ** (n - exact)
    ):
        bucket += 1
    return distance if distance < exact else bucket
