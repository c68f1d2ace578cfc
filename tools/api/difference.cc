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
  return Difference(path, expected.shape, stored.data, expected.data, [](size_t i) { return i; });
}

std::string Difference(const std::string& path, const Shape& shape, std::span<const double> stored,
                       std::span<const double> expected,
                       const std::function<size_t(size_t)>& index_of) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (IsSame(stored[i], expected[i])) continue;
    std::ostringstream text;
    text.precision(17);
    text << IndexText(path, shape, index_of(i)) << " is " << stored[i] << ", expected "
         << expected[i];
    return text.str();
  }
  return "";
}

}  // namespace sextant::tools
