"""Judges subjects in shared libraries that crash, hang, print, or break the rules of
sextant_subject.h.

    SEXTANT=build/sextant python3 tools/host/hostile_test.py
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SEXTANT", "build/sextant")).resolve()
CASE = "softmax N=2 M=3 seed=1"

START = """
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sextant_subject.h"
static void softmax(const SextantQuestion* q) {
  const float* x = q->input(q, "x")->data;
  float* y = q->output(q, "y")->data;
  for (int n = 0; n < 2; ++n, x += 3, y += 3) {
    const float sum = expf(x[0]) + expf(x[1]) + expf(x[2]);
    for (int i = 0; i < 3; ++i) y[i] = expf(x[i]) / sum;
  }
}
static int answer(const SextantQuestion* q) {
  %s
  softmax(q);
  return SEXTANT_ANSWER_OK;
}
static const char* const operations[] = {"softmax", NULL};
"""
DEFINE = """
const SextantSubject* sextant_subject(uint32_t abi) {
  static const SextantSubject subject = {%s};
  return abi == %s ? &subject : NULL;
}
"""
MEMBERS = ["sizeof(SextantSubject)", '"mine"', '"1"', '"native"', "operations", "answer"]


class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.library = self.folder / "subject.so"

    def build(self, source, compiler=("cc", "-std=gnu11", "-x", "c"), libraries=()):
        command = [*compiler, "-Wall", "-Werror", "-Wno-unused", "-shared", "-fPIC",
                   "-I", ROOT / "tools/c", "-", "-o", self.library, "-lm", *libraries]  # fmt: skip
        subprocess.run(command, input=source, text=True, check=True)

    def check(self, *options, case=CASE, env=None):
        command = [PROGRAM, "check", case, "--subject", f"lib:{self.library}", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **(env or {})})  # fmt: skip
        self.output = done.stdout + done.stderr
        return done.returncode

    def answer(self, body, *options, define=DEFINE % (", ".join(MEMBERS), 1)):
        """The exit status of a check of a library whose answer begins with `body`."""
        self.build(START % body + define)
        return self.check(*options)

    def assert_not_run(self, body, message, *options):
        self.assertEqual(self.answer(body, *options), 3, self.output)
        self.assertIn(message, self.output)

    def assert_no_subject(self, members, message, abi=1):
        define = DEFINE % (", ".join(members), abi)
        self.assertEqual(self.answer("", define=define), 3, self.output)
        self.assertIn("the subject could not be run: it answers hello with status 'error'", self.output)
        self.assertIn(message, self.output)

    def test_a_correct_one_conforms(self):
        self.assertEqual(self.answer(""), 0, self.output)
        self.assertIn(f"lib:{self.library} by recipe native: 1 case: 1 ", self.output)

    def test_crashes(self):
        self.assert_not_run("raise(SIGSEGV);", "it was killed by SIGSEGV (Segmentation fault)")
        self.assert_not_run("abort();", "it was killed by SIGABRT")
        self.assert_not_run("exit(0);", "it exited with status 0 before it had answered")
        self.assert_not_run("kill(getpid(), SIGKILL);", "it was killed by SIGKILL")

    def test_hangs(self):
        self.assert_not_run("for (;;) sleep(1);", "within 0.2 s", "--timeout", "0.2")

    def test_a_crash_in_one_case_does_not_stop_the_others(self):
        self.build(START % 'if (strstr(q->case_line, "seed=1")) abort();' + DEFINE
                   % (", ".join(MEMBERS), 1))  # fmt: skip
        cases = self.folder / "own.cases"
        cases.write_text(f"{CASE}\nsoftmax N=2 M=3 seed=2\n")
        self.check(case=cases)
        self.assertIn("2 cases: 1 could_not_run, 1 ", self.output)

    def test_writes_outside_of_its_output(self):
        self.assert_not_run('((float*)q->output(q, "y")->data)[6] = 1;',
                            "answer wrote outside of the memory of output y: 4 bytes after its end")
        self.assert_not_run('((char*)q->output(q, "y")->data)[-9] = 1;',
                            "output y: 1 byte before its start")

    def test_changes_an_input(self):
        self.assert_not_run('((float*)q->input(q, "x")->data)[0] = 7;', "answer changed the input x")

    def test_an_element_that_is_not_written_fails(self):
        self.assertEqual(self.answer('q->input(q, "x"); q->output(q, "y"); return 0;'), 1)
        self.assertIn("y[0,0]: got nan", self.output)

    def test_prints(self):
        body = 'puts("noise"); fflush(stdout); (void)!write(1, "more", 4); (void)!system("echo x");'
        self.assertEqual(self.answer(body), 0, self.output)
        self.assertEqual(self.answer("if (getchar() != EOF) abort();"), 0, self.output)

    def test_breaks_the_rules(self):
        self.assert_not_run("return 42;", "answer returned 42, expected 0 (ok)")
        self.assert_not_run('double d; q->number(q, "epsilon", &d);', "no attribute 'epsilon'")
        self.assert_not_run('q->output(q, "Y");', "there is no output 'Y'; there are: y")
        self.assert_not_run('return q->fail(q, SEXTANT_ANSWER_ERROR, "no \\xff memory\\x1b[2J");',
                            "it reported an error: no ? memory?[2J")
        self.assertEqual(self.answer('return q->fail(q, SEXTANT_ANSWER_UNSUPPORTED, "odd M");'), 5)
        self.assertIn("odd M", self.output)

    def test_a_long_message_is_cut(self):
        body = "static char text[1 << 20]; memset(text, 'e', sizeof text - 1);"
        self.assert_not_run(body + "return q->fail(q, SEXTANT_ANSWER_ERROR, text);", "error: eee")
        self.assertLess(len(self.output), 10000)

    # 0.3 is rounded down to the nearest double.
    def test_changes_the_rounding_of_the_process(self):
        source = """
