// Random numbers and random cases for tests.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/splitmix64.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant {

class Random : public SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  // Both signs and all binades from 2^-exponent to 2^exponent equally likely, 53 bits.
  double Number(int exponent) {
    return (Below(2) ? 1 : -1) *
           std::ldexp(Uniform(1, 2), static_cast<int>(Below(2 * exponent + 1)) - exponent);
  }
  template <class Items>
  const auto& OneOf(const Items& items) {
    return items[Below(items.size())];
  }
};

inline std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  std::istringstream in{std::string(text)};
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

// The tensor of a key "@x" or "dtype.x".
inline std::string_view TensorOf(std::string_view key) {
  return key.substr(key.find_first_of("@.") + 1);
}

// A case of the operation with a random value for each key of kChoices, and of `more`, which has
// words of the same form ("dtype=f32|bf16"). Invalid combinations are drawn again; throws
// std::logic_error if there is hardly any other.
inline Case RandomCase(const OperationInfo& info, Random& random, const std::string& more) {
  for (int draws = 0; draws < 100000; ++draws) {
    std::string line(info.name);
    std::vector<std::string> of_tensors;  // words of tensors that the case may not have
    for (const std::string& word : Split(std::string(info.choices) + " " + more, ' ')) {
      if (word.empty()) continue;
      const auto [key, values] = SplitWord(word);
      const std::string chosen = key + "=" + random.OneOf(Split(values, '|'));
      const TensorSpec* const tensor = FindTensor(info.signature, TensorOf(key));
      if (key[0] == '@' || (tensor && tensor->optional)) {
        of_tensors.push_back(chosen);
      } else {
        line += " " + chosen;
      }
    }
    try {
      const Case c = Case::Parse(line + " seed=" + std::to_string(random.Below(1000)));
      std::erase_if(of_tensors, [&c](const std::string& word) {
        return FindTensor(c.signature(), TensorOf(SplitWord(word).first)) == nullptr;
      });
      return c.With(of_tensors);
    } catch (const Error&) {
    }
  }
  throw std::logic_error("random cases of " + std::string(info.name) + " are invalid: " + more);
}

inline constexpr const char* kPositions =
    "sequence|hard|borders|random_positions|sequence(-3)|sequence(1099511627776)";

// A random case of the operation, with random dtype, sizes, positions and distributions.
inline Case AnyCase(const OperationInfo& info, Random& random) {
  std::string more = "dtype=f32|bf16|f16|f64";
  for (const TensorSpec& input : info.signature.inputs) {
    const std::string_view drawn = info.DrawOf(input.name);
    if (input.role == Role::kInteger && !IsSmallInteger(drawn))
      more += " @" + input.name + "=" + kPositions;
    const bool circle = info.draw.find(input.name + "=circle") != info.draw.npos;
    if (input.role == Role::kCase && !circle)
      more += " @" + input.name + "=normal|normal(30)|powers_of_two|special|one_hot";
  }
  return RandomCase(info, random, more);
}

}  // namespace sextant
