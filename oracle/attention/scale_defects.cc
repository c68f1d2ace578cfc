#include "oracle/attention/scale_defects.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "oracle/property/changed_inputs.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

double Extent(const Case& c, const char* letter) {
  return static_cast<double>(std::max<size_t>(1, ExtentOf(c, letter)));
}

// Another scale for cases that do not set one.
Defect Scaled(std::string name, std::string why, double (*of)(const Case& c)) {
  return ChangedWord(std::move(name), std::move(why), [of](const Case& c) {
    return TextOf(c, "scale").empty() ? "scale=" + PrintValue(of(c)) : "";
  });
}

double OneByWidth(const Case& c) { return 1 / Extent(c, "D"); }

// The scale of the case by numbers of f32, for attributes of that type.
Defect ScaleInF32(std::string name, std::string why, double (*of)(double scale)) {
  return ChangedWord(std::move(name), std::move(why), [of](const Case& c) -> std::string {
    const double scale = NumberOf(c, "scale", 1 / std::sqrt(Extent(c, "D")));
    return scale > 0 ? "scale=" + PrintValue(of(scale)) : "";
  });
}

}  // namespace

std::vector<Defect> ScoreScaleDefects() {
  return {
      Scaled("scale_missing", "scores are not multiplied by 1/sqrt(D) (mlc-ai/mlc-llm#3426)",
             [](const Case&) { return 1.0; }),
      Scaled("scale_by_width",
             "the scale is 1/D instead of 1/sqrt(D), as if queries and then scores were scaled",
             OneByWidth),
      Scaled("scale_of_values", "the scale is 1/sqrt(E), from the width of the values",
             [](const Case& c) { return 1 / std::sqrt(Extent(c, "E")); }),
  };
}

std::vector<Defect> ScaleDefects() {
  return {
      ChangedWord("scale_missing", "scores are not multiplied by 1/sqrt(D) (mlc-ai/mlc-llm#3426)",
                  "scale=1"),
      Scaled("scale_by_width", "the scale is 1/D instead of 1/sqrt(D)", OneByWidth),
  };
}

std::vector<Defect> ScalesInF32() {
  return {
      ScaleInF32("scale_in_f32", "the scale is rounded to f32",
                 [](double scale) { return RoundTo(DType::kF32, scale); }),
      ScaleInF32("root_of_scale_in_f32",
                 "queries and keys are each multiplied by the root of the scale, rounded to f32 "
                 "(ONNX Runtime's Attention)",
                 [](double scale) {
                   const double root = RoundTo(DType::kF32, std::sqrt(scale));
                   return root * root;
                 }),
  };
}

}  // namespace sextant::oracle
