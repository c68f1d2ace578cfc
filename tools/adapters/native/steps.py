"""How the formulas of this folder are computed: in which numbers, roundings, sums, with which changes.

An operation is a function of a question and of `at`, an object of class Steps. The question is a
namespace of the attributes, dimensions and input tensors of a case, by their names in the protocol.
The function passes the result of every stage through `at("stage", value, question)`, what is stored
as a tensor of the case through `at.T`, and adds and multiplies by `at.sum` and `at.dot`.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import sextant_adapter as sextant  # noqa: E402  (found by the line above)

EXACT = np.longdouble  # 64 bits of significand
MOST_PRODUCTS = 1 << 24  # products in memory at a time


class Steps:
    """`changes`: dicts from stages to functions (value, question) -> value, applied one after the
    other. `real`: the type of all numbers. `dtype`: what `T` rounds to; None: it rounds nothing.
    `order`: the function of orders.py that adds; None: numpy's own sums."""

    def __init__(self, changes=(), real=EXACT, dtype=None, order=None):
        self.changes, self.real, self.dtype, self.order = changes, real, dtype, order
        self.seen = {}  # stage -> its result: later stages of a change may need it

    def __call__(self, stage, value, question=None):
        for change in self.changes:
            if stage in change:
                value = change[stage](value, question)
        self.seen[stage] = value
        if question is not None:
            question.seen = self.seen
        return value

    def T(self, values):
        """Values that are stored in the dtype of the case."""
        if self.dtype is None:
            return values
        assert values.dtype == self.real, f"computed in {values.dtype}, expected {self.real}"
        return to_format(values, self.dtype).astype(self.real)

    def sum(self, terms):
        """[..., n] -> [..., 1]"""
        return self.order(terms) if self.order else terms.sum(-1, keepdims=True)

    def dot(self, a, b):
        """[..., n, m] and [..., f, m] -> [..., n, f]"""
        if not self.order:
            return np.einsum("...nm,...fm->...nf", a, b)
        step = max(1, MOST_PRODUCTS // max(1, b.size))
        rows = [self.order(a[..., i : i + step, None, :] * b[..., None, :, :])[..., 0]
                for i in range(0, a.shape[-2], step)]
        return np.concatenate(rows, axis=-2)


def question_of(attributes, tensors, real=EXACT):
    """Integers stay integers, and f64 tensors of 16-bit cases stay f64."""
    numbers = {name: t if t.dtype.kind == "i" else t.astype(np.promote_types(t.dtype, real))
               for name, t in tensors.items()}
    return SimpleNamespace(**attributes, **numbers, seen={})


def answer(function, attributes, tensors, outputs, at):
    """The outputs of an operation, rounded to their dtypes. `outputs`: name -> {"dtype", ...}."""
    question = question_of(attributes, tensors, at.real)
    with np.errstate(all="ignore"):
        computed = function(at("question", question, question), at)
        return {name: to_format(values, outputs[name]["dtype"])
                for name, values in computed.items() if name in outputs}


def cos_of(x):
    """Rounded once: the sines of numpy err by up to 3 units in the last place of f32 and f64."""
    return np.cos(x.astype(EXACT)).astype(x.dtype)


def sin_of(x):
    return np.sin(x.astype(EXACT)).astype(x.dtype)


def with_words(question, **words):
    """The question with other attributes, dimensions or tensors."""
    return SimpleNamespace(**{**vars(question), **words})


def to_format(values, name):
    """Rounds to "f64", "f32", "f16", "bf16" or a type of 8 bits; rounding twice, by way of f64, changes at most the
    last bit of one value in 2000 of f64's own neighbours, and no value that f64 holds exactly."""
    values = np.asarray(values)
    if name in ("f32", "f16"):
        return np.asarray(values, {"f32": np.float32, "f16": np.float16}[name])
    return np.asarray(sextant.round_to(values.astype(np.float64), name))
