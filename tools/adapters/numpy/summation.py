"""Sums of f32 numbers along the last axis, in the orders that implementations use."""

import numpy as np


def sequential(x):
    return np.add.accumulate(x, axis=-1)[..., -1]


def backwards(x):
    return sequential(x[..., ::-1])


def halves(x):
    """Pairwise sum: the sums of both halves are added, recursively down to single terms."""
    if x.shape[-1] == 1:
        return x[..., 0]
    half = x.shape[-1] // 2
    return halves(x[..., :half]) + halves(x[..., half:])


def parts_of(x, size):
    """Reshapes [..., n] to [..., n / size, size]. Padding zeros cause no rounding."""
    missing = -x.shape[-1] % size
    padded = np.concatenate([x, np.zeros(x.shape[:-1] + (missing,), x.dtype)], axis=-1)
    return padded.reshape(x.shape[:-1] + (-1, size))


def blocks(size):
    """Sums blocks of `size` neighbours, then adds the block sums sequentially."""
    return lambda x: sequential(sequential(parts_of(x, size)))


def lanes(size):
    """Adds term i to partial sum i % size (vector lanes), then the partial sums sequentially."""
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
