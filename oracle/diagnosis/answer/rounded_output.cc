#include "oracle/diagnosis/answer/rounded_output.h"

#include <algorithm>
#include <functional>

#include "oracle/diagnosis/vocabulary/few_bits.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewestRounded = 16;  // numbers but 0, each of which is in the format by accident
                                       // with a chance of 1/2 at most
constexpr double kCoarser = 4;  // times as far as the numbers of the dtype are those of a format

struct Format {
  std::string name, text;
  std::function<double(double x)> nearest, unit;
};

std::vector<Format> FormatsBelow(DType dtype) {
  std::vector<Format> all;
  const auto add_grid = [&](double count) {
    const std::string text = "multiples of 1/" + PrintValue(count);
    all.push_back({"output_quantized", text,
                   [=](double x) { return std::nearbyint(x * count) / count; },
                   [=](double) { return 1 / count; }});
  };
  for (const double count : {2, 4, 8, 16, 32, 64, 100, 127, 128, 255, 256, 512, 1000, 1024})
    add_grid(count);
  const auto add_bits = [&](const std::string& name, const FewBits& bits) {
    all.push_back({name, bits.Text(), [=](double x) { return bits.Nearest(x); },
                   [=](double x) { return bits.UnitAt(x); }});
  };
  add_bits("output_in_fp8", kE5M2);
  add_bits("output_in_fp8", kE4M3);
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    if (UnitRoundoffOf(format) < kCoarser * UnitRoundoffOf(dtype)) continue;
    const std::string text(NameOf(format));
    all.push_back({"output_in_" + text, text, [=](double x) { return RoundTo(format, x); },
                   [=](double x) { return UlpOf(format, x); }});
  }
  for (const int bits : {2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 16, 20}) {
    if (std::ldexp(1, -bits) < kCoarser * UnitRoundoffOf(dtype)) break;
    add_bits("output_in_few_bits", {bits});
  }
  return all;
}

// How all numbers are those of the format that are at most a unit from the right ones; empty if
// some number is not, or if few of the right ones are not in the format themselves.
std::string HowRounded(const AnsweredTensor& tensor, const Format& format) {
  bool is_nearest = true, is_down = true, is_to_zero = true;
  size_t telling = 0;
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    const double y = tensor.got[i], right = tensor.right[i], bound = tensor.bounds[i];
    if (tensor.bounds.LeavesOut(i) || std::isinf(bound)) continue;
    if (!std::isfinite(y) || !std::isfinite(right)) return "";
    if (y != RoundTo(tensor.dtype, format.nearest(y))) return "";
    const double unit = std::max(format.unit(y), format.unit(right));
    const double error = std::max(0.0, std::abs(y - right) - bound) / unit;
    if (error > 1) return "";
    is_nearest &= error <= 0.5;
    is_down &= y <= right + bound;
    is_to_zero &= std::abs(y) <= std::abs(right) + bound;
    // Where most numbers of the dtype are in the format, they say nothing.
    const bool is_coarser = format.unit(right) >= kCoarser * UlpOf(tensor.dtype, right);
    telling += is_coarser && y != 0 && std::abs(right - format.nearest(right)) > bound;
  }
  if (telling < kFewestRounded) return "";
  return is_nearest   ? "rounded to "
         : is_to_zero ? "cut toward 0 to "
         : is_down    ? "rounded down to "
                      : "rounded up or down to ";
}

}  // namespace

std::optional<RoundedOutput> FindRounded(const AnsweredTensor& tensor) {
  for (const Format& format : FormatsBelow(tensor.dtype)) {
    const std::string how = HowRounded(tensor, format);
    if (!how.empty())
      return RoundedOutput{format.name,
                           "all numbers of " + tensor.name + " are " + how + format.text};
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
