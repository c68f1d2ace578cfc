// What a suite of cases must catch: targets of an honest subject. A target answers as the honest
// subject does, except where its one bug shows.
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

// A case, its inputs, and the honest answer. What judging needs is proven when it is first needed:
// a target that answers as the honest subject needs no judge.
class AuditedCase {
 public:
  // Throws Error if the inputs cannot be drawn.
  AuditedCase(const Case& c, const Subject& honest, const FileReader& read_file);
  const Case& c() const { return c_; }
  const Tensors& inputs() const { return inputs_; }
  const Recipe& recipe() const { return recipe_; }
  const Tensors& honest() const { return honest_; }
  const std::vector<GoldenTensor>& golden() const;
  const std::vector<PermittedTensor>& permitted() const;
  bool Fails(const Tensors& answer) const;
  bool HonestFails() const;

 private:
  void Prepare() const;
  bool Judged(const Tensors& answer) const;

  Case c_;
  Recipe recipe_;
  Tensors inputs_, honest_;
  bool has_alternatives_ = false;
  mutable std::vector<GoldenTensor> golden_;
  mutable std::vector<PermittedTensor> permitted_;
  mutable std::optional<bool> honest_fails_;
  mutable std::unique_ptr<Judge> judge_;
};

struct AuditTarget {
  std::string name;  // of a defect or blind spot, or "(one element pushed)"
  std::string why;   // the bug in a sentence
  // Whether the judge fails the target's answer; empty where the bug does not apply.
  std::function<std::optional<bool>(const AuditedCase&)> caught;
  bool everywhere = false;  // it must be caught by every case to which the bug applies
  // It must be caught in every dtype in which it can show. Not so a blind spot of two conditions:
  // what is asked of these are pairs, of which the dtype may be one, not triples.
  bool in_every_dtype = true;
};

// The defects, listed and generated, the blind spots, and one element pushed beyond its bound.
std::vector<AuditTarget> AuditTargetsOf(std::string_view operation);

}  // namespace sextant::oracle
