"""Sums along the last axis, which keeps the extent 1, in the orders that implementations use. Every
partial sum is rounded to `form`; without it, the terms are of a type that adds so by itself."""

import numpy as np

from steps import EXACT, to_format


def add(a, b, form):
    return a + b if form is None else to_format(a + b, form).astype(EXACT)


def sequential(terms, form=None):
    total = np.zeros_like(terms[..., :1])
    for i in range(terms.shape[-1]):
        total = add(total, terms[..., i : i + 1], form)
    return total


def backwards(terms, form=None):
    return sequential(terms[..., ::-1], form)


def pairwise(terms, form=None):
    """Neighbours are added, then neighbouring sums; an odd one is left for the next round."""
    terms = add(terms, 0, form)
    while terms.shape[-1] > 1:
        odd = terms[..., terms.shape[-1] // 2 * 2 :]
        even = terms[..., : terms.shape[-1] // 2 * 2]
        terms = np.concatenate((add(even[..., ::2], even[..., 1::2], form), odd), -1)
    return terms


def halves(terms, form=None):
    """The sums of both halves are added, recursively down to single terms."""
    half = terms.shape[-1] // 2
    if half == 0:
        return terms
    return add(halves(terms[..., :half], form), halves(terms[..., half:], form), form)


def parts_of(terms, size):
    """[..., n] -> [..., n / size, size]. Padding zeros cause no rounding."""
    padding = np.zeros((*terms.shape[:-1], -terms.shape[-1] % size), terms.dtype)
    return np.concatenate((terms, padding), -1).reshape(*terms.shape[:-1], -1, size)


def blocks(size):
    """Sums blocks of `size` neighbours, then adds the block sums sequentially."""
    return lambda terms, form=None: sequential(
        sequential(parts_of(terms, size), form)[..., 0], form)


def lanes(size, join=sequential):
    """Adds term i to partial sum i % size (vector lanes), then joins the partial sums."""
    return lambda terms, form=None: join(
        sequential(parts_of(terms, size).swapaxes(-1, -2), form)[..., 0], form)


def compensated(terms, form=None):
    """Kahan's sum."""
    total = lost = np.zeros_like(terms[..., :1])
    for i in range(terms.shape[-1]):
        term = add(terms[..., i : i + 1], -lost, form)
        new = add(total, term, form)
        lost = add(add(new, -total, form), -term, form)
        total = new
    return total


ORDERS = {"sequential": sequential, "backwards": backwards, "halves": halves,
          **{f"blocks_{size}": blocks(size) for size in (8, 16, 64)},
          **{f"lanes_{size}": lanes(size) for size in (8, 16, 64)},
          # blocks of 128, each in 8 lanes, by halves
          "numpy": lambda terms: np.add.reduce(terms, -1, keepdims=True)}
