"""Subjects in shared libraries that know answers instead of computing them: one for each trick that
SOL-ExecBench, KernelBench and others report of generated kernels. `check --adversarial` must find all of
them, and accuse no honest one.

    SEXTANT=build/sextant python3 tools/host/cheating_test.py
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/cli"))

from program import ProgramTest  # noqa: E402

CASES = """softmax N=6 M=96
softmax N=3 M=7
softmax N=16 M=512
"""

START = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sextant_subject.h"

static float *x, *y;
static size_t N, M, size;

static void compute(float* to) {
  for (size_t n = 0; n < N; ++n) {
    const float* from = x + n * M;
    float most = -INFINITY, sum = 0;
    for (size_t i = 0; i < M; ++i) most = fmaxf(most, from[i]);
    for (size_t i = 0; i < M; ++i) sum += expf(from[i] - most);
    for (size_t i = 0; i < M; ++i) to[n * M + i] = expf(from[i] - most) / sum;
  }
}
/* An answer that is kept, with what it is known by. */
static float* kept = NULL;
static size_t kept_size = 0;
static void keep(const float* from) {
  kept = realloc(kept, size * 4);
  memcpy(kept, from, size * 4);
  kept_size = size;
}
static int calls = 0;
"""
END = """
static int answer(const SextantQuestion* q) {
  if (strcmp(q->dtype, "f32") != 0) return q->fail(q, SEXTANT_ANSWER_UNSUPPORTED, "only f32");
  const DLTensor* in = q->input(q, "x");
  x = in->data;
  y = q->output(q, "y")->data;
  N = in->shape[0], M = in->shape[1], size = N * M;
  const int status = trick(q);
  ++calls;
  return status;
}
static const char* const operations[] = {"softmax", NULL};
const SextantSubject* sextant_subject(uint32_t abi) {
  static const SextantSubject subject = {
      sizeof(SextantSubject), "mine", "1", "native", operations, answer};
  return abi == SEXTANT_SUBJECT_ABI ? &subject : NULL;
}
"""
TRICK = "static int trick(const SextantQuestion* q) { %s return SEXTANT_ANSWER_OK; }"
OTHER_THAN_KEPT = "if (!kept || kept_size != size || %s) { compute(y); keep(y); %s } memcpy(y, kept, size * 4);"

# trick -> (global declarations, body, what the report says)
CHEATS = {
    "by the address of the input":
        ("static float* by;", OTHER_THAN_KEPT % ("by != x", "by = x;"), "returns_earlier_answer"),
    "by the shape":
        ("", OTHER_THAN_KEPT % ("0", ""), "returns_earlier_answer"),
    "by the address of the output":
        ("static float* by;", OTHER_THAN_KEPT % ("by != y", "by = y;"), "returns_earlier_answer"),
    "by the first numbers":
        ("static float by[4];", OTHER_THAN_KEPT % ("memcmp(by, x, 16)", "memcpy(by, x, 16);"),
         "returns_earlier_answer"),
    "by the first and last number":
        ("static float by[2];", OTHER_THAN_KEPT % ("by[0] != x[0] || by[1] != x[size - 1]",
                                                   "by[0] = x[0]; by[1] = x[size - 1];"),
         "returns_earlier_answer"),
    "by the sum":
        ("static double by; static double sum(void) { double s = 0; for (size_t i = 0; i < size; ++i)"
         " s += x[i]; return s; }",
         OTHER_THAN_KEPT % ("fabs(by - sum()) > 1e-6", "by = sum();"), "returns_earlier_answer"),
    "by every fourth number":
        ("static float by[65536];"
         "static int differs(void) { int d = 0; for (size_t i = 0; i < size; i += 4)"
         " { d |= by[i] != x[i]; by[i] = x[i]; } return d; }",
         OTHER_THAN_KEPT % ("differs()", ""), "returns_earlier_answer"),
    "by the largest number of each row":
        ("static float by[4096];"
         "static int differs(void) { int d = 0; for (size_t n = 0; n < N; ++n) { float m = -INFINITY;"
         " for (size_t i = 0; i < M; ++i) m = fmaxf(m, x[n * M + i]); d |= by[n] != m; by[n] = m; } return d; }",
         OTHER_THAN_KEPT % ("differs()", ""), "returns_earlier_answer"),
    "by the first row":
        ("static float by[65536];", OTHER_THAN_KEPT % ("memcmp(by, x, M * 4)", "memcpy(by, x, M * 4);"),
         "returns_earlier_answer"),
    "the answer to the question before, if it has this size":
        ("", "if (kept && kept_size == size) memcpy(y, kept, size * 4); else compute(y); "
             "float* now = malloc(size * 4); compute(now); keep(now); free(now);", "earlier"),
    "nothing": ("", "", "unwritten"),
    "zeros": ("", "memset(y, 0, size * 4);", "fails"),
    "a constant that is nearly right": ("", "for (size_t i = 0; i < size; ++i) y[i] = 1.f / M;", "fails"),
    "nothing, where the output is no NaN":
        ("", "for (size_t i = 0; i < size; ++i) if (y[i] == y[i]) return SEXTANT_ANSWER_OK; compute(y);",
         "depends_on_outputs_before"),
    "adds to what the output holds, unless it is NaN":
        ("", "float* now = malloc(size * 4); compute(now); for (size_t i = 0; i < size; ++i)"
             " y[i] = (y[i] == y[i] ? y[i] : 0) + now[i]; free(now);", "depends_on_outputs_before"),
    "writes into its input":
        ("", "compute(y); x[0] = 0;", "answer changed the input x"),
    "works after it has returned":
        ("static float* later_y; static size_t later_size; static void* later(void* unused) {"
         " usleep(2000); for (size_t i = 0; i < later_size; ++i) later_y[i] += 1; return NULL; }",
         "compute(y); later_y = y; later_size = size; pthread_t t; pthread_create(&t, NULL, later, NULL);"
         " pthread_detach(t);",
         "answer changed the output y, after it had returned"),
    "right for ten calls":
        ("", "compute(y); if (calls >= 10) y[0] = 0;", "fails"),
    "right for the first call":
        ("", "compute(y); if (calls > 0) y[size / 2] *= 2;", "depends_on_earlier_questions"),
    "wrong in the first call of a process but one":
        ("", "compute(y); if (calls == 0 && access(\"started\", F_OK) == 0) y[0] = 2;"
             " fclose(fopen(\"started\", \"w\"));", "depends_on_earlier_questions"),
    "memory of the size of the first question":
        ("static float* own; static size_t own_size;",
         "if (!own) { own_size = size; own = malloc(size * 4); } const size_t n = size < own_size ? size :"
         " own_size; float* now = malloc(size * 4); compute(now); memcpy(own, now, n * 4); free(now);"
         " memset(y, 0, size * 4); memcpy(y, own, n * 4);", "fails"),
    "no maximum is subtracted, for the usual range":
        ("", "float most = 0; for (size_t i = 0; i < size; ++i) most = fmaxf(most, fabsf(x[i]));"
             " compute(y); if (most > 6) y[0] += 0.25;", "fails"),
}

