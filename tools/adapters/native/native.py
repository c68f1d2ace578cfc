"""Plain implementations of all operations in numpy, written from the papers. Reason of this set of
formulas: what must be computed in several ways is written once, in stages that can be changed.

  sextant check CASES --subject "exec:/usr/bin/python3 tools/adapters/native/native.py [ORDER]"

Without ORDER, tensors are rounded where Hugging Face stores them: recipe `native`. If a formula
marks the wrong step (reference/number/recipe/recipe.h), the permitted errors are smaller than the
errors of these functions, and native_test.py fails. With ORDER, an order of sums (orders.py), all is
computed in f32 and rounded once. tools/campaign/ plants deviations in the stages, in 80 bits.
"""

import functools
import inspect
import sys
from pathlib import Path

import numpy as np

import attention
import block
import layer
import position
import rope
from orders import ORDERS
from steps import Steps, answer, sextant

FAMILIES = (rope, position, attention, layer, block)
NAMES = {path.stem for path in Path(__file__).parents[3].glob("fixtures/cases/*.cases")}
FUNCTIONS = [(name, function) for family in FAMILIES
             for name, function in inspect.getmembers(family, inspect.isfunction)
             if name in NAMES and function.__module__ == family.__name__]
OPERATIONS = dict(FUNCTIONS)
assert len(OPERATIONS) == len(FUNCTIONS), "a function of a family has the name of another's operation"


def native(function, case):
    real = np.float64 if case.dtype == "f64" else np.float32
    return answered(function, case, case.outputs, Steps(real=real, dtype=case.dtype))


def in_order(order, function, case):
    """Without intermediates: y is not computed from their rounded values."""
    outputs = {name: about for name, about in case.outputs.items()
               if name == "lse" or not about.get("optional")}
    return answered(function, case, outputs, Steps(real=np.float32, order=order))


def answered(function, case, outputs, at):
    words = dict(word.split("=", 1) for word in case.line.split()[1:])
    attributes = {**case.attributes, "dtype": case.dtype, "words": words}
    return answer(function, attributes, case.tensors, outputs, at)


if __name__ == "__main__":
    order = sys.argv[1] if len(sys.argv) > 1 else None
    how = functools.partial(in_order, ORDERS[order]) if order else native
    served = {name: functools.partial(how, function) for name, function in OPERATIONS.items()}
    sextant.serve(served, name="native", version=np.__version__, recipe="native")
