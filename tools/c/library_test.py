"""Tests of libsextant.so as a C program sees it: its symbols, what it needs, and the examples.

    SEXTANT=build/sextant python3 tools/c/library_test.py
"""

import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import textwrap
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

    def test_has_a_name_with_a_version(self):
        self.assertIn("Library soname: [libsextant.so.0]", output_of("readelf", "--dynamic", LIBRARY))

    def test_needs_no_other_libraries_than_those_of_the_formulas(self):  # sextant-host: none
        system = {"c", "gcc_s", "ld-linux-x86-64", "m", "stdc++"}
        for program, others in (LIBRARY, {"gmp", "hwy", "mpfr", "tbb"}), (BUILD / "sextant-host", set()):
            needed = re.findall(r"NEEDED.*\[(?:lib)?(.*)\.so", output_of("readelf", "--dynamic", program))
            self.assertEqual(set(needed) - system, others, program)

    def test_the_example_conforms(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/example"
            output_of("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "tools/c",
                      ROOT / "tools/c/example.c", LIBRARY, f"-Wl,-rpath,{BUILD}", "-lm", "-o", program)
            verdict = json.loads(output_of(program))
        self.assertEqual(verdict["status"], "conforms")
        self.assertEqual(verdict["case"], "rms_norm eps=1e-05 unit_offset=false M=64 N=3 dtype=f32")

    def outputs_in_cpp(self, source):
        """What the program in tools/c prints, in JSON, compiled by two standards."""
        for standard in ("c++17", "c++20"):
            with tempfile.TemporaryDirectory() as folder:
                program = f"{folder}/program"
                output_of(*CPP, f"-std={standard}", ROOT / "tools/c" / source, LIBRARY,
                          f"-Wl,-rpath,{BUILD}", "-o", program)  # fmt: skip
                yield json.loads(output_of(program))

    def test_the_judge_in_cpp_conforms(self):
        for verdict in self.outputs_in_cpp("example_judge.cc"):
            self.assertEqual(verdict["status"], "conforms")

    def test_a_function_in_cpp_is_identified(self):
        for found in self.outputs_in_cpp("example_identify.cc"):
            self.assertTrue(found["conforms"], found)
            self.assertIn("kind=swish", found["case"])


CPP = ("c++", "-O2", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "tools/c")


class Subjects(unittest.TestCase):
    """The commands for subjects in shared libraries in tools/adapters/README.md."""

    def section(self, name):
        text = (ROOT / "tools/adapters/README.md").read_text()
        return re.search(rf"^## In {re.escape(name)}$(.*?)^## ", text, re.M | re.S)[1]

    def judge(self, section):
        """Runs the commands of a section; returns the numbers of cases by status, summed."""
        text = self.section(section)
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tools", "fixtures"):
                os.symlink(ROOT / name, f"{folder}/{name}")
            for line in re.findall(r"^    ((?:c\+\+|rustc|build/sextant) .*)$", text, re.M):
                command = shlex.split(line)
                if command[0] == "build/sextant":
                    command = [PROGRAM, *command[1:], "--json", "report.json"]
                if command[0] == "rustc":
                    command = ["/usr/bin/rustc", "-Dwarnings", *command[1:]]
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 5), done.stdout + done.stderr)
                if command[0] == PROGRAM:
                    counts.update(json.loads(pathlib.Path(folder, "report.json").read_text())["counts"])
        return counts

    def test_the_kernel_in_cpp_conforms(self):
        counts = self.judge("C++")
        self.assertGreater(counts["conform"], 10)
        self.assertEqual(counts["conform"] + counts["unsupported"], counts["cases"])

    # Debian's compiler, not another one on PATH.
    @unittest.skipUnless(shutil.which("/usr/bin/rustc"), "rustc is not installed")
    def test_the_kernel_in_rust_conforms(self):
        counts = self.judge("Rust")
        self.assertGreater(counts["conform"], 10)
        self.assertEqual(counts["conform"] + counts["unsupported"], counts["cases"])

    def assert_code_conforms(self, section, kernel, case, *compiler):
        """The code in a section, with the kernel that it calls, answers the case."""
        block = re.search(r"^    #include(?:.*\n)(?:(?:    .*)?\n)*", self.section(section), re.M)[0]
        with tempfile.TemporaryDirectory() as folder:
            library = f"{folder}/own.so"
            subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I",
                            ROOT / "tools/c", "-", "-o", library], input=kernel + textwrap.dedent(block),
                           text=True, check=True)  # fmt: skip
            done = subprocess.run([PROGRAM, "check", case, "--subject", f"lib:{library}"],
                                  capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_code_in_cpp_conforms(self):
        kernel = """
#include <cmath>
#include <cstddef>
static void my_rms_norm(const float* x, const float* weight, size_t N, size_t M, double eps, float* y) {
  for (size_t n = 0; n < N; ++n, x += M, y += M) {
    float sum = 0;
    for (size_t i = 0; i < M; ++i) sum += x[i] * x[i];
    const float scale = 1 / std::sqrt(sum / M + static_cast<float>(eps));
    for (size_t i = 0; i < M; ++i) y[i] = x[i] * scale * weight[i];
  }
}
"""
        self.assert_code_conforms("C++", kernel, "rms_norm N=2 M=7", "c++", "-std=c++17", "-x", "c++")

    def test_the_code_in_c_conforms(self):
        kernel = """
#include <math.h>
#include <stdint.h>
static void my_softmax(const float* x, int64_t N, int64_t M, float* y) {
  for (int64_t n = 0; n < N; ++n, x += M, y += M) {
    float sum = 0;
    for (int64_t i = 0; i < M; ++i) sum += y[i] = expf(x[i]);
    for (int64_t i = 0; i < M; ++i) y[i] /= sum;
  }
}
"""
        self.assert_code_conforms("C", kernel, "softmax N=2 M=7", "cc", "-std=c11", "-O1", "-x", "c")


if __name__ == "__main__":
    unittest.main()
