"""Tests of libsextant.so as a C program sees it: its symbols, what it needs, and the example.

    SEXTANT=build/sextant python3 tools/c/library_test.py
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve().parent
LIBRARY = BUILD / "libsextant.so.0"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Library(unittest.TestCase):
    def test_exports_only_its_own_functions(self):
        lines = output_of("nm", "--dynamic", "--defined-only", LIBRARY).splitlines()
        names = [line.split()[-1] for line in lines]
        self.assertEqual([name for name in names if not name.startswith("sextant_")], [])
        header = (ROOT / "tools/c/sextant.h").read_text()
        self.assertEqual(sorted(names), sorted(name for name in set(names) if f" {name}(" in header
                                               or f"*{name}(" in header))
        self.assertEqual(len(names), header.count("SEXTANT_API ") - header.count("define SEXTANT_API "))

    def test_has_a_name_with_a_version_and_does_not_need_hdf5(self):
        dynamic = output_of("readelf", "--dynamic", LIBRARY)
        self.assertIn("Library soname: [libsextant.so.0]", dynamic)
        self.assertNotIn("hdf5", dynamic)

    def test_the_example_conforms(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/example"
            output_of("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "tools/c",
                      ROOT / "tools/c/example.c", LIBRARY, f"-Wl,-rpath,{BUILD}", "-lm", "-o", program)
            verdict = json.loads(output_of(program))
        self.assertEqual(verdict["status"], "conforms")
        self.assertEqual(verdict["case"], "rms_norm eps=1e-05 unit_offset=false M=64 N=3 dtype=f32")


if __name__ == "__main__":
    unittest.main()
