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
                       const Tensor<double>& expected) {
  if (stored.shape != expected.shape) {
    return path + " has shape " + ToString(stored.shape) + ", expected " + ToString(expected.shape);
  }
  for (size_t i = 0; i < expected.data.size(); ++i) {
    if (IsSame(stored.data[i], expected.data[i])) continue;
    std::ostringstream text;
    text.precision(17);
    text << IndexText(path, expected.shape, i) << " is " << stored.data[i] << ", expected "
         << expected.data[i];
    return text.str();
  }
  return "";
}

}  // namespace sextant::tools
