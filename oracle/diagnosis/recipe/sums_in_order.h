// The order in which an implementation adds, told by the bits of its answers: a recipe permits any
// order, and its own answer in one order seldom has the same bits as in another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::oracle {

struct FoundOrder {
  // "by halves", or "dot from left to right, softmax by halves". Empty: no order that was tried
  // gives these bits. Several: each of them does.
  std::vector<std::string> orders{};
  std::string recipe{};  // that says the only one, if recipes can: "native sum=f32:pairwise"
  size_t elements = 0;   // that were compared with it
};

// Compares parts of the answers (compared_parts.h) with the recipe's own answers in each order.
// Empty if the recipe has no sums of which it permits any order.
std::optional<FoundOrder> OrderOfSums(std::span<const JudgedAnswer> answers,
                                      const std::string& recipe);

}  // namespace sextant::oracle