#include <fenv.h>
#include "sextant_subject.h"
static int answer(const SextantQuestion* q) {
  double eps = 0;
  q->number(q, "eps", &eps);
  if (eps != 0.3) return q->fail(q, SEXTANT_ANSWER_ERROR, "eps was rounded upwards");
  fesetround(FE_UPWARD);
  return SEXTANT_ANSWER_UNSUPPORTED;
}
static const char* const operations[] = {"rms_norm", 0};
"""
        self.build(source + DEFINE % (", ".join(MEMBERS), 1))
        cases = self.folder / "own.cases"
        cases.write_text("".join(f"rms_norm N=1 M=2 eps=0.3 seed={seed}\n" for seed in (1, 2)))
        self.check(case=cases)
        self.assertIn("2 cases: 2 unsupported", self.output)

    def test_throws(self):
        source = """
#include <stdexcept>
#include "sextant_subject.h"
static int answer(const SextantQuestion*) { throw std::runtime_error("thrown"); }
static const char* const operations[] = {"softmax", nullptr};
"""
        compiler = ("c++", "-std=c++17", "-x", "c++")
        self.build(source + DEFINE % (", ".join(MEMBERS), 1), compiler)
        self.assertEqual(self.check(), 3)
        self.assertIn("answer threw an exception: thrown", self.output)

    def test_unloads_itself(self):
        body = ("Dl_info info; dladdr((void*)answer, &info);"
                "void* own = dlopen(info.dli_fname, RTLD_NOW); dlclose(own); dlclose(own);")  # fmt: skip
        self.build("#define _GNU_SOURCE\n#include <dlfcn.h>\n" + START % body
                   + DEFINE % (", ".join(MEMBERS), 1))  # fmt: skip
        self.assertEqual(self.check(), 3, self.output)
        self.assertIn("it was killed by SIGSEGV", self.output)

    def test_members_that_are_wrong(self):
        def changed(index, value):
            return MEMBERS[:index] + [value] + MEMBERS[index + 1 :]

        self.assert_no_subject(changed(0, "8"), "struct_size of the subject is 8, expected sizeof")
        for index, name in enumerate(["name", "version", "recipe", "operations", "answer"], 1):
            self.assert_no_subject(changed(index, "0"), f"the member {name} is a null pointer")
        self.assert_no_subject(changed(4, "operations + 1"), "the member operations has no name")
        self.assert_no_subject(MEMBERS, "sextant_subject(1) returned a null pointer", abi=2)

    def test_recipes_and_operations_that_do_not_exist(self):
        members = [*MEMBERS[:3], '"nativ"', *MEMBERS[4:]]
        self.assertEqual(self.answer("", define=DEFINE % (", ".join(members), 1)), 3)
        self.assertIn("recipe is 'nativ': there is no recipe", self.output)
        members = [*MEMBERS[:4], "wrong", MEMBERS[5]]
        for wrong, why in (("sofmax", "which does not exist"),
                           ("attention_bias", "which is now 'attention with=bias'")):
            names = f'static const char* const wrong[] = {{"softmax", "{wrong}", NULL}};'
            self.assertEqual(self.answer("", define=names + DEFINE % (", ".join(members), 1)), 3)
            self.assertIn(f"its hello names the operation '{wrong}', {why}", self.output)

    def test_files_that_are_no_library(self):
        self.assertEqual(self.check(), 3)
        self.assertIn(f"there is no file '{self.library}'", self.output)
        self.library.write_text("text")
        self.assertEqual(self.check(), 3)
        self.assertIn("the library cannot be loaded", self.output)
        self.assertIn("file too short", self.output)
        self.build("int nothing;")
        self.assertEqual(self.check(), 3)
        self.assertIn("it has no function sextant_subject", self.output)
        self.build("void missing(void); void* sextant_subject(void) { missing(); return 0; }")
        self.assertEqual(self.check(), 3)
        self.assertIn("undefined symbol: missing", self.output)

    def test_the_host_is_found(self):
        self.assertEqual(self.answer(""), 0)
        self.assertEqual(self.check(env={"SEXTANT_HOST": str(self.folder)}), 2)
        self.assertIn("expected the path of a program, sextant-host", self.output)
        self.assertEqual(self.check(env={"SEXTANT_HOST": "/bin/false"}), 3)
        host = PROGRAM.parent / "sextant-host"
        self.assertEqual(self.check(env={"SEXTANT_HOST": str(host)}), 0, self.output)

    def test_a_program_without_a_host_beside_it_is_its_own_host(self):
        self.assertEqual(self.answer(""), 0)
        alone = self.folder / "it's alone"
        shutil.copy(PROGRAM, alone)
        command = [alone, "check", CASE, "--subject", f"lib:{self.library}"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_host_says_how_it_is_called(self):
        host = PROGRAM.parent / "sextant-host"
        self.assertEqual(subprocess.run([host], capture_output=True).returncode, 2)
        done = subprocess.run([host, "x.so"], input="hello hello", capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard input is not a question", done.stderr)


if __name__ == "__main__":
    unittest.main()
