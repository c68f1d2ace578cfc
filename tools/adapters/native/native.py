"""Independent implementations of all operations in plain PyTorch, with native rounding.

  sextant check CASES --subject "exec:/usr/bin/python3 tools/adapters/native/native.py"

They are judged by recipe `native`: if a formula marks the wrong step (reference/number/recipe/recipe.h),
the permitted errors are smaller than the errors of these functions, and native_test.py fails. A
function gets tensors in their own dtypes and attributes by name, and dimensions and `dtype` if it
declares them; it returns a tensor or a dict of tensors.
"""

import functools
import inspect
from pathlib import Path

import torch

import attention
import block
import layer
import position
import rope
from steps import Unsupported, as_array, as_tensor
from subject import DTYPES, WIDE, sextant

FAMILIES = (rope, position, attention, layer, block)
OPERATIONS = {path.stem for path in Path(__file__).parents[3].glob("fixtures/cases/*.cases")}


def answer(function, case, **given):
    """Calls the function with the tensors, attributes and dimensions that it declares."""
    wides = {about["dtype"].lower() for about in case.outputs.values()} == {WIDE[case.dtype]}
    given["dtype"] = DTYPES[WIDE[case.dtype] if wides else case.dtype]
    for name, array in case.tensors.items():
        given[name] = as_tensor(array, None if case.dtypes[name] == "i64" else case.dtypes[name])
    parameters = inspect.signature(function).parameters.values()
    listed = {p.name for p in parameters if p.kind != p.VAR_KEYWORD}
    if len(listed) == len(parameters):  # no **more
        for name in sorted(given.keys() - listed):
            value = given.pop(name)
            if not (name[0].isupper() or name == "dtype" or value is None):
                raise Unsupported(f"{function.__name__} takes no '{name}'")
    else:
        given = {name: value for name, value in given.items()
                 if name in listed or not (name[0].isupper() or name == "dtype")}  # fmt: skip
    outputs = function(**given)
    if isinstance(outputs, dict):
        return {name: as_array(tensor) for name, tensor in outputs.items() if name in case.outputs}
    return as_array(outputs)


def operations():
    """name -> function, for all families."""
    return {name: function for family in FAMILIES
            for name, function in inspect.getmembers(family, inspect.isfunction)
            if name in OPERATIONS and function.__module__ == family.__name__}  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    served = {name: functools.partial(answer, function) for name, function in operations().items()}
    sextant.serve(served, name="native", version=torch.__version__, recipe="native")
