"""Kernels with planted losses, at the sizes that real kernels have, fail the committed cases: flash
attention at the borders of its tiles, rows whose last vector or block is lost, rotations that deviate
in one head from one token on.

    SEXTANT=build/sextant python3 tools/cli/planted_losses_test.py
"""

import collections
import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

import h5py
import numpy

from program import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = r"""
#include <sextant_subject.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace sextant::cpp;

const size_t kSize = std::atoi(std::getenv("SIZE"));  // of a tile or block, or the first wrong token
const std::string kLoss = std::getenv("LOSS");

float Wide(float x) { return x; }
float Wide(BF16 x) { const uint32_t bits = x.bits << 16; float y; std::memcpy(&y, &bits, 4); return y; }
float Wide(F16 x) { _Float16 y; std::memcpy(&y, &x, 2); return y; }
void Round(float x, float& y) { y = x; }
void Round(float x, F16& y) { const _Float16 rounded = x; std::memcpy(&y, &rounded, 2); }
void Round(float x, BF16& y) {
  uint32_t bits; std::memcpy(&bits, &x, 4);
  y.bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// Tiles of kSize keys, added with the factor e^-m of the largest score m so far.
template <class T>
void Attend(const Question& question) {
  const auto q = question.Input<T>("q"), k = question.Input<T>("k"), v = question.Input<T>("v");
  const auto y = question.Output<T>("y");
  const size_t H = q.extent(1), S = q.extent(2), D = q.extent(3), K = k.extent(1), N = k.extent(2);
  const bool causal = question.Text("mask") == "causal";
  question.Require("align", "bottom_right");
  question.Require("empty_rows", "unspecified");
  for (size_t row = 0; row < H * S; ++row) {
    const size_t head = row / S * K / H * N, keys = causal ? N - S + row % S + 1 : N;
    const size_t tiles = (keys + kSize - 1) / kSize;
    std::vector<float> sums(D);
    float largest = -INFINITY, total = 0;
    for (size_t n = 0; n < tiles; ++n) {
      size_t first = n * kSize, last = std::min(keys, first + kSize);
      if (kLoss == "last_key_of_each" && last == first + kSize) --last;
      if ((kLoss == "first_tile" && n == 0) || (kLoss == "middle_tile" && n == tiles / 2) ||
          (kLoss == "last_tile" && n + 1 == tiles) ||
          (kLoss == "partial_tile" && last < first + kSize))
        continue;
      std::vector<float> scores;
      for (size_t t = first; t < last; ++t) {
        float score = 0;
        for (size_t d = 0; d < D; ++d) score += Wide(q[row * D + d]) * Wide(k[(head + t) * D + d]);
        scores.push_back(score / std::sqrt(float(D)));
      }
      if (kLoss == "padding_weighs") scores.resize(kSize);
      const float next = std::max(largest, *std::max_element(scores.begin(), scores.end()));
      const float factor = std::exp(largest - next);
      if (kLoss != "never_rescales" && kLoss != "sum_never_rescales") total *= factor;
      if (kLoss != "never_rescales")
        for (float& sum : sums) sum *= factor;
      largest = next;
      for (size_t j = 0; j < scores.size(); ++j) {
        const float weight = std::exp(scores[j] - largest);
        total += weight;
        for (size_t d = 0; d < D && first + j < last; ++d)
          sums[d] += weight * Wide(v[(head + first + j) * D + d]);
      }
    }
    for (size_t d = 0; d < D; ++d) Round(sums[d] / total, y[row * D + d]);
  }
}

// Sums of squares, or of exponentials, in blocks of kSize numbers.
template <class T>
void AnswerSums(const Question& question) {
  const bool is_norm = question.operation() == "rms_norm";
  const auto x = question.Input<T>("x");
  const auto y = question.Output<T>("y");
  const auto weight = [&](size_t i) { return is_norm ? question.Input<float>("weight")[i] : 1; };
  const size_t M = x.extent(1), lost = (M - 1) / kSize * kSize;  // the first number of the last block
  const double eps = is_norm ? question.Number("eps") : 0;
  if (is_norm) question.Require("unit_offset", false);
  for (size_t n = 0; n < x.extent(0); ++n) {
    double largest = -INFINITY, sum = 0;
    const auto term = [&](size_t i) {
      const double number = Wide(x[n * M + i]);
      return is_norm ? number * number : std::exp(number - largest);
    };
    for (size_t i = 0; i < M; ++i) largest = std::max<double>(largest, Wide(x[n * M + i]));
    for (size_t i = 0; i < (kLoss == "last_of_sum" ? lost : M); ++i) sum += term(i);
    const double factor = is_norm ? 1 / std::sqrt(sum / M + eps) : 1 / sum;
    for (size_t i = 0; i < M; ++i) {
      const double number = is_norm ? Wide(x[n * M + i]) * weight(i) : term(i);
      Round(kLoss == "last_of_answer" && i >= lost ? 0 : number * factor, y[n * M + i]);
    }
  }
}

// Mean and variance in blocks of kSize numbers.
template <class T>
void AnswerLayerNorm(const Question& question) {
  const auto x = question.Input<T>("x");
  const auto weight = question.Input<float>("weight"), bias = question.Input<float>("bias");
  const auto y = question.Output<T>("y");
  const size_t M = x.extent(1), lost = (M - 1) / kSize * kSize;
  const double eps = question.Number("eps");
  for (size_t n = 0; n < x.extent(0); ++n) {
    const size_t summed = kLoss == "last_of_sum" ? lost : M;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < summed; ++i) mean += Wide(x[n * M + i]) / M;
    for (size_t i = 0; i < summed; ++i) variance += std::pow(Wide(x[n * M + i]) - mean, 2) / M;
    for (size_t i = 0; i < M; ++i) {
      const double number = (Wide(x[n * M + i]) - mean) / std::sqrt(variance + eps) * weight[i] + bias[i];
      Round(kLoss == "last_of_answer" && i >= lost ? 0 : number, y[n * M + i]);
    }
  }
}

// SwiGLU.
template <class T>
void AnswerGated(const Question& question) {
  const auto gate = question.Input<T>("gate"), up = question.Input<T>("up");
  const auto y = question.Output<T>("y");
  question.Require("kind", "swiglu");
  for (const char* unset : {"alpha", "limit"}) question.RequireUnset(unset);
  question.Require("beta", 1);
  question.Require("plus_one", false);
  const size_t F = gate.extent(1), lost = (F - 1) / kSize * kSize;
  for (size_t i = 0; i < gate.size(); ++i) {
    const double g = Wide(gate[i]);
    Round(kLoss == "last_of_answer" && i % F >= lost ? 0 : g / (1 + std::exp(-g)) * Wide(up[i]), y[i]);
  }
}

// In head LOSS, or from head LOSS on if it ends with "+", the angles of the tokens from kSize on are
// those of the position before.
template <class T>
void Rotate(const Question& question) {
  const auto x = question.Input<T>("x");
  const auto position = question.Input<int64_t>("position");
  const auto y = question.Output<T>("y");
  const size_t H = x.extent(1), S = x.extent(2), D = x.extent(3), wrong = std::atoi(kLoss.c_str());
  const bool half = question.Text("pairing") == "half";
  question.Require("scaling", "none");
  question.Require("direction", "forward");
  question.Require("offset", 0);
  for (size_t row = 0; row < x.extent(0) * H * S; ++row) {
    const size_t b = row / S / H, h = row / S % H, s = row % S;
    const bool deviates = s >= kSize && (h == wrong || (h > wrong && kLoss.back() == '+'));
    for (size_t p = 0; p < D / 2; ++p) {
      const double angle = (position[b * S + s] - deviates) * std::pow(question.Number("base"), -2. * p / D);
      const size_t i = row * D + (half ? p : 2 * p), j = half ? i + D / 2 : i + 1;
      const double a = Wide(x[i]), b = Wide(x[j]);
      Round(a * std::cos(angle) - b * std::sin(angle), y[i]);
      Round(b * std::cos(angle) + a * std::sin(angle), y[j]);
    }
  }
}

template <class T>
void AnswerIn(const Question& question) {
  if (question.operation() == "attention") return Attend<T>(question);
  if (question.operation() == "rope") return Rotate<T>(question);
  if (question.operation() == "layer_norm") return AnswerLayerNorm<T>(question);
  if (question.operation() == "gated") return AnswerGated<T>(question);
  AnswerSums<T>(question);
}

void Answer(const Question& question) {
  const std::string_view operation = question.operation();
  const char* const input = operation == "attention" ? "q" : operation == "gated" ? "gate" : "x";
  if (question.Has<float>(input)) return AnswerIn<float>(question);
  if (question.Has<BF16>(input)) return AnswerIn<BF16>(question);
  AnswerIn<F16>(question);
}

const SextantSubject* sextant_subject(uint32_t abi) {
  static const Subject<Answer> subject("planted", "1", "native",
                                       {"attention", "rope", "rms_norm", "softmax", "layer_norm", "gated"});
  return subject.For(abi);
}
"""


