#include "reference/layer/cast.h"

#include <cmath>

#include "reference/case/operation.h"

namespace sextant {

// One NaN for all, so that goldens have the same bits everywhere.
// Beyond the largest finite number RoundTo gives an infinity, or NaN in a type without infinities.
double CastTo(DType type, Overflow overflow, double x) {
  if (std::isnan(x)) return kNaN;
  const double y = RoundTo(type, x);
  const bool overflows = !std::isfinite(y);
  return overflows && overflow == Overflow::kSaturate ? std::copysign(MaxFinite(type), x) : y;
}

void Cast::CheckTypes(const std::map<std::string, DType>& given) const {
  const auto at = given.find("y");
  if (at == given.end())
    throw Error("cast needs dtype.y=, one of:", NamesText(kTensorTypes, NameOf));
  const bool has =
      overflow == Overflow::kSaturate || (overflow == Overflow::kInf) == HasInfinity(at->second);
  if (has) return;
  throw Error("cast: overflow=", PrintValue(overflow), " does not exist in ", NameOf(at->second),
              ", expected one of: saturate ", HasInfinity(at->second) ? "inf" : "nan");
}

template <>
std::unique_ptr<Operation> MakeOperation<Cast>() {
  return Wrap<Cast>();
}

}  // namespace sextant
