#include "tools/api/difference.h"

#include <bit>
#include <cstdint>
#include <sstream>

#include "reference/prove/prove.h"

namespace sextant::tools {
namespace {

bool IsSame(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (a != a && b != b);
}

}  // namespace

std::string Difference(const std::string& path, const Tensor<double>& stored,
                       const Tensor<double>& right) {
  if (stored.shape != right.shape) {
    return path + " has shape " + ToString(stored.shape) + ", expected " + ToString(right.shape);
  }
  for (size_t i = 0; i < right.data.size(); ++i) {
    if (IsSame(stored.data[i], right.data[i])) continue;
    std::ostringstream text;
    text.precision(17);
    text << IndexText(path, right.shape, i) << " is " << stored.data[i] << ", expected "
         << right.data[i];
    return text.str();
  }
  return "";
}

}  // namespace sextant::tools
