"""Operations in numpy, computed in named stages, so that a deviation can change what a stage gives.

A question is a namespace of the attributes, dimensions and input tensors of a case, by their names
in the protocol. An operation is a function of the question and of `at`, a Stages: it passes the
result of every stage through `at("stage", value)`. A deviation, or an honest recipe, is a dict from
stages to functions (value, question) -> value. Several are applied one after the other.

All values are numpy.longdouble (64 bits of significand), unless a recipe rounds them.
"""

import copy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "adapters" / "python"))
from sextant_adapter import round_to  # noqa: E402

EXACT = np.longdouble


class Stages:
    def __init__(self, changes=()):
        self.changes = changes
        self.seen = {}  # stage -> its result: later stages of a deviation may need it

    def __call__(self, stage, value, question=None):
        for change in self.changes:
            if stage in change:
                value = change[stage](value, question)
        self.seen[stage] = value
        if question is not None:
            question.seen = self.seen
        return value


def question_of(attributes, tensors):
    """Tensors of numbers become longdouble; integers stay integers."""
    exact = {n: t if t.dtype.kind == "i" else t.astype(EXACT) for n, t in tensors.items()}
    return SimpleNamespace(**attributes, **exact, seen={})


def answer(function, attributes, tensors, outputs, changes=()):
    """The outputs of an operation, rounded to their dtypes. `outputs`: name -> {"dtype", ...}."""
    at = Stages(changes)
    question = question_of(attributes, tensors)
    with np.errstate(all="ignore"):
        computed = function(at("question", question, question), at)
        return {n: to_format(v, outputs[n]["dtype"].lower()) for n, v in computed.items()}


def to_format(values, name):
    """Rounds to "f64", "f32", "f16" or "bf16"; rounding twice, by way of f64, changes at most the
    last bit of one value in 2000 of f64's own neighbours, and no value that f64 holds exactly."""
    values = np.asarray(values)
    if name == "f64" or name == "bf16":
        return np.asarray(round_to(values.astype(np.float64), name))
    return np.asarray(values, {"f32": np.float32, "f16": np.float16}[name])


def rounded(name):
    """A change: the stage's result is rounded to the format `name`."""
    return lambda value, question: to_format(value, name).astype(EXACT)


def changed(**words):
    """A change of stage "question": other values of attributes; `scaling__factor=4` is an argument
    of an attribute that is a call."""

    def change(question, _):
        question = copy.copy(question)
        for word, value in words.items():
            name, _, argument = word.partition("__")
            if argument:
                value = {**getattr(question, name), argument: value}
            setattr(question, name, value)
        return question

    return {"question": change}
