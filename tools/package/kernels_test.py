"""Tests that every kernel is compiled for all targets of Highway: in a batch with another file, all but
the first would have the static target alone.

    SEXTANT=build/sextant python3 tools/package/kernels_test.py
"""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
ROOMS = ("reference", "fast", "fixtures", "oracle", "tools")


def targets_of(kernel):
    """The targets in the object file of a kernel: {"N_AVX2", ...}."""
    folder = BUILD / f"CMakeFiles/{kernel.parts[0]}{'_test' * kernel.stem.endswith('_test')}.dir"
    symbols = subprocess.run(["nm", "-C", "--defined-only", folder / f"{kernel}.o"], check=True,
                             capture_output=True, text=True).stdout
    return set(re.findall(r"::(N_[A-Z]\w*)::", symbols))


class Kernels(unittest.TestCase):
    def test_have_all_targets(self):
        kernels = [path.relative_to(ROOT) for room in ROOMS for path in (ROOT / room).rglob("*.cc")
                   if "foreach_target.h" in path.read_text() and not path.stem.endswith("_bench")]
        targets = {kernel: targets_of(kernel) for kernel in kernels}
        every = set().union(*targets.values())
        self.assertGreater(len(every), 1)
        self.assertEqual({k: every - t for k, t in targets.items() if t != every}, {})


if __name__ == "__main__":
    unittest.main()
