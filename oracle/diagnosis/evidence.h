// Evidence: the slices of an answer with which hypotheses are compared. A hypothesis first sees
// witnesses: few small slices, where the answer is worst and evenly spread ones. The hypotheses
// that are not refuted there see everything, within a limit that counts elements, not seconds.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "oracle/diagnosis/prediction.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// A hypothesis, made when it is compared: it may have large inputs.
struct Candidate {
  std::function<std::optional<Hypothesis>()> make;  // empty: it does not apply to the case
  bool is_across_slices = false;                    // as Defect::is_across_slices
};

// How well a hypothesis predicts an answer.
struct Fit {
  bool explains = false;
  double distance = 0;  // of the compared elements, as in Comparison
  size_t compared = 0;  // elements
  size_t verified = 0;  // failing elements among them
};

class Evidence {
 public:
  // What is observed must outlive it.
  explicit Evidence(const Observation& seen, const ProveOptions& options = {});

  // One fit for each candidate. Those across slices are compared with the whole case, if it has at
  // most kAlways elements and no budget (reference/prove/budget.h), and as far as MostWork (work.h)
  // permits. The result does not depend on the number of threads.
  std::vector<Fit> FitsOf(const std::vector<Candidate>& candidates);
  // The same, and the hypotheses across slices do not count as compared: whoever proposes them
  // leaves out those that do not explain the answer.
  std::vector<Fit> FitsOfProposed(const std::vector<Candidate>& candidates);
  // Across slices: in a case of any size.
  Fit FitOf(const Hypothesis& hypothesis);
  // The candidates, at most so many, to whose predictions most failing elements of the worst
  // witnesses are nearer than a unit, the best first: part of what they predict may be right. Those
  // without such an element, and those across slices, are none of them.
  std::vector<size_t> NearestOf(const std::vector<Candidate>& candidates, size_t most);
  // True if the hypothesis and the right formula differ in a witness.
  bool HasEffect(const Hypothesis& hypothesis);

  size_t elements() const { return elements_; }
  size_t failing() const { return failing_; }
  // Elements that were compared, once for each comparison. FitsOf compares each candidate with the
  // witnesses, at most twice; they have kWitnessed elements, or are one larger slice. Then it
  // compares those that are left, all together, with kAlways elements, or with a part of a
  // large case, or with those that MostWork permits.
  size_t compared() const { return compared_; }
  static constexpr size_t kWitnessed = 4096, kAlways = size_t{1} << 16;

 private:
  struct Survivor {  // a hypothesis that the witnesses do not refute
    size_t index;    // of the candidate
    Hypothesis hypothesis;
    By by;
    size_t slices = 0;  // of everything_, that it sees
  };
  struct Witness {
    AnsweredSlice part;
    Values right;  // by the recipe; of the whole of a large case, the exact values
  };
  // A case that cannot be cut has one slice, which predicts all.
  bool IsAcross(bool is_across_slices) const { return is_across_slices && is_cut_; }
  Comparison CompareHere(const Hypothesis& hypothesis, const AnsweredSlice& part,
                         const Values& right, Comparing how);
  void ChooseWitnesses();
  std::optional<By> SurvivesWitnesses(const Hypothesis& hypothesis);
  bool ExplainsWitnesses(const Hypothesis& hypothesis, By by);
  Fit FitAcross(const Hypothesis& hypothesis);
  void SeeWhole();  // before FitAcross
  void LimitSlices(std::vector<Survivor>& survivors) const;
  std::vector<Fit> SeeEverything(const std::vector<Survivor>& survivors);
  void MayCancel();

  const Observation seen_;
  ProveOptions options_;
  bool is_cut_;
  std::vector<Witness> witnesses_;  // the worst first
  std::vector<Slice> everything_;   // in the order in which they are compared
  std::vector<size_t> counts_;      // their elements
  size_t elements_ = 0, failing_ = 0;
  std::atomic<size_t> compared_ = 0;
  size_t across_left_;  // so many hypotheses across slices may still be compared
  std::optional<Witness> whole_;
  std::mutex mutex_;  // of MayCancel
};

// More than Evidence::kAlways elements in the first output, whatever the budget: searches have
// fewer evaluations, the subject is asked further questions last, and what says little is looked at
// in part.
bool IsLarge(const Case& c);

// Whether so many failing elements show that they are near other right numbers not by accident:
// each of them tells at least one bit, and `choices` places were tried.
bool IsEvidence(size_t failing, size_t choices);

// Those of many possible explanations that predict the answer. None if so few elements fail that
// one of them might do so by accident.
std::vector<Explanation> ExplainingOf(const Observation& seen, std::vector<Explanation> possible);

}  // namespace sextant::oracle