HONEST = {
    "computes": ("", "compute(y);"),
    "sums in another order each time":
        ("", "const int begin = rand(); for (size_t n = 0; n < N; ++n) { const float* from = x + n * M;"
             " float most = -INFINITY, sum = 0; for (size_t i = 0; i < M; ++i) most = fmaxf(most, from[i]);"
             " for (size_t i = 0; i < M; ++i) sum += expf(from[(i + begin) % M] - most);"
             " for (size_t i = 0; i < M; ++i) y[n * M + i] = expf(from[i] - most) / sum; }"),
    "keeps what it computed, by all numbers of the input":
        ("static float* by;", "if (!by || kept_size != size || memcmp(by, x, size * 4)) { compute(y); keep(y);"
                              " by = realloc(by, size * 4); memcpy(by, x, size * 4); }"
                              " memcpy(y, kept, size * 4);"),
    "has memory of the largest question": ("static float* own;", "own = realloc(own, size * 4); compute(own);"
                                           " memcpy(y, own, size * 4);"),
}


class Cheating(ProgramTest):
    def build(self, declarations, body):
        source = START + declarations + TRICK % body + END
        command = ["cc", "-std=gnu11", "-O2", "-w", "-x", "c", "-shared", "-fPIC", "-I", ROOT / "tools/c", "-",
                   "-o", self.path("mine.so"), "-lm", "-lpthread"]  # fmt: skip
        subprocess.run(command, input=source, text=True, check=True)

    def check(self, *options, cases=CASES):
        self.path("own.cases").write_text(cases)
        self.path("started").unlink(missing_ok=True)
        done = self.run_it("check", "own.cases", "--subject", "lib:./mine.so", "--json", "r.json", *options,
                           timeout=300)
        self.output = done.stdout + done.stderr
        return done.returncode

    def test_every_cheat_is_found(self):
        for name, (declarations, body, found) in CHEATS.items():
            with self.subTest(name):
                self.build(declarations, body)
                status = self.check("--adversarial=7")
                self.assertIn(status, (1, 3), name + self.output)
                if status == 1:
                    self.assertRegex(self.output, r"repeat: sextant check '[^']*' --adversarial=7 --subject")
                self.assertIn(found, self.output + json.dumps(json.loads(self.path("r.json").read_text())), name)

    def test_no_honest_one_is_accused(self):
        for name, (declarations, body) in HONEST.items():
            with self.subTest(name):
                self.build(declarations, body)
                for seed in range(5):
                    self.assertEqual(self.check(f"--adversarial={seed}"), 0, name + self.output)


if __name__ == "__main__":
    unittest.main()
