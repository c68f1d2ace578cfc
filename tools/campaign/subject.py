"""The subject: `subject.py NAME` answers questions with the deviations, or the honest recipe, NAME.
Two names are joined by "+"; "right" has no deviation."""

import sys

import stages
from deviations import changes_of
from operations import OPERATIONS


def serve(name):
    changes = changes_of(name)

    def answer(function):
        return lambda case: stages.answer(function, {**case.attributes, "dtype": case.dtype},
                                          case.tensors, case.outputs, changes)

    functions = {operation: answer(function) for operation, function in OPERATIONS.items()}
    stages.sextant.serve(functions, name="campaign", version="1", recipe="native")


if __name__ == "__main__":
    serve(sys.argv[1])
