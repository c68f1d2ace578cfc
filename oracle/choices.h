// The values that matter, per attribute and dimension, as an operation lists them (kChoices); and
// what a case has.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/case.h"

namespace sextant::oracle {

struct Choices {
  std::string key;
  std::vector<std::string> texts;
};

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

// The value of an attribute that the case has.
inline std::string TextOf(const Case& c, std::string_view name) {
  const auto attributes = c.operation().Attributes();
  return std::ranges::find(attributes, name, &Attribute::name)->text;
}

}  // namespace sextant::oracle
