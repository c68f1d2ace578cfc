// Audit targets: wrong subjects that a suite of cases must catch. A target gives the answers of the
// baseline subject (a correct implementation), except where its one bug shows.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/judge/judge.h"
#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {

// A case, its inputs, and the baseline subject's answer. The reference values are proven on first
// use, because an answer equal to the baseline subject's needs no judge.
class AuditedCase {
 public:
  // Throws Error if the inputs cannot be drawn.
  AuditedCase(const Case& c, const Subject& baseline, const FileReader& read_file);
  const Case& c() const { return c_; }
  const Tensors& inputs() const { return inputs_; }
  const Recipe& recipe() const { return recipe_; }
  const Tensors& baseline_answer() const { return baseline_answer_; }
  const std::vector<GoldenTensor>& golden() const;
  const std::vector<PermittedTensor>& permitted() const;
  bool Fails(const Tensors& answer) const;
  bool BaselineFails() const;

 private:
  void Prepare() const;
  bool JudgeFails(const Tensors& answer) const;

  Case c_;
  Recipe recipe_;
  Tensors inputs_, baseline_answer_;
  bool has_alternatives_ = false;
  mutable std::vector<GoldenTensor> golden_;
  mutable std::vector<PermittedTensor> permitted_;
  mutable std::optional<bool> baseline_fails_;
  mutable std::unique_ptr<Judge> judge_;
};

struct AuditTarget {
  std::string name;  // of a defect or a coverage goal, or "(one element pushed)"
  std::string why;   // the bug in a sentence
  // Returns whether the judge fails the target's answer; empty if the bug does not apply.
  std::function<std::optional<bool>(const AuditedCase&)> caught;
  bool everywhere = false;  // every case to which the bug applies must catch it
  // It must be caught in every dtype in which it can show. False for a coverage goal of two
  // conditions: these are pairs that may include the dtype; with every dtype they would be triples.
  bool in_every_dtype = true;
  bool is_goal = false;  // a coverage goal, not a defect
};

// All defects, listed and generated; all coverage goals; and one element just above its bound.
std::vector<AuditTarget> AuditTargetsOf(std::string_view operation);

}  // namespace sextant::oracle
