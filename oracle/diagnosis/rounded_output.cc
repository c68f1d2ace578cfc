#include "oracle/diagnosis/rounded_output.h"

#include <algorithm>
#include <functional>

#include "oracle/diagnosis/fewer_bits.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

constexpr size_t kFewest = 16;  // numbers but 0, each of which is in the format by accident with a
                                // chance of 1/2 at most

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
  const auto add_bits = [&](const std::string& name, const std::string& text, FewBits bits) {
    all.push_back({name, text, [=](double x) { return bits.Nearest(x); },
                   [=](double x) { return bits.UnitAt(x); }});
  };
  add_bits("output_in_fp8", "FP8 E5M2 (3 significant bits)", kE5M2);
  add_bits("output_in_fp8", "FP8 E4M3 (4 significant bits)", kE4M3);
  constexpr double kLost = 4;  // bits: else most numbers of the format are those of the dtype
  for (const DType format : {DType::kBF16, DType::kF16, DType::kF32}) {
    if (UnitRoundoffOf(format) < kLost * UnitRoundoffOf(dtype)) continue;
    const std::string text(NameOf(format));
    all.push_back({"output_in_" + text, text, [=](double x) { return RoundTo(format, x); },
                   [=](double x) { return UlpOf(format, x); }});
  }
  for (const int bits : {2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 16, 20}) {
    if (std::ldexp(1, -bits) < kLost * UnitRoundoffOf(dtype)) break;
    add_bits("output_in_few_bits", std::to_string(bits) + " significant bits", {bits});
  }
  return all;
}

// In units: 1/2 if numbers are rounded to nearest, 1 if they are cut.
std::optional<double> LargestError(const AnsweredTensor& tensor, const Format& format) {
  double largest = 0.5;
  size_t telling = 0;
  for (size_t i = 0; i < tensor.got.size(); ++i) {
    const double y = tensor.got[i], right = tensor.right[i];
    if (tensor.left_out[i] || std::isinf(tensor.bounds[i])) continue;
    if (!std::isfinite(y) || !std::isfinite(right) || y != format.nearest(y)) return std::nullopt;
    const double unit = std::max(format.unit(y), format.unit(right));
    const double error = std::max(0.0, std::abs(y - right) - tensor.bounds[i]) / unit;
    if (error > 1) return std::nullopt;
    if (error > 0.5) largest = 1;
    // A right number that is in the format says nothing.
    telling += y != 0 && std::abs(right - format.nearest(right)) > tensor.bounds[i];
  }
  if (telling < kFewest) return std::nullopt;
  return largest;
}

}  // namespace

std::optional<RoundedOutput> FindRounded(const AnsweredTensor& tensor) {
  for (const Format& format : FormatsBelow(tensor.dtype)) {
    const auto error = LargestError(tensor, format);
    if (!error) continue;
    return RoundedOutput{format.name, "all numbers of " + tensor.name + " are " +
                                          (*error > 0.5 ? "cut to " : "rounded to ") + format.text};
  }
  return std::nullopt;
}

}  // namespace sextant::oracle
