"""Shared by the PyTorch subjects: the table of systems, conversions of tensors, and `serve`.

Reason of this set of formulas: forms of articles, libraries and models, right and wrong, as their
authors wrote them (systems.toml)."""

import argparse
import functools
import sys
import tomllib
from pathlib import Path

import numpy
import torch

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "python"))
import sextant_adapter as sextant  # noqa: E402  (found by the line above)

Unsupported = sextant.Unsupported
TABLE = tomllib.loads((FOLDER / "systems.toml").read_text())
DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
}
UNSCALED = {"type": "none"}
WIDE = {"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32"}  # the dtype of `wide` tensors


def as_tensor(array, dtype=None):
    """`array` (numpy or torch) as a tensor, converted to the named dtype if one is given."""
    tensor = array if isinstance(array, torch.Tensor) else torch.from_numpy(numpy.array(array))
    return tensor if dtype is None else tensor.to(DTYPES[dtype])


def as_array(tensor):
    """The tensor as a numpy array; bf16, which numpy lacks, becomes f32 without rounding."""
    tensor = tensor.detach()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def parameters_of(scaling):
    """The parameters that are set: {"type": "linear", "factor": 8} -> {"factor": 8}"""
    return {key: value for key, value in scaling.items() if key != "type" and value is not None}


def in_numpy(operation):
    @functools.wraps(operation)  # whose parameters count
    def answer(**given):
        outputs = operation(**given)
        if isinstance(outputs, dict):
            return {name: as_array(tensor) for name, tensor in outputs.items()}
        return as_array(outputs)

    return answer


def serve(systems):
    """Serves the system named on the command line; `systems`: name -> {operation: function}."""
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=sorted(systems))
    name = parser.parse_args().system
    torch.set_num_threads(1)  # the judge runs several subjects at once
    operations = {operation: in_numpy(answer) for operation, answer in systems[name].items()}
    sextant.serve(operations, name=name, version=torch.__version__, recipe=TABLE[name]["recipe"])
