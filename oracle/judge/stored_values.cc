#include "oracle/judge/stored_values.h"

#include <cmath>

#include "reference/base/error.h"
#include "reference/number/exact/interval.h"

namespace sextant::oracle {
namespace {

bool IsStored(const GoldenTensor& proven, const GoldenTensor& stored, size_t i) {
  const double high = proven.high.data[i], low = proven.low.data[i];
  const double other_high = stored.high.data[i], other_low = stored.low.data[i];
  if ((high == other_high && low == other_low) || (std::isnan(high) && std::isnan(other_high)))
    return true;
  if (std::isnan(proven.radius.data[i])) return true;  // left out by a budget
  // Both enclose the value, and half a unit is the rounding of `low` (golden.h). The other half is
  // more than the rounding of the differences, which are exact but for 2^-53 of an ulp of `high`;
  // 2^-50 covers the rounding of the sums and of the product.
  const double radius = std::abs(proven.radius.data[i]) + stored.radius.data[i];
  const double difference = std::abs((other_high - high) + (other_low - low));
  return difference <= (radius + UnitOfLow(high)) * (1 + 0x1p-50);
}

}  // namespace

void RequireStored(const Case& c, const Slice& slice, const GoldenSource& stored,
                   const std::vector<GoldenTensor>& proven) {
  for (size_t o = 0; o < proven.size(); ++o) {
    const GoldenTensor read = stored.Read(o, slice);
    for (size_t i = 0; i < read.high.data.size(); ++i) {
      if (IsStored(proven[o], read, i)) continue;
      const TensorSpec& spec = c.info().signature.outputs[o];
      const Shape shape = c.ShapeOf(spec);
      throw Error(IndexText("golden/" + spec.name, shape, IndicesIn(shape, spec, slice)[i]), " is ",
                  read.high.data[i], ", but the exact value is ", proven[o].high.data[i],
                  ": the golden is wrong (sextant verify lists all errors)");
    }
  }
}

}  // namespace sextant::oracle
