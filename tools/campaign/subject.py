"""The subject: `subject.py NAME` answers questions with the deviations, or the honest recipe, NAME.
Two names are joined by "+"; "right" has no deviation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "adapters" / "python"))

import sextant_adapter as sextant  # noqa: E402

import stages  # noqa: E402
from deviations import changes_of  # noqa: E402
from operations import OPERATIONS  # noqa: E402


def serve(name):
    changes = changes_of(name)

    def answer(function):
        return lambda case: stages.answer(function, {**case.attributes, "dtype": case.dtype},
                                          case.tensors, case.outputs, changes)

    functions = {operation: answer(function) for operation, function in OPERATIONS.items()}
    sextant.serve(functions, name="campaign", version="1", recipe="native")


if __name__ == "__main__":
    serve(sys.argv[1])
