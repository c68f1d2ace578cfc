"""A subject that stores the questions in a folder and answers none: `record.py FOLDER`."""

import pickle
import sys
from pathlib import Path

from operations import OPERATIONS
from stages import sextant


def main(folder):
    count = 0

    def store(case):
        nonlocal count
        question = {"attributes": {**case.attributes, "dtype": case.dtype},
                    "tensors": case.tensors, "outputs": case.outputs}
        (Path(folder) / f"{count}.question").write_bytes(pickle.dumps(question))
        count += 1
        raise sextant.Unsupported("stored")

    sextant.serve(dict.fromkeys(OPERATIONS, store), "record", "1", "native")


if __name__ == "__main__":
    main(sys.argv[1])
