"""What the subjects here share: `--version`, and the operations of an object."""

import inspect
import sys

import sextant_adapter

# Of a quantizer that divides by a scale: what its operator or function does not have.
PLAIN = {"scale_rule": "quotient", "ties": "even", "codes_by": "stored"}


def rows_of_blocks(x):
    """x[N,A,G,M] as one row for each block x[n,:,g,:], where no number moves."""
    if x.shape[1] > 1 and x.shape[2] > 1:
        raise sextant_adapter.Unsupported("blocks of rows and columns")
    return x.reshape(x.shape[0] * x.shape[2], x.shape[1] * x.shape[3])


def expect_plain(**attributes):
    if attributes != PLAIN:
        raise sextant_adapter.Unsupported(f"codes are quotients by the stored scale: {PLAIN}")


def expect_inputs(case, *names):
    """A function that takes the case is not refused one with further inputs."""
    for name in sorted(case.tensors.keys() - set(names)):
        raise sextant_adapter.Unsupported(f"no {name}")


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
