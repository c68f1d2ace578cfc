"""Tests of libsextant.so as a C program sees it: its symbols, what it needs, and the examples.

    SEXTANT=build/sextant python3 tools/c/library_test.py
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
BUILD = PROGRAM.parent
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

    def test_the_judge_in_cpp_conforms(self):
        for standard in ("c++17", "c++20"):
            with tempfile.TemporaryDirectory() as folder:
                program = f"{folder}/judge"
                output_of(*CPP, f"-std={standard}", ROOT / "tools/c/example_judge.cc", LIBRARY,
                          f"-Wl,-rpath,{BUILD}", "-o", program)  # fmt: skip
                verdict = json.loads(output_of(program))
            self.assertEqual(verdict["status"], "conforms")


CPP = ("c++", "-O2", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "tools/c")


class Subjects(unittest.TestCase):
    """The examples of subjects in shared libraries."""

    def counts(self, cases, *compiler):
        """Builds the library and judges it; the number of cases by status."""
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/example.so"
            output_of(*compiler, "-o", library)
            done = subprocess.run([PROGRAM, "check", cases, "--subject", f"lib:{library}", "--json"],
                                  cwd=ROOT, capture_output=True, text=True)  # fmt: skip
        self.assertIn(done.returncode, (0, 5), done.stdout + done.stderr)
        return json.loads(done.stdout)["counts"]

    def test_the_kernel_in_cpp_conforms(self):
        compiler = [*CPP, "-std=c++17", "-shared", "-fPIC", ROOT / "tools/c/example.cc"]
        counts = self.counts("fixtures/cases/rope.cases", *compiler)
        self.assertGreater(counts["conforms"], 10)
        self.assertGreater(counts["unsupported"], 10)
        counts = self.counts("rope pairing=half S=3 H=2 D=8 scaling=linear(factor=4)", *compiler)
        self.assertEqual(counts["conforms"], 1)

    # Debian's compiler, not another one on PATH.
    @unittest.skipUnless(shutil.which("/usr/bin/rustc"), "rustc is not installed")
    def test_the_kernel_in_rust_conforms(self):
        counts = self.counts("fixtures/cases/rms_norm.cases", "/usr/bin/rustc", "-O", "-Dwarnings",
                             "--crate-type", "cdylib", ROOT / "tools/c/example.rs")  # fmt: skip
        self.assertGreater(counts["conforms"], 10)


if __name__ == "__main__":
    unittest.main()
