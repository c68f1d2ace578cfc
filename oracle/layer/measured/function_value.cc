#include "oracle/layer/measured/function_value.h"

#include <cmath>

namespace sextant::oracle {
namespace {

// Steps of powers of two, and 2^n entries from -R to R, with or without the end.
std::vector<Table> MakeTables() {
  std::vector<Table> all;
  const auto add = [&](double origin, double step) {
    for (const auto kind : {Table::Kind::kNearest, Table::Kind::kBelow, Table::Kind::kLinear})
      all.push_back({kind, origin, step});
  };
  for (int n = 0; n <= 15; ++n) add(0, std::ldexp(1, -n));
  for (double end = 1; end <= 32; ++end) {
    for (double entries = 64; entries <= 65536; entries *= 2) {
      add(-end, 2 * end / (entries - 1));
      if (std::log2(end) != std::floor(std::log2(end))) add(-end, 2 * end / entries);
    }
  }
  return all;
}

}  // namespace

Function FunctionOf(ActivationKind kind, double beta) {
  constexpr Curve kAll[] = {Curve::kSigmoid, Curve::kSwish, Curve::kGelu, Curve::kGeluTanh,
                            Curve::kRelu,    Curve::kRelu2, Curve::kTanh};
  const Curve curve = kAll[static_cast<size_t>(kind)];
  return {.curve = curve, .c = kind == ActivationKind::kSwish ? beta : FactsOf(curve).usual};
}

const std::vector<Table>& FunctionTables() {
  static const std::vector<Table> kTables = MakeTables();
  return kTables;
}

}  // namespace sextant::oracle
