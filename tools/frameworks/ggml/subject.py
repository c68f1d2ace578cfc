"""ggml (llama.cpp) as a subject: its own operations, on the CPU.

    sextant check CASES --subject "exec:/usr/bin/python3 tools/frameworks/ggml/subject.py [OPTION]"

--plain     attention by mul_mat, soft_max_ext, mul_mat in place of flash_attn_ext; no other operations
--files     quantize by ggml_quantize_chunk, which writes model files; no other operations
--cpu NAME  the library for this CPU (x64, sse42, haswell ...); else the best for this machine
"""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tools/adapters/python")]

import serving  # noqa: E402
from attention import Attention  # noqa: E402
from blocks import Blocks  # noqa: E402
from layer import Layer  # noqa: E402
from library import INSTALLED, Library  # noqa: E402
from rope import Rope  # noqa: E402



def main():
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # an abort prints its reason alone
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", default=INSTALLED, help="the folder with libggml-base.so")
    parser.add_argument("--plain", action="store_true", help="attention without flash_attn_ext")
    parser.add_argument("--files", action="store_true", help="quantize by ggml_quantize_chunk")
    parser.add_argument("--cpu", default="*", help="the library for this CPU, for example sse42")
    serving.add_version_option(parser)
    arguments = parser.parse_args()
    library = Library(arguments.libraries, arguments.cpu)
    if arguments.plain:
        name, families = "ggml without flash attention", [Attention(library, flash=False)]
    elif arguments.files:
        name, families = "ggml_quantize_chunk", [Blocks(library, files=True)]
    else:
        name = "ggml"
        families = [Attention(library, flash=True), Blocks(library, files=False),
                    Rope(library), Layer(library)]  # fmt: skip
    serving.serve(serving.operations(*families), name, f"{library.version} {library.cpu_name}",
                  arguments.version)  # fmt: skip


if __name__ == "__main__":
    main()
