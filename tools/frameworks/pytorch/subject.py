"""PyTorch as a subject: functions of torch.nn.functional and layers of torch.nn.

    sextant check CASES --subject "exec:/usr/bin/python3 tools/frameworks/pytorch/subject.py [cpu|cuda]"

RoPE is not here: PyTorch has no kernel for it (tools/adapters/torch has the formulas of models).
"""

import argparse
import functools
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tools/adapters/python")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import functions  # noqa: E402
import masks  # noqa: E402
import serving  # noqa: E402
from sextant_adapter import Unsupported  # noqa: E402

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
          "bf16": torch.bfloat16, "i64": torch.int64, "i8": torch.int8}  # fmt: skip


def array(tensor):
    """As numpy; bf16 as f32."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def answer(function, device, case, **given):
    """Calls the function with tensors in their own dtypes. PyTorch refuses some dtypes by a
    RuntimeError; the case is then unsupported."""
    given = {**case.attributes, **given}  # those that `sextant identify` does not say are None
    for name, values in case.tensors.items():
        if case.dtypes[name] not in DTYPES:
            raise Unsupported(f"torch {torch.__version__} has no {case.dtypes[name]}")
        tensor = torch.from_numpy(np.array(values)).to(DTYPES[case.dtypes[name]])
        given[name] = tensor.to(device)
    parameters = inspect.signature(function).parameters
    unknown = sorted(name for name in given.keys() - parameters.keys()
                     if not (name[0].isupper() or name == "dtype" or given[name] is None))  # fmt: skip
    if unknown and "masking" not in parameters:
        raise Unsupported(f"takes no {' '.join(unknown)}")
    given["outputs"] = {name: about["dtype"] for name, about in case.outputs.items()}
    if "masking" in parameters:
        given["masking"] = {name: given[name] for name in masks.NAMES if name in given}
    given = {name: value for name, value in given.items() if name in parameters}
    try:
        outputs = function(**given)
    # PyTorch has no type of its own for an operation without a kernel for a dtype, or for two dtypes:
    # only these words of its messages say it.
    except (RuntimeError, ValueError) as error:
        if "not implemented for" in str(error) or "same dtype" in str(error) or "scalar type" in str(error):
            raise Unsupported(str(error).splitlines()[0]) from error
        raise
    if isinstance(outputs, dict):
        return {name: array(tensor) for name, tensor in outputs.items()}
    return array(outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", nargs="?", default="cpu", choices=("cpu", "cuda"))
    serving.add_version_option(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    served = {name: functools.partial(answer, function, arguments.device)
              for name, function in functions.operations().items()}  # fmt: skip
    serving.serve(served, f"PyTorch, {arguments.device}", torch.__version__, arguments.version)


if __name__ == "__main__":
    main()
