#include "oracle/diagnosis/input/input_roundings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/diagnosis/vocabulary/few_bits.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

Rounding ElementwiseRounding(const std::string& text, std::function<double(double x)> of) {
  return {text, [of = std::move(of)](const Tensor<double>& x) {
            Numbers y = x.data;
            for (double& one : y)
              if (std::isfinite(one)) one = of(one);
            return y;
          }};
}

Rounding ToFewBits(const FewBits& format) {
  return ElementwiseRounding("rounded to " + format.Text(),
                             [=](double x) { return format.Nearest(x); });
}

// Levels with a scale for each `block` successive elements.
struct Levels {
  std::string name;
  double (*of)(double x, double least, double largest);
};
double Symmetric(double x, double largest, double levels) {
  return largest > 0 ? std::nearbyint(x / largest * levels) * (largest / levels) : x;
}
double Between(double x, double least, double largest, double levels) {
  const double unit = (largest - least) / levels;
  return unit > 0 ? least + std::nearbyint((x - least) / unit) * unit : x;
}
double Largest(double least, double largest) { return std::max(-least, largest); }
// As q4_0 of ggml: the number that is largest in size is -8 units.
double FromMinus8To7(double x, double least, double largest) {
  const double unit = (-least > largest ? least : largest) / -8;
  return unit == 0 ? x : (std::clamp(std::floor(x / unit + 8.5), 0.0, 15.0) - 8) * unit;
}
const std::vector<Levels> kLevels = {
    {"127 levels on both sides of 0, up to the largest |.|",
     [](double x, double least, double largest) {
       return Symmetric(x, Largest(least, largest), 127);
     }},
    {"7 levels on both sides of 0, up to the largest |.|",
     [](double x, double least, double largest) {
       return Symmetric(x, Largest(least, largest), 7);
     }},
    {"16 levels, -8 to 7 times an eighth of the largest |.|", FromMinus8To7},
    {"256 levels between the least and the largest",
     [](double x, double least, double largest) { return Between(x, least, largest, 255); }},
    {"16 levels between the least and the largest",
     [](double x, double least, double largest) { return Between(x, least, largest, 15); }},
};

Numbers Quantized(const Numbers& x, size_t block, const Levels& levels) {
  Numbers y = x;
  for (size_t first = 0; first < x.size(); first += block) {
    const size_t end = std::min(x.size(), first + block);
    double least = 0, largest = 0;
    for (size_t i = first; i < end; ++i) {
      if (!std::isfinite(x[i])) continue;
      least = i == first ? x[i] : std::min(least, x[i]);
      largest = i == first ? x[i] : std::max(largest, x[i]);
    }
    for (size_t i = first; i < end; ++i)
      if (std::isfinite(x[i])) y[i] = levels.of(x[i], least, largest);
  }
  return y;
}

// Elements that share a scale: all, a row, or some successive ones of a row; 0 if there are none.
struct Block {
  std::string name;
  std::function<size_t(size_t width, size_t count)> size;
};
std::vector<Block> RoundedBlocks() {
  std::vector<Block> blocks = {
      {"of all", [](size_t, size_t count) { return count; }},
      {"of each row", [](size_t width, size_t count) { return width < count ? width : 0; }}};
  for (const size_t size : {32, 64, 128, 16, 8})
    blocks.push_back(
        {"of each " + std::to_string(size) + " elements of a row",
         [=](size_t width, size_t) { return size < width && width % size == 0 ? size : 0; }});
  return blocks;
}

void AddLevels(std::vector<Rounding>& roundings) {
  for (const Block& block : RoundedBlocks()) {
    for (const Levels& levels : kLevels) {
      roundings.push_back(
          {"quantized to " + levels.name + " " + block.name, [=](const Tensor<double>& x) {
             const size_t size = block.size(RowWidth(x.shape), x.data.size());
             return size == 0 ? x.data : Quantized(x.data, size, levels);
           }});
    }
  }
}

// Numbers within the range of f16 are those of f16, which has its own name.
Numbers InTF32(const Tensor<double>& x) {
  Numbers y = x.data;
  bool is_f16 = true;
  for (double& one : y) {
    const double f16 = RoundTo(DType::kF16, one);
    if (std::isfinite(one)) one = kTF32.Nearest(one);
    is_f16 &= SameNumber(one, f16);
  }
  return is_f16 ? x.data : y;
}

}  // namespace

Rounding ToFormat(DType format) {
  return {"rounded to " + std::string(NameOf(format)), [=](const Tensor<double>& x) {
            Numbers y = x.data;
            for (double& one : y) one = RoundTo(format, one);
            return y;
          }};
}

std::vector<Rounding> UsualRoundings() {
  std::vector<Rounding> roundings = {
      {"rounded to 11 significant bits, as TF32", InTF32},
      ElementwiseRounding("cut to 11 significant bits, as TF32 toward zero",
                          [](double x) { return kTF32.TowardZero(x); }),
      ElementwiseRounding("cut to 8 significant bits, as bf16 toward zero",
                          [](double x) { return FewBits{8}.TowardZero(x); }),
      ToFewBits(kE4M3),
      ToFewBits(kE5M2),
  };
  AddLevels(roundings);
  return roundings;
}

std::vector<Rounding> RareRoundings() {
  std::vector<Rounding> roundings;
  for (int bits = 1; bits <= 10; ++bits) {
    const double unit = std::ldexp(1, -bits);
    roundings.push_back(
        ElementwiseRounding("rounded to multiples of 2^-" + std::to_string(bits),
                            [=](double x) { return std::nearbyint(x / unit) * unit; }));
  }
  for (int bits = 2; bits <= 20; ++bits) {
    if (bits == 8 || bits == 11) continue;  // bf16; f16 and TF32
    roundings.push_back(ToFewBits({bits}));
  }
  return roundings;
}

}  // namespace sextant::oracle
