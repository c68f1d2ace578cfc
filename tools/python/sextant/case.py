"""A case of a .cases file: its inputs, and the check of an answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping

from ._calls import assert_conforms, draw_with_facts
from ._library import InputError
from ._results import NOTHING, Verdict, torch_tensor

if TYPE_CHECKING:
    import numpy
    import torch


class Case:
    """`line` is the whole case; `operation` and `dtype` ("bf16") its operation and element type;
    `dimensions` {"D": 8, ...}; `attributes` the attributes and dimensions by name, as in a question of
    the subject protocol; `inputs` arrays of numpy, bf16 and 8-bit floats as float32; `outputs` lists the expected
    outputs: name, dtype, shape, optional. `verdict` is what `check` found, None before."""

    verdict: Verdict | None = None

    def __init__(self, line: str) -> None:
        self.inputs: dict[str, numpy.ndarray]
        self.inputs, facts = draw_with_facts(line)
        self.line: str = facts["case"]
        self.question: str = facts["question"]
        self.operation: str = facts["operation"]
        self.dtype: str = facts["dtype"]
        self.attributes: dict[str, Any] = facts["attributes"]
        self.dimensions: dict[str, int] = facts["dimensions"]
        self.outputs: list[dict[str, Any]] = facts["outputs"]
        self._dtypes = {entry["name"]: entry["dtype"] for entry in facts["inputs"]}

    def __repr__(self) -> str:
        return f"<sextant.Case {self.line}>"

    def torch(self, device: Any = "cpu") -> dict[str, torch.Tensor]:
        """The inputs as torch tensors of their dtypes: torch.bfloat16, torch.float8_e4m3fn."""
        return {name: torch_tensor(values, self._dtypes[name]).to(device)
                for name, values in self.inputs.items()}

    def check(self, outputs: Any, *, recipe: str = "native", strict: bool = False, threads: int = 0,
              keep: str | os.PathLike[str] | None = None, budget_elements: int | None = None, seed: int = 0,
              min_judged: float | None = None) -> Verdict:
        """assert_conforms for the question of this case. `outputs` is a dictionary of tensors, or the
        only required output. It must have the dtype of the case; values of bf16 and of 8-bit floats may be in float32. If no
        output of the case has an element, the shapes are all that is checked, and the status_code of
        the verdict is 4; pytest then skips the test."""
        __tracebackhide__ = True
        if not isinstance(outputs, Mapping):
            required = [output["name"] for output in self.outputs if not output["optional"]]
            if len(required) != 1:
                raise InputError(f"{self.operation} has the outputs {' '.join(required)}, expected a "
                                 "dictionary of tensors by name")
            outputs = {required[0]: outputs}
        try:
            self.verdict = assert_conforms(
                self.question, self.inputs, outputs, recipe=recipe, strict=strict, threads=threads,
                keep=keep, budget_elements=budget_elements, seed=seed, min_judged=min_judged)
        except AssertionError as error:
            self.verdict = getattr(error, "verdict", None)
            if self.verdict is None or self.verdict.status_code != NOTHING:
                raise
        return self.verdict
