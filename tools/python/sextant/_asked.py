"""The process in which the functions of assert_computes run."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import os
import runpy
import sys
from typing import Any, Callable

from . import adapter
from ._ask import _numbers
from ._results import torch_tensor


def main(text: str) -> None:
    words = json.loads(text)
    functions = {name: _function(*target) for name, target in words["targets"].items()}
    if words["torch"]:
        functions = {name: _with_torch(function) for name, function in functions.items()}
    adapter.serve(functions, name="assert_computes", recipe=words["recipe"])


def _function(module: str, name: str) -> Callable[..., Any]:
    if os.path.isfile(module):
        found: Any = runpy.run_path(module)[name.partition(".")[0]]
        rest = name.split(".")[1:]
    else:
        found, rest = importlib.import_module(module), name.split(".")
    return functools.reduce(getattr, rest, found)


def _with_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function gets torch tensors: in the memory of the last ones where the arrays are."""
    kept: dict[str, tuple[Any, Any]] = {}

    def answer(case: adapter.Case, **_: Any) -> dict[str, Any]:
        import torch

        received = {name: torch_tensor(values, case.dtypes[name]) for name, values in case.tensors.items()}
        for name, tensor in received.items():
            array, former = kept.get(name, (None, None))
            if array is case.tensors[name]:
                former.data.copy_(tensor)  # as a kernel would write it: its version stays
            else:
                former = tensor.clone()
            kept[name] = case.tensors[name], former
        given = {name: kept[name][1] for name in received}
        outputs = adapter._call(function, dataclasses.replace(case, tensors=given))
        for name, tensor in received.items():
            if not torch.equal(*(one.contiguous().reshape(-1).view(torch.uint8) for one in (given[name], tensor))):
                raise ValueError(f"the function changed the input {name}")
        return {name: _numbers(values) for name, values in outputs.items()}

    return answer


if __name__ == "__main__":
    main(sys.argv[1])
