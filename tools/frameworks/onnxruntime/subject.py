"""ONNX Runtime as a subject: its own kernels, on the CPU, one operator per question.

    sextant check CASES --subject "exec:/usr/bin/python3 tools/frameworks/onnxruntime/subject.py [KIND]"

KIND: onnx         operators of ONNX (the default)
      microsoft    operators of ONNX Runtime (com.microsoft), with MultiHeadAttention
      group_query  attention by GroupQueryAttention
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tools/adapters/python")]

import serving  # noqa: E402
from attention import GroupQuery, MultiHead, StandardAttention  # noqa: E402
from layer import Contributed, Standard  # noqa: E402
from library import INSTALLED, Library  # noqa: E402
from quantization import Quantization  # noqa: E402

KINDS = {"onnx": (Standard, StandardAttention, Quantization), "microsoft": (Contributed, MultiHead),
         "group_query": (GroupQuery,)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", default="onnx", choices=KINDS)
    parser.add_argument("--library", default=INSTALLED)
    serving.add_version_option(parser)
    arguments = parser.parse_args()
    library = Library(arguments.library)
    families = [family(library) for family in KINDS[arguments.kind]]
    serving.serve(serving.operations(*families), f"ONNX Runtime, {arguments.kind}", library.version,
                  arguments.version)  # fmt: skip


if __name__ == "__main__":
    main()
