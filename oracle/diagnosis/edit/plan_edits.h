// What may be wrong in a plan: each stage is computed, read or summed otherwise. Nothing here knows
// an operation: an operation that has a plan has its diagnosis.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/deviation.h"
#include "reference/plan/plan.h"

namespace sextant::oracle {

// An edit with a number.
struct PlanEdit {
  std::string name;      // "root_missing"
  std::string sentence;  // # is the number
  std::function<void(Plan&, double number)> edit;
  // Numbers that implementations use. One alone: the edit has no number.
  std::vector<NamedValue> values = {{0, " "}};
  // If every other number is possible, too: the one that changes nothing. Infinity: a limit.
  double right = kNaN;
  Stage stage = 0;            // that is limited
  bool is_threshold = false;  // of the magnitudes of `stage`: any number between two of them
  int cost = 0;               // in bits: what is simple is more likely
  bool is_across_slices = false;

  bool IsFitted() const { return right == right; }
};

// The cheapest first.
std::vector<PlanEdit> EditsOf(const Plan& plan, std::string_view slices);

}  // namespace sextant::oracle
