#include "oracle/diagnosis/deviation.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/prediction.h"
#include "oracle/diagnosis/witnesses.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A model is dropped if its distance from the answer exceeds 1 / kModelIsFarther of the right
// one's, or kModelIsFarther times that of the nearest model and kNoise per element (as in
// catalog/causes.cc).
constexpr double kModelIsFarther = 2, kNoise = 0.125;
// Of each deviation in a pair, so many of its most likely numbers are tried.
constexpr size_t kInPairs = 24;
// So many numbers that alone are nearest to the answer are tried in pairs first.
constexpr size_t kNearest = 6;
// The most likely number of coincidences that is accepted: a number measured in one slice may be
// one of the likely numbers by chance.
constexpr double kChance = 0.01;

struct ModelFit {
  Hypothesis model;
  std::string name, number;
  std::function<std::string(const std::string& number)> sentence;
  double distance = 0;  // from the answer, on the slices of the fit
  size_t order = 0;     // the most likely first
};

std::string TextOf(const NamedValue& value) {
  return value.text.empty() ? ShortText(value.value) : value.text;
}
// True if its number is fitted: such a deviation is the second one of a pair.
bool IsContinuous(const Deviation& deviation) {
  return !std::isnan(deviation.right) || deviation.measured;
}

// True if rounding `right` to bf16 may give x.
bool IsRounding(double x, double right) {
  return std::abs(x - right) <= 2 * UnitRoundoffOf(DType::kBF16) * std::abs(right);
}

class Search {
 public:
  Search(const Observation& seen, const Hypothesis& base)
      : seen_(seen),
        base_(base),
        witnesses_(WitnessesOf(seen)),
        evaluations_{MostEvaluations(seen)} {
    if (!witnesses_.fit.empty())
      limit_ = DistanceOf(seen, base, witnesses_.fit, kInfinity) / kModelIsFarther;
  }

  // Each number needs more than two failing elements.
  bool HasEvidence(size_t numbers) const { return witnesses_.failing_elements > 2 * numbers; }

  std::vector<ModelFit> Singles(const std::vector<Deviation>& deviations) {
    std::vector<ModelFit> fits;
    for (const Deviation& deviation : deviations) Add(base_, deviation, fits);
    return Explaining(std::move(fits), 1);
  }

  std::vector<ModelFit> Pairs(const std::vector<Deviation>& deviations) {
    if (!seen_.how.evaluations_left) return AllPairs(deviations);
    const size_t before = evaluations_.count;
    evaluations_.most = std::min(evaluations_.most, before + *seen_.how.evaluations_left);
    std::vector<ModelFit> fits = AllPairs(deviations);
    *seen_.how.evaluations_left -=
        std::min(*seen_.how.evaluations_left, evaluations_.count - before);
    return fits;
  }

 private:
  // A deviation with a number, and the distance that it leaves in the worst slice.
  struct Alone {
    const Deviation* deviation = nullptr;
    NamedValue value;
    double distance = kInfinity;
  };
  // The pairs of the numbers that alone are nearest to the answer: few of them, that the other
  // pairs keep their evaluations. A case that cannot be cut has few evaluations: there these pairs
  // take half of them.
  std::vector<ModelFit> PairsOfNearest(const std::vector<Deviation>& deviations) {
    std::vector<Alone> nearest = alone_;
    std::ranges::stable_sort(nearest, {}, &Alone::distance);
    const bool is_whole = !Halve(seen_.c, {});
    const size_t spent = std::min(evaluations_.count, evaluations_.most);
    const size_t most = spent + (evaluations_.most - spent) / (is_whole ? 2 : 4);
    if (!is_whole) nearest.resize(std::min(nearest.size(), kNearest));
    for (const auto& [first, value, distance] : nearest) {
      if (evaluations_.count > most || distance >= witnesses_.fit[0].distance) break;
      const auto model = Changed(base_, *first, value.value);
      std::vector<ModelFit> fits;
      for (const Deviation& second : deviations)
        if (second.factor != first->factor) AddPair(*model, *first, value, second, fits);
      fits = Explaining(std::move(fits), 2);
      if (!fits.empty()) return fits;
    }
    return {};
  }
  // First those of two real numbers; then the most likely numbers of all deviations come first.
  std::vector<ModelFit> AllPairs(const std::vector<Deviation>& deviations) {
    std::vector<ModelFit> fits;
    for (const bool is_fitted : {true, false}) {
      if (!is_fitted) fits = PairsOfNearest(deviations);
      if (!fits.empty()) return fits;
      for (size_t i = 0; i < kInPairs; ++i) {
        for (const Deviation& first : deviations) {
          if (i >= first.values.size() || IsContinuous(first) != is_fitted) continue;
          if (evaluations_.AreSpent()) continue;
          const auto model = Changed(base_, first, first.values[i].value);
          if (model) AddPairs(*model, first, first.values[i], deviations, fits);
        }
        std::vector<ModelFit> explaining = Explaining(std::move(fits), 2);
        if (!explaining.empty()) return explaining;
        fits.clear();
      }
    }
    return {};
  }

