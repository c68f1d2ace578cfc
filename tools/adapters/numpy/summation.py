"""Sums of f32 numbers along the last axis, in the orders in which implementations add up."""

import numpy as np


def sequential(x):
    return np.add.accumulate(x, axis=-1)[..., -1]


def backwards(x):
    return sequential(x[..., ::-1])


def halves(x):
    """The sum of one half plus the sum of the other, down to single terms."""
    if x.shape[-1] == 1:
        return x[..., 0]
    half = x.shape[-1] // 2
    return halves(x[..., :half]) + halves(x[..., half:])


def parts_of(x, size):
    """[..., n] as [..., n / size, size], with zeros at the end, whose addition rounds nothing."""
    missing = -x.shape[-1] % size
    padded = np.concatenate([x, np.zeros(x.shape[:-1] + (missing,), x.dtype)], axis=-1)
    return padded.reshape(x.shape[:-1] + (-1, size))


def blocks(size):
    """The sums of `size` neighbours each, added up sequentially."""
    return lambda x: sequential(sequential(parts_of(x, size)))


def lanes(size):
    """Term i into partial sum i % size, as vectors have it; the partial sums sequentially."""
    return lambda x: sequential(sequential(np.swapaxes(parts_of(x, size), -1, -2)))


ORDERS = {
    "sequential": sequential,
    "backwards": backwards,
    "halves": halves,
    "blocks_8": blocks(8),
    "blocks_16": blocks(16),
    "blocks_64": blocks(64),
    "lanes_8": lanes(8),
    "lanes_16": lanes(16),
    "lanes_64": lanes(64),
    "numpy": lambda x: np.add.reduce(x, axis=-1),  # blocks of 128, each in 8 lanes, by halves
}
