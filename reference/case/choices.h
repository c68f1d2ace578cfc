// The relevant values of attributes and dimensions, as an operation lists them (kChoices).
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/case/case.h"

namespace sextant {

struct Choices {
  std::string key;
  std::vector<std::string> texts;
};

// The attribute value for which some elements of an answer are unspecified.
inline constexpr std::string_view kUnspecified = "unspecified";

inline std::vector<Choices> ChoicesOf(const OperationInfo& info) {
  std::vector<Choices> all;
  std::istringstream words{std::string(info.choices)};
  for (std::string word; words >> word;) {
    const auto [key, values] = SplitWord(word);
    all.push_back({key, {}});
    std::istringstream texts(values);
    for (std::string text; std::getline(texts, text, '|');) all.back().texts.push_back(text);
  }
  return all;
}

}  // namespace sextant
