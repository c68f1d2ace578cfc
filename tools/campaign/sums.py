"""Sums in one format and order. Terms are [..., n]; sums keep the last axis with extent 1."""

import numpy as np

from stages import EXACT, to_format


def sequential(terms, form):
    total = to_format(0 * terms[..., :1], form)
    for i in range(terms.shape[-1]):
        total = to_format(total.astype(EXACT) + terms[..., i : i + 1], form)
    return total.astype(EXACT)


def backwards(terms, form):
    return sequential(terms[..., ::-1], form)


def pairwise(terms, form):
    terms = to_format(terms, form).astype(EXACT)
    while terms.shape[-1] > 1:
        odd = terms[..., terms.shape[-1] // 2 * 2 :]
        even = terms[..., : terms.shape[-1] // 2 * 2]
        added = to_format(even[..., ::2] + even[..., 1::2], form).astype(EXACT)
        terms = np.concatenate((added, odd), -1)
    return terms


def lanes(terms, form, count=8):
    padding = np.zeros((*terms.shape[:-1], -terms.shape[-1] % count), EXACT)
    terms = np.concatenate((terms, padding), -1)
    rows = terms.reshape(*terms.shape[:-1], -1, count).swapaxes(-1, -2)
    return pairwise(sequential(rows, form)[..., 0], form)


def blocks(terms, form, width=16):
    parts = [sequential(terms[..., i : i + width], form) for i in range(0, terms.shape[-1], width)]
    return sequential(np.concatenate(parts, -1), form)


def compensated(terms, form):
    """Kahan's sum."""
    total = lost = np.zeros_like(terms[..., :1])
    for i in range(terms.shape[-1]):
        term = to_format(terms[..., i : i + 1] - lost, form).astype(EXACT)
        new = to_format(total + term, form).astype(EXACT)
        lost = to_format(to_format(new - total, form).astype(EXACT) - term, form).astype(EXACT)
        total = new
    return total


ORDERS = {order.__name__: order
          for order in (sequential, backwards, pairwise, lanes, blocks, compensated)}
