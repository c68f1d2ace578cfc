#include "reference/prove/case_of_part.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "reference/base/error.h"

namespace sextant {
namespace {

// The line of the case with the extents of the slice, without the words that draw inputs.
std::string LineOf(const Case& c, const Slice& slice) {
  std::istringstream words(c.ToString());
  std::string line;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const auto at = slice.ranges.find(word.substr(0, equals));
    if (word.starts_with('@')) continue;
    line += at == slice.ranges.end() || equals == word.npos
                ? word + " "
                : at->first + "=" + std::to_string(at->second.second) + " ";
  }
  return line;
}

}  // namespace

std::optional<Case> CaseOfPart(const Case& c, const Slice& part) try {
  Case own = Case::Parse(LineOf(c, part));
  const auto fits = [&](const TensorSpec& spec) {
    return own.ShapeOf(spec) == ShapeIn(c.ShapeOf(spec), spec, part) &&
           own.DTypeOf(spec) == c.DTypeOf(spec);
  };
  if (!std::ranges::all_of(c.signature().inputs, fits) ||
      !std::ranges::all_of(c.info().signature.outputs, fits))
    return std::nullopt;
  return own;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace sextant
