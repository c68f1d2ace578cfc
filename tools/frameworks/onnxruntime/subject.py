"""ONNX Runtime as a subject: its own kernels, on the CPU, one operator per question.

    sextant check CASES --subject "exec:/usr/bin/python3 tools/frameworks/onnxruntime/subject.py [KIND]"

KIND: onnx         operators of ONNX (the default)
      microsoft    operators of ONNX Runtime (com.microsoft), with MultiHeadAttention
      group_query  attention by GroupQueryAttention
"""

import argparse
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tools/adapters/python")]

import sextant_adapter as sextant  # noqa: E402
from attention import GroupQuery, MultiHead, StandardAttention  # noqa: E402
from layer import Contributed, Standard  # noqa: E402
from library import Library  # noqa: E402

INSTALLED = ROOT / "build/frameworks/node_modules/onnxruntime-node/bin/napi-v6/linux/x64"
KINDS = {"onnx": (Standard, StandardAttention), "microsoft": (Contributed, MultiHead),
         "group_query": (GroupQuery,)}  # fmt: skip


def operations(family):
    return {name: method for name, method in inspect.getmembers(family, inspect.ismethod)
            if not name.startswith("_")}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", default="onnx", choices=KINDS)
    parser.add_argument("--library", default=INSTALLED / "libonnxruntime.so.1")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    families = [family(library) for family in KINDS[arguments.kind]]
    served = {name: method for family in families for name, method in operations(family).items()}
    sextant.serve(served, name=f"onnxruntime {arguments.kind}", version=library.version,
                  recipe="f32_compute")  # fmt: skip


if __name__ == "__main__":
    main()
