// Bugs of attention in all its forms, and the formula that makes them.
#pragma once

#include <vector>

#include "oracle/attention/mistaken_attention.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {

// Those of every form: cases, inputs and recipes changed.
std::vector<Defect> AttentionDefects();
// Of those: windows, chunks, lengths and segments that are a little off.
std::vector<Defect> MaskDefects();
// Of those: steps in too few bits, which all forms have.
std::vector<Defect> AttentionRecipeDefects();
// And that of whatever has key_length.
Defect LengthOneMore();

// Those of the formula, for the form whose mistaken struct has a member `mistake`.
struct AttentionBug {
  const char *name, *why;
  AttentionMistake mistake;
};
std::vector<AttentionBug> AttentionBugs();

template <class Mistaken>
std::vector<Defect> FormulaDefects(const std::vector<AttentionBug>& bugs) {
  std::vector<Defect> defects;
  for (const AttentionBug& bug : bugs) {
    defects.push_back(MutatedFormula<Mistaken>(bug.name, bug.why, bug.mistake));
  }
  return defects;
}

}  // namespace sextant::oracle
