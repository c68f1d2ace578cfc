"""What the subjects here share: `--version`, and the operations of an object."""

import inspect
import sys

import sextant_adapter


def operations(*families):
    """name -> method, for the public methods of the objects."""
    return {name: method for family in families
            for name, method in inspect.getmembers(family, inspect.ismethod)
            if not name.startswith("_")}  # fmt: skip


def serve(served, name, version, asked_version):
    """Answers questions, or prints name and version for `--version`. `run` gives the recipe; by
    itself a subject claims f32 arithmetic with one rounding."""
    if asked_version:
        print(name, version)
        sys.exit()
    sextant_adapter.serve(served, name=name, version=version, recipe="f32_compute")


def add_version_option(parser):
    parser.add_argument("--version", action="store_true", help="print name and version")
