// Constants that are measured: the range that the answers allow, and the known constant in it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "oracle/diagnosis/measured_number.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// A known constant, or one that was measured.
struct Constant {
  double value = 0;
  std::string text;      // "1.702", "1/sqrt(2)", "0.8713 (+- 0.0004)"
  bool is_known = true;  // one that formulas use, or a short number
  double bits = 0;       // to say which of the known ones it is
};

// The constants of `named` in the range. If there is none, the shortest decimal number in it, with
// its error if few ranges of that width have no such number.
std::vector<Constant> ConstantsIn(const Range& range, const std::vector<Constant>& named);
// A number with few digits.
std::string TwoDigits(double x);
// Their texts, "1 or 2".
std::string TextOf(const std::vector<Constant>& constants);

// One element of an answer. `error` is its error bar: the smaller of the permitted and the likely
// error, or the permitted error itself, and at least an ulp of the answer: a wrong number may be
// larger than the right one, and is rounded at least once.
struct Sample {
  size_t at = 0;  // flat index
  double y = 0, right = 0, error = 0;
  bool Fails() const { return !(std::abs(y - right) <= error); }
};

// kTwicePermitted: the bar within which a model must predict an answer.
enum class ErrorBar { kLikely, kPermitted, kTwicePermitted };

// The elements of one output. Without a value: those that were not answered, are unspecified or not
// finite, or have no error bar.
class Samples {
 public:
  Samples(const Observation& seen, size_t output, ErrorBar bar);
  // The same elements with other error bars. They share what was computed about their rows.
  Samples With(ErrorBar bar) const;

  bool IsAnswered() const { return answer_ != nullptr; }
  bool Has(size_t at) const;
  Sample At(size_t at) const;
  // At most `count` elements: half of them those that are farthest from the right answer, in units
  // of their errors, the others spread over the tensor. In the order of the tensor.
  std::vector<Sample> Chosen(size_t count) const;
  // At most `count` rows of `width` elements, chosen in the same way.
  std::vector<size_t> ChosenRows(size_t count, size_t width) const;

 private:
  // |answer - right| / error; 0 if it does not fail or has no value.
  double DistanceOf(size_t at, ErrorBar bar) const;
  // Of the farthest element of each row of that width, at least 1, by the likely errors. Computed
  // once, and of the halves of the rows where possible: rows are chosen many times.
  const std::vector<double>& RowDistances(size_t width) const;

  const Tensor<double>* answer_ = nullptr;
  const GoldenTensor* golden_;
  const PermittedTensor* permitted_;
  ErrorBar bar_;
  struct Rows {
    std::map<size_t, std::vector<double>> distances;                  // by the width of a row
    std::map<std::pair<size_t, size_t>, std::vector<size_t>> chosen;  // by the count and the width
  };
  std::shared_ptr<Rows> rows_ = std::make_shared<Rows>();
};

// What deviates from the right computation, in words. Names are joined by "+", sentences by "; ".
struct Deviations {
  std::string name, sentence;
  size_t count = 0;
  size_t adjusted = 0;  // measured constants that are no known ones
  double bits = 0;      // of the known ones

  void Add(const std::string& its_name, const std::string& its_sentence);
  void Add(const Deviations& others);
  // Counts a measured constant.
  void Count(const Constant& constant);
};

// Keeps the fits with the fewest deviations, and of these the ones with the fewest adjusted
// constants. A fit has a member `deviations`.
template <class Fit>
void KeepSimplest(std::vector<Fit>& fits) {
  const auto key = [](const Fit& fit) {
    return std::pair(fit.deviations.count, fit.deviations.adjusted);
  };
  std::ranges::stable_sort(fits, {}, key);
  std::erase_if(fits, [least = fits.empty() ? std::pair<size_t, size_t>() : key(fits.front()),
                       &key](const Fit& fit) { return key(fit) != least; });
}

// The fits by the narrowest error bar, or by a wider one if they have fewer deviations: a wrong
// computation may have larger errors than the right one. Empty if the right one fits.
// fits(bar) returns fits that are equally simple.
template <class FitsOf>
auto SimplestFits(const FitsOf& fits) {
  auto best = fits(ErrorBar::kLikely);
  for (const ErrorBar bar : {ErrorBar::kPermitted, ErrorBar::kTwicePermitted}) {
    if (!best.empty() && best.front().deviations.count < 2) break;
    auto other = fits(bar);
    if (other.empty() || other.front().deviations.count == 0) continue;
    if (best.empty() || other.front().deviations.count < best.front().deviations.count)
      best = std::move(other);
  }
  if (!best.empty() && best.front().deviations.count == 0) best.clear();
  return best;
}

// How surprising it is that a model fits numbers to which it was not adjusted, in bits: the sum of
// log2(|answer - right| / error) over independent numbers that fail, without the `fitted` largest
// terms. A number that is anywhere between the right and the wrong one fits by accident with the
// probability error / |answer - right|.
double BitsOfEvidence(std::vector<double> distances, size_t fitted);

// How surprising it is that numbers that are uniform in [0, 1] are so small, in bits.
double BitsOfUniform(const std::vector<double>& numbers);

// True if a fit with these deviations is not an accident. Less than one answer in a thousand may be
// fitted by accident. Each deviation is one of at most 16; known constants have their bits, and so
// have other choices (`more_bits`).
bool IsEvident(const std::vector<double>& distances, const Deviations& deviations,
               double more_bits = 0);
template <class Fit>
void EraseAccidents(std::vector<Fit>& fits, const std::vector<double>& distances) {
  std::erase_if(fits, [&](const Fit& fit) {
    return fit.deviations.count > 0 && !IsEvident(distances, fit.deviations);
  });
}

}  // namespace sextant::oracle
