"""ggml (llama.cpp) as a subject: its own operations, on the CPU.

    sextant check CASES --subject "exec:/usr/bin/python3 tools/frameworks/ggml/subject.py [--plain]"

--plain: attention by mul_mat, soft_max_ext, mul_mat in place of flash_attn_ext; no other operations
"""

import argparse
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parent), str(ROOT / "tools/adapters/python")]

import sextant_adapter as sextant  # noqa: E402
from attention import Attention  # noqa: E402
from layer import Layer  # noqa: E402
from library import Library  # noqa: E402
from rope import Rope  # noqa: E402

INSTALLED = ROOT / "build/frameworks/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64"


def operations(family):
    return {name: method for name, method in inspect.getmembers(family, inspect.ismethod)
            if not name.startswith("_")}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", default=INSTALLED, help="the folder with libggml-base.so")
    parser.add_argument("--plain", action="store_true", help="attention without flash_attn_ext")
    arguments = parser.parse_args()
    library = Library(arguments.libraries)
    families = [Attention(library, flash=not arguments.plain)]
    if not arguments.plain:
        families += [Rope(library), Layer(library)]
    served = {name: method for family in families for name, method in operations(family).items()}
    name = "ggml without flash attention" if arguments.plain else "ggml"
    sextant.serve(served, name=name, version=f"{library.version} {library.cpu_name}",
                  recipe="*=f32 frequency=f32:iterated keep=T store=T")  # fmt: skip


if __name__ == "__main__":
    main()