  // The pairs of `first`, which `model` has, and another. Every pair of deviations occurs once: two
  // of one kind in their order, and a fitted one after one with a given number.
  void AddPairs(const Hypothesis& model, const Deviation& first, const NamedValue& value,
                const std::vector<Deviation>& deviations, std::vector<ModelFit>& fits) {
    for (const Deviation& second : deviations) {
      const bool is_fitted = IsContinuous(second);
      if (second.factor == first.factor || (IsContinuous(first) && !is_fitted)) continue;
      if (IsContinuous(first) == is_fitted && &second < &first) continue;
      AddPair(model, first, value, second, fits);
    }
  }
  void AddPair(const Hypothesis& model, const Deviation& first, const NamedValue& value,
               const Deviation& second, std::vector<ModelFit>& fits) {
    const size_t before = fits.size();
    Add(model, second, fits);
    for (size_t i = before; i < fits.size(); ++i) {
      fits[i].name = first.name + "+" + fits[i].name;
      fits[i].sentence = [begin = first.sentence(TextOf(value)),
                          second = fits[i].sentence](const std::string& number) {
        return begin + "; and " + second(number);
      };
    }
  }

  std::optional<Hypothesis> Changed(const Hypothesis& base, const Deviation& deviation,
                                    double value) const {
    if (IsContinuous(deviation) && IsRounding(value, deviation.right)) return std::nullopt;
    return deviation.changed(base, value);
  }

  double Distance(const Hypothesis& model, double limit) {
    double sum = 0;
    in_worst_ = kInfinity;
    for (const Witness& witness : witnesses_.fit) {
      evaluations_.count += CostOf(seen_, witness);
      if (evaluations_.AreSpent()) return kInfinity;
      sum += DistanceOf(seen_, model, witness);
      in_worst_ = std::min(in_worst_, sum);  // the worst slice is the first
      if (!(sum <= limit)) return kInfinity;
    }
    return sum;
  }

  // Returns the distance in the worst slice.
  double AddModel(const Hypothesis& base, const Deviation& deviation, double value,
                  const std::string& number, std::vector<ModelFit>& fits) {
    if (evaluations_.AreSpent()) return kInfinity;
    const auto model = Changed(base, deviation, value);
    if (!model) return kInfinity;
    evaluations_.count += CostOfInputs(base, *model);
    const double distance = Distance(*model, limit_);
    if (distance <= limit_ && distance < kInfinity)
      fits.push_back({*model, deviation.name, number, deviation.sentence, distance, fits.size()});
    return in_worst_;
  }

  void Add(const Hypothesis& base, const Deviation& deviation, std::vector<ModelFit>& fits) {
    if (evaluations_.AreSpent()) return;
    if (deviation.measured) {
      const size_t before = alone_.size();
      for (const Deviation& found : deviation.measured(base)) Add(base, found, fits);
      alone_.resize(before);  // those found are no deviations of the search
      evaluations_.count += deviation.cost;
    } else if (!IsContinuous(deviation)) {
      for (const NamedValue& value : deviation.values) {
        const double distance = AddModel(base, deviation, value.value, TextOf(value), fits);
        if (&base == &base_) alone_.push_back({&deviation, value, distance});
      }
    } else {
      AddMeasured(base, deviation, fits);
    }
  }

