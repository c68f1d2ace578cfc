"""Changes of stages. The operations are computed in named stages (tools/adapters/native/steps.py),
so that a deviation can change what a stage gives. A deviation, or an honest recipe, is a dict from
stages to functions (value, question) -> value. Several are applied one after the other.

All values are numpy.longdouble (64 bits of significand), unless a recipe rounds them.
"""

import copy
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "adapters" / "native"))
import layer  # noqa: E402, F401  (found by the line above)
import steps  # noqa: E402
from native import OPERATIONS as NATIVE  # noqa: E402, F401
from orders import backwards, blocks, compensated, lanes, pairwise, sequential  # noqa: E402
from steps import EXACT, Steps, question_of, sextant, to_format  # noqa: E402, F401

ORDERS = {"sequential": sequential, "backwards": backwards, "pairwise": pairwise,
          "lanes": lanes(8, pairwise), "blocks": blocks(16), "compensated": compensated}


def answer(function, attributes, tensors, outputs, changes=()):
    """The required outputs of an operation, rounded to their dtypes."""
    required = {name: about for name, about in outputs.items() if not about.get("optional")}
    return steps.answer(function, attributes, tensors, required, Steps(changes))


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