class PlantedLosses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run(["c++", "-std=c++17", "-O2", "-Wno-deprecated", "-shared", "-fPIC", "-I",
                        ROOT / "tools/c", "-x", "c++", "-", "-o", cls.folder / "planted.so"],
                       input=KERNELS, text=True, check=True)  # fmt: skip

    def prove(self, operation, *words):
        """The committed cases that have all these words, proven."""
        text = (ROOT / f"fixtures/cases/{operation}.cases").read_text()
        lines = [line.partition("#")[0] for line in text.splitlines()]
        self.lines = [line for line in lines if all(word in line for word in words)]
        subprocess.run([PROGRAM, "golden", *self.lines, "-o", "golden.h5"], cwd=self.folder,
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip

    def failures(self, loss, size, *key):
        """Kernels, told apart by the attributes `key`, and how many cases each of them fails."""
        subprocess.run([PROGRAM, "answer", *self.lines, "--subject", "lib:./planted.so", "-o",
                        "answer.h5"], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "LOSS": loss, "SIZE": str(size)})  # fmt: skip
        failures = collections.Counter()
        with h5py.File(self.folder / "golden.h5") as golden, \
                h5py.File(self.folder / "answer.h5") as answer:  # fmt: skip
            for name, case in golden["cases"].items():
                y = answer[f"cases/{name}/outputs/y"][()].astype("f8")
                high, low, permitted = (case[f"golden/y/{part}"][()]
                                        for part in ("high", "low", "permitted"))  # fmt: skip
                words = dict(w.split("=") for w in case.attrs["case"].decode().split()[1:])
                fails = ~(abs(y - high - low) <= permitted) & ~numpy.isnan(high)
                failures[tuple(words[k] for k in key)] += bool(fails.any())
        return failures

    def assert_all_fail(self, loss, size, *key):
        for kernel, failures in self.failures(loss, size, *key).items():
            self.assertGreater(failures, 0, f"{loss} {size}: no case catches it in {key} = {kernel}")

    def test_flash_attention_at_the_borders_of_its_tiles(self):
        self.prove("attention", "blocks(")
        losses = ("never_rescales", "sum_never_rescales", "partial_tile", "last_tile", "first_tile",
                  "middle_tile", "last_key_of_each")  # fmt: skip
        for tile in (16, 32, 64, 128, 256, 512, 1024):
            self.assertEqual(sum(self.failures("", tile, "D").values()), 0, tile)
            for loss in losses:
                self.assert_all_fail(loss, tile, "dtype", "D")

    def test_flash_attention_whose_padding_weighs(self):
        self.prove("attention", "S=3 T=21 ")
        for tile in (16, 32, 64, 128):
            self.assertEqual(sum(self.failures("", tile, "D").values()), 0, tile)
            self.assert_all_fail("padding_weighs", tile, "dtype", "D")

    def test_rows_whose_last_vector_or_block_is_lost(self):
        for operation, width in (("rms_norm", "M"), ("softmax", "M"), ("layer_norm", "M"), ("gated", "F")):
            self.prove(operation, f"{width}=1638")
            for size in (1, 8, 64, 1024, 4096):
                self.assertEqual(sum(self.failures("", size, width).values()), 0, (operation, size))
                if operation != "gated":
                    self.assert_all_fail("last_of_sum", size, "dtype", width)
                self.assert_all_fail("last_of_answer", size, "dtype", width)

    def test_rotations_that_deviate_in_one_head_from_one_token_on(self):
        self.prove("rope", "S=514")
        self.assertEqual(sum(self.failures("0", 1000, "D").values()), 0)
        for loss, token in itertools.product(("0+", "0", "2"), (40, 512)):
            self.assert_all_fail(loss, token, "dtype", "D", "pairing")
        for head, token in itertools.product((17, 39), (40, 512)):
            failures = self.failures(str(head), token, "B", "dtype", "D", "pairing")
            self.assertTrue(all(n for (B, *_), n in failures.items() if B == "1"), (head, token))

    def test_check_fails(self):
        done = subprocess.run(
            [PROGRAM, "check", ROOT / "fixtures/cases/attention.cases", "--filter",
             "*D=64*T=4100*dtype=f32*", "--subject", "lib:./planted.so"], cwd=self.folder,
            capture_output=True, text=True, env={**os.environ, "LOSS": "never_rescales", "SIZE": "256"},
        )  # fmt: skip
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