  void AddMeasured(const Hypothesis& base, const Deviation& deviation,
                   std::vector<ModelFit>& fits) {
    const auto measured = MeasureNumber(seen_, base, deviation, witnesses_.fit, evaluations_);
    if (!measured) return;
    std::vector<NamedValue> likely;
    for (const NamedValue& value : deviation.values) {
      if (!measured->MayBe(value.value)) continue;
      if (std::ranges::find(likely, value.value, &NamedValue::value) == likely.end())
        likely.push_back(value);
    }
    if (deviation.is_integer && measured->bar < 0.5) likely = {{std::round(measured->value)}};
    const auto number = ShortNumber(*measured);
    if (likely.empty() && number) likely.push_back({*number});
    // A number that is measured in one slice cannot be tested in another.
    const bool is_tested = witnesses_.failing_slices > 1;
    const double chance = 2 * measured->bar / std::abs(measured->value) *
                          static_cast<double>(deviation.values.size());
    if (!is_tested && chance > kChance) return;
    for (const NamedValue& value : likely)
      AddModel(base, deviation, value.value, TextOf(value), fits);
    if (likely.empty() && is_tested)
      AddModel(base, deviation, measured->value, TextOf(*measured), fits);
  }

  // True if one of so many models may be as near to the answer by chance. A wrong model that may
  // have any distance up to that of the right one is as near with that ratio as its probability in
  // each failing slice; the elements of a slice depend on each other.
  bool IsChance(const ModelFit& fit) const {
    const double ratio = fit.distance / (kModelIsFarther * limit_);
    const auto slices = static_cast<double>(witnesses_.failing_slices);
    return static_cast<double>(evaluations_.count) * std::pow(ratio, slices) > kChance;
  }

  bool Explains(const Hypothesis& model) const {
    const auto explains = [&](const Witness& witness) {
      const AnsweredSlice part = AnsweredSliceOf(seen_, witness.slice);
      return Compare(seen_, part, part.exact, model).conforms;
    };
    return std::ranges::all_of(witnesses_.fit, explains) &&
           std::ranges::all_of(witnesses_.test, explains);
  }

  std::vector<ModelFit> Explaining(std::vector<ModelFit> fits, size_t numbers) const {
    std::vector<ModelFit> explaining;
    if (!HasEvidence(numbers)) return explaining;
    std::ranges::stable_sort(fits, {}, &ModelFit::distance);
    size_t elements = 0;
    for (const Witness& witness : witnesses_.fit)
      for (const auto& units : witness.units) elements += units.data.size();
    for (const ModelFit& fit : fits) {
      const double nearest = explaining.empty() ? fit.distance : explaining.front().distance;
      if (fit.distance >
          std::max(kModelIsFarther * nearest, kNoise * static_cast<double>(elements)))
        break;
      if (!IsChance(fit) && Explains(fit.model)) explaining.push_back(fit);
    }
    return explaining;
  }

  const Observation& seen_;
  const Hypothesis& base_;
  Witnesses witnesses_;
  double limit_ = 0;
  Evaluations evaluations_;
  double in_worst_ = kInfinity;  // the distance of the last model there
  std::vector<Alone> alone_;     // of deviations without a fitted number
};

// One explanation for each name: the most likely number, and the others that explain the answer.
std::vector<Explanation> Merged(std::vector<ModelFit> fits) {
  std::ranges::stable_sort(fits, {}, &ModelFit::order);
  std::vector<Explanation> explanations;
  for (size_t i = 0; i < fits.size(); ++i) {
    const auto has_name = [&](const ModelFit& fit) { return fit.name == fits[i].name; };
    if (std::ranges::any_of(std::span(fits).first(i), has_name)) continue;
    std::string others;
    for (const ModelFit& fit : std::span(fits).subspan(i + 1))
      if (has_name(fit) && fit.number != fits[i].number)
        others += (others.empty() ? "" : ", ") + fit.number;
    std::string sentence = fits[i].sentence(fits[i].number);
    if (!others.empty()) sentence += "; this answer does not exclude " + others;
    explanations.push_back({fits[i].name, sentence, fits[i].model});
  }
  return explanations;
}

}  // namespace

std::vector<Explanation> FittedTo(const Observation& seen, const Hypothesis& base,
                                  const std::vector<Deviation>& deviations,
                                  const std::vector<Deviation>& alone) {
  Search search(seen, base);
  if (!search.HasEvidence(1)) return {};
  std::vector<ModelFit> fits = search.Singles(deviations);
  if (fits.empty() && !alone.empty()) {
    Search rare(seen, base);  // with evaluations of its own: the pairs keep theirs
    fits = rare.Singles(alone);
    if (!fits.empty()) return Merged(std::move(fits));
  }
  if (fits.empty()) fits = search.Pairs(deviations);
  return Merged(std::move(fits));
}

}  // namespace sextant::oracle
