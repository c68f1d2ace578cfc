// How much of its drift level 2 uses: the largest |x - centre| / drift over many elements, where x
// is the exact number. Above 1 the drift does not enclose.
//
// SEXTANT_CONTAINMENT=N multiplies the elements by N (tools/compare_engines --containment).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

#include "reference/base/parallel.h"
#include "reference/prove/enclosures_test.h"

namespace sextant {
namespace {

constexpr int kBits = 256;  // far more than the 106 of a centre

// One element at a time: 5000 elements.
const std::vector<std::string> kElementwise = {
    "activation kind=gelu N=1 F=500 dtype=f32 @x=normal(4)",
    "activation kind=gelu_tanh N=1 F=500 dtype=bf16 @x=normal(4)",
    "activation kind=swish N=1 F=500 dtype=f64 @x=normal(30)",
    "activation kind=tanh N=1 F=510 dtype=f64 @x=powers_of_two",
    "gated kind=geglu N=1 F=500 dtype=f16",
    "gated kind=swiglu N=1 F=500 dtype=f64",
    "soft_cap cap=50 N=1 M=500 dtype=f32 @x=normal(30)",
    "rope pairing=half H=1 S=10 D=50 dtype=f64 @position=random_positions",
    "rope pairing=interleaved H=1 S=10 D=50 dtype=f32 @position=random_positions(1048576)",
    "rope_table B=1 R=50 S=10 dtype=f32 @position=random_positions",
};

// Sums over rows: 50 rows.
const std::vector<std::string> kRows = {
    "rms_norm N=5 M=100 dtype=f64",
    "rms_norm N=5 M=100 dtype=f32 @x=powers_of_two",
    "layer_norm N=5 M=100 dtype=f16",
    "layer_norm N=5 M=100 dtype=f64 @x=normal(1e-5)",
    "add_rms_norm N=5 M=64 dtype=bf16",
    "softmax N=5 M=100 dtype=f64 @x=normal(30)",
    "softmax N=5 M=100 dtype=f32",
    "linear N=5 M=200 F=4 dtype=f64",
    "attention H=1 K=1 S=5 T=60 D=8 dtype=f64 mask=causal",
    "feed_forward N=5 M=20 F=30 dtype=f64",
};

struct Largest {
  size_t elements = 0;
  double ratio = 0;
  std::string where;

  void Include(const Largest& other) {
    elements += other.elements;
    if (!(other.ratio > ratio)) return;
    ratio = other.ratio;
    where = other.where;
  }
};

// Infinite if the drift is 0 and the centre is not the exact number.
double RatioOf(const Counted& y, const Interval& x) {
  const double distance = LeastDistance(x, y.center().high, y.center().low);
  return distance == 0 ? 0 : distance / y.drift();
}

Largest LargestOf(const std::string& line) {
  const Case c = Case::Parse(line);
  Largest largest;
  ForEachEnclosure(c, ParseRecipe("native", c.dtype()), kBits,
                   [&](size_t o, size_t i, const Counted& y, const Interval& x) {
                     const std::string at = c.info().signature.outputs[o].name + " " +
                                            std::to_string(i) + " of " + c.ToString();
                     largest.Include({1, RatioOf(y, x), at});
                   });
  return largest;
}

size_t Multiplier() {
  const char* const text = std::getenv("SEXTANT_CONTAINMENT");
  return text ? std::stoul(text) : 1;
}

// Every line with as many seeds as the multiplier says.
Largest LargestOf(const std::vector<std::string>& lines, const char* name) {
  Largest largest;
  std::mutex mutex;
  InParallel(lines.size() * Multiplier(), 0, [&](size_t i) {
    const std::string seed = " seed=" + std::to_string(1 + i / lines.size());
    const Largest one = LargestOf(lines[i % lines.size()] + seed);
    const std::lock_guard lock(mutex);
    largest.Include(one);
  });
  std::cout << "containment of " << name << ": " << largest.elements
            << " elements, largest |exact - centre| / drift = " << largest.ratio << " at "
            << largest.where << std::endl;
  return largest;
}

TEST(Containment, OfOperationsOnElements) {
  const Largest largest = LargestOf(kElementwise, "operations on elements");
  EXPECT_GE(largest.elements, 5000 * Multiplier());
  EXPECT_LE(largest.ratio, 1) << largest.where;
  EXPECT_GT(largest.ratio, 0x1p-6);  // the drift is not far too wide
}

TEST(Containment, OfOperationsOnRows) {
  const Largest largest = LargestOf(kRows, "operations on rows");
  EXPECT_GE(largest.elements, 50 * Multiplier());
  EXPECT_LE(largest.ratio, 1) << largest.where;
  EXPECT_GT(largest.ratio, 0x1p-10);
}

}  // namespace
}  // namespace sextant
