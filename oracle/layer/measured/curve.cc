#include "oracle/layer/measured/curve.h"

#include <algorithm>
#include <iterator>
#include <numbers>

namespace sextant::oracle {
namespace {

// Constants that implementations have instead of those of gelu.
std::vector<Constant> RootsOfHalf() {
  return {{1, "1"},
          {0x1.6ap-1, "0.70703125 = 1/sqrt(2) in f16 or bf16"},
          {0x1.6a09e6p-1, "0.70710677 = 1/sqrt(2) in f32"}};
}
std::vector<Constant> RoundedCubics() {
  return {{0x1.6e4p-5, "0.04470825 = 0.044715 in f16"},
          {0x1.6ep-5, "0.04467773 = 0.044715 in bf16"},
          {0x1.6e4e26p-5, "0.044714998 = 0.044715 in f32"}};
}
std::vector<Constant> RootsOfPi() {
  return {{std::sqrt(std::numbers::pi / 2), "sqrt(pi / 2)"},
          {0x1.988p-1, "0.7978516 = sqrt(2 / pi) in f16"},
          {0x1.98p-1, "0.796875 = sqrt(2 / pi) in bf16"},
          {0x1.988454p-1, "0.7978846 = sqrt(2 / pi) in f32"}};
}

constexpr double kRootHalf = std::numbers::sqrt2 / 2;

std::vector<CurveFacts> UsualCurves() {
  const double root = std::sqrt(2 / std::numbers::pi);
  return {{Curve::kSwish, "swish", "x s(c x)", 1, {0, 50}, {{1.702, "1.702"}, {0, "0"}}},
          {Curve::kGelu, "gelu", "x (1 + erf(c x)) / 2", kRootHalf, {0, 10}, RootsOfHalf()},
          {Curve::kGeluTanh,
           "gelu_tanh",
           "x (1 + tanh(sqrt(2 / pi) (x + c x^3))) / 2",
           0.044715,
           {0, 1},
           RoundedCubics()},
          {Curve::kGeluTanhRoot,
           "gelu_tanh",
           "x (1 + tanh(c (x + 0.044715 x^3))) / 2",
           root,
           {0, 5},
           RootsOfPi()},
          {Curve::kSigmoid, "sigmoid", "s(c x)", 1, {0, 50}, {{1.702, "1.702"}}},
          {Curve::kTanh, "tanh", "tanh(c x)", 1, {0, 50}, {}},
          {Curve::kRelu, "relu", "max(x, 0) + c min(x, 0)", 0, {-1, 2}, {{1, "1"}}},
          {Curve::kRelu2, "relu2", "c max(x, 0)^2", 1, {0, 10}, {}}};
}
std::vector<CurveFacts> OtherCurves() {
  return {
      {Curve::kHardSigmoid, "hard_sigmoid", "c x + 1/2 within 0 and 1", 1.0 / 6, {0, 5}, {}},
      {Curve::kHardSwish, "hard_swish", "x (c x + 1/2 within 0 and 1)", 1.0 / 6, {0, 5}, {}},
      {Curve::kSoftplus, "softplus", "ln(1 + e^(c x)) / c", 1, {0.01, 50}, {}},
      {Curve::kMish, "mish", "x tanh(ln(1 + e^(c x)))", 1, {0, 50}, {}},
      {Curve::kElu, "elu", "x, or c (e^x - 1) below 0", 1, {0, 10}, {}},
      {Curve::kSelu, "selu", "c x, or c 1.6733 (e^x - 1) below 0", 1.0507009873554805, {0, 10}, {}},
      {Curve::kSoftsign, "softsign", "x / (1 + c |x|)", 1, {0, 50}, {}},
      {Curve::kSquare, "square", "c x^2", 1, {0, 10}, {}},
      {Curve::kSignedSquare, "signed_square", "c x |x|", 1, {0, 10}, {}},
      {Curve::kSoftcap, "soft_cap", "c tanh(x / c)", 1, {0.5, 100}, {}},
      {Curve::kRationalTanh,
       "rational_tanh",
       "r(c x), where r(t) = t (27 + t^2) / (27 + 9 t^2)",
       1,
       {0, 50},
       {}}};
}
std::vector<CurveFacts> VariantsOfGelu() {
  const double root = std::sqrt(2 / std::numbers::pi);
  return {
      {Curve::kNormal,
       "normal_distribution",
       "(1 + erf(c x)) / 2, gelu not multiplied by x",
       kRootHalf,
       {0, 10},
       RootsOfHalf()},
      {Curve::kErf,
       "erf",
       "x erf(c x) / 2, gelu without the 1 + erf",
       kRootHalf,
       {0, 10},
       RootsOfHalf()},
      {Curve::kGeluSquare,
       "gelu_tanh_of_square",
       "x (1 + tanh(sqrt(2 / pi) (x + c x^2))) / 2, with a square for the cube",
       0.044715,
       {0, 1},
       {}},
      {Curve::kGeluTanhSwapped,
       "gelu_tanh_with_exchanged_constants",
       "x (1 + tanh(0.044715 (x + c x^3))) / 2",
       root,
       {0, 5},
       {}},
      {Curve::kGeluRationalTanh,
       "gelu_with_rational_tanh",
       "x (1 + r(c (x + 0.044715 x^3))) / 2, where r(t) = t (27 + t^2) / (27 + 9 t^2) stands for "
       "tanh",
       root,
       {0, 5},
       {}}};
}

}  // namespace

const std::vector<CurveFacts>& Curves() {
  static const std::vector<CurveFacts> kCurves = [] {
    std::vector<CurveFacts> all = UsualCurves();
    for (const auto& curves : {OtherCurves(), VariantsOfGelu()})
      all.insert(all.end(), curves.begin(), curves.end());
    return all;
  }();
  return kCurves;
}

const CurveFacts& FactsOf(Curve curve) {
  return *std::ranges::find(Curves(), curve, &CurveFacts::curve);
}

}  // namespace sextant::oracle
