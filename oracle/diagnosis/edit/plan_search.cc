#include "oracle/diagnosis/edit/plan_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "oracle/diagnosis/edit/plan_sample.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"

namespace sextant::oracle {
namespace {

// Predictions in double differ from an answer by its permitted error, and by what the edit makes of
// roundings before it: this is only a filter, Evidence compares with the recipe.
constexpr double kNear = 4, kNearInF64 = 64;  // in units
// Searches evaluate so many elements, each evaluation counting as kOverhead more: about half a
// second.
constexpr size_t kMostElements = size_t{1} << 24, kOverhead = 256;
constexpr size_t kSamples = 12;
constexpr size_t kMostWidth = size_t{1} << 16;  // of a row: memory does not grow with the case
constexpr size_t kMostWhole = size_t{1} << 14;  // elements of a case, for edits across its slices
constexpr size_t kVerified = 32;                // proposals that Evidence compares
// An edit must say more about the answer than log2 of the tries and so many bits. The elements of a
// row depend on each other; a number that was fitted takes what one row tells.
constexpr double kCertain = 12, kMostBitsOfRow = 24;
// Pairs: so many first edits are tried, each with the second ones that are nearest by an
// approximation, which looks at so many elements.
constexpr size_t kFirsts = 400, kSeconds = 128, kFittedSeconds = 8, kPicked = 64;
constexpr size_t kMostWholeInPairs = 1024;
constexpr int kMostCostInPairs = 7;
constexpr int kMostCostInPart = 4;

// One edit, or two.
struct Proposal {
  std::vector<ChosenEdit> choices;
  // Of the edits and their numbers, in bits.
  int Cost() const {
    constexpr int kListed = 1, kFitted = 6;
    int cost = kFitted * CountFitted();
    for (const auto& [edit, value] : choices)
      cost += edit->cost + (edit->values.size() > 1 ? kListed : 0);
    return cost;
  }
  int CountFitted() const {  // numbers that are in no list
    return static_cast<int>(std::ranges::count_if(choices, [](const ChosenEdit& one) {
      return std::ranges::count(one.edit->values, one.value.value, &NamedValue::value) == 0;
    }));
  }
  bool IsAcross() const {
    return std::ranges::any_of(choices,
                               [](const ChosenEdit& one) { return one.edit->is_across_slices; });
  }
};

// A single edit, of which two may explain what one does not.
struct Single {
  ChosenEdit choice;
  double bits, part;            // of the distance, per element; PlanSample::PartOf
  std::vector<double> changed;  // its prediction of the picked elements
};

class PlanSearch {
 public:
  PlanSearch(const Observation& seen, const PlanMaker& maker)
      : seen_(seen), maker_(maker), near_(seen.c.dtype() == DType::kF64 ? kNearInF64 : kNear) {
    const Shape shape = seen.c.ShapeOf(seen.c.info().signature.outputs[0]);
    width_ = RowWidth(shape);
    if (width_ > kMostWidth) return;
    const Witnesses small = WitnessesOf(seen);
    if (small.fit.empty()) return;
    samples_.emplace_back(seen, maker, small.fit[0]);
    const Witnesses rows = WitnessesOf(seen, std::clamp<size_t>(4 * width_, 256, 2048));
    for (const auto* const list : {&rows.fit, &rows.test})
      for (const Witness& witness : *list)
        if (samples_.size() < 2 ||
            (samples_.size() <= kSamples && samples_.size() * width_ < kMostWidth))
          samples_.emplace_back(seen, maker, witness);
    if (CountOf(shape) <= kMostWhole) whole_.emplace(seen, maker, WitnessOf(seen, {}));
    edits_ = EditsOf(PlanOfCase(maker, seen.c, seen.inputs), seen.c.info().slices);
    if (seen.how.is_part)  // bounds are wide there: what is rare would be named for what is usual
      std::erase_if(edits_, [](const PlanEdit& edit) { return edit.cost > kMostCostInPart; });
    for (const PlanSample& sample : std::span(samples_).subspan(1)) bits_ += BitsOf(sample);
    if (whole_) bits_ = std::max(bits_, BitsOf(*whole_));
  }

  std::vector<Explanation> Explanations(Edits edits) {
    if (samples_.size() < 2) return {};
    std::vector<Proposal> found = edits == Edits::kOne ? Singles() : Pairs();
    std::ranges::stable_sort(found, {}, &Proposal::Cost);
    found.resize(std::min(found.size(), kVerified));
    std::vector<Explanation> possible;
    for (const Proposal& one : found) possible.push_back(ExplanationOf(one));
    possible = ExplainingOf(seen_, std::move(possible));
    if (possible.empty()) return {};
    return {possible[0]};
  }

 private:
  // What the differences between a sample and the right answer tell.
  double BitsOf(const PlanSample& sample) const {
    double bits = 0;
    for (size_t first = 0; first < sample.size(); first += width_) {
      double of_row = 0;
      for (size_t i = first; i < std::min(first + width_, sample.size()); ++i)
        of_row +=
            std::min(PlanSample::kMostBits, std::log2(1 + sample.Apart(i, sample.Predicted()[i])));
      bits += std::min(of_row, kMostBitsOfRow);
    }
    return bits;
  }
  void Count(const PlanSample& sample) {
    elements_ += sample.size() + kOverhead;
    ++tries_;
  }
  bool IsSpent() const { return elements_ > most_; }

  // The samples for these edits, the smallest first; none if the case is too large for them.
  std::span<const PlanSample> SamplesOf(const Proposal& proposal) const {
    if (!proposal.IsAcross()) return samples_;
    return whole_ ? std::span(&*whole_, 1) : std::span<const PlanSample>();
  }
  bool IsNear(const Proposal& proposal) {
    const auto samples = SamplesOf(proposal);
    return !samples.empty() && std::ranges::all_of(samples, [&](const PlanSample& sample) {
      Count(sample);
      return sample.LargestDistance(sample.Predict(proposal.choices)) <= Limit(sample);
    });
  }
  // Where the right formula is wrong, the edit must be nearer.
  double Limit(const PlanSample& sample) const {
    const double of_right = sample.LargestDistance(sample.Predicted());
    return of_right > 1 ? std::min(near_, of_right / 2) : near_;
  }
  // Those that are no accident.
  std::vector<Proposal> Certain(std::vector<Proposal> found) const {
    const double tries = std::log2(static_cast<double>(std::max<size_t>(tries_, 1)));
    std::erase_if(found, [&](const Proposal& one) {
      return bits_ - one.CountFitted() * kMostBitsOfRow < tries + kCertain;
    });
    return found;
  }

  std::vector<Proposal> Singles() {
    std::vector<Proposal> found;
    for (const PlanEdit& edit : edits_) {
      if (IsSpent()) break;
      std::vector<NamedValue> values = ValuesOf(edit);
      if (edit.IsFitted()) {
        const auto number = Fit(samples_[0], samples_[1], edit);
        values = number ? std::vector{*number} : std::vector<NamedValue>();
      }
      for (const NamedValue& value : values) {
        if (IsSpent()) break;
        Proposal proposal{{{&edit, value}}};
        if (IsNear(proposal)) found.push_back(std::move(proposal));
      }
    }
    return Certain(std::move(found));
  }

  std::vector<Proposal> Pairs() {
    size_t* const left = seen_.how.evaluations_left;
    if (left) most_ = std::min(most_, *left * kElementsOfEvaluation);
    std::vector<Proposal> found = PairsWithin();
    if (left) *left -= std::min(*left, elements_ / kElementsOfEvaluation);
    return Certain(std::move(found));
  }
  // Firsts are those that are nearest to the answer, and those that change what is wrong, in turn.
  std::vector<Proposal> PairsWithin() {
    const bool is_whole = whole_ && whole_->size() <= kMostWholeInPairs;
    const PlanSample& sample = is_whole ? *whole_ : samples_[0];
    RankSingles(sample, is_whole);
    std::vector<const Single*> by_bits, by_part;
    for (const Single& single : singles_) by_bits.push_back(&single);
    by_part = by_bits;
    std::ranges::stable_sort(by_bits, {}, &Single::bits);
    std::ranges::stable_sort(by_part, std::greater(), &Single::part);
    std::set<std::pair<float, float>> tried;  // edits that predict the same
    for (size_t i = 0; i < by_bits.size() && tried.size() < kFirsts; ++i) {
      for (const Single* first : {by_bits[i], by_part[i]}) {
        if (IsSpent()) return {};
        if (!tried.emplace(first->bits, first->part).second) continue;
        std::vector<Proposal> found = WithSecond(*first, sample);
        if (found.empty()) continue;
        // Others predict the same as one of both.
        for (const int turn : {0, 1}) {
          const ChosenEdit& kept = Cheapest(found).choices[1];
          const auto more = WithSecond(SingleOf(kept, sample), sample);
          found.insert(found.end(), more.begin(), more.end());
          if (turn == 0 && more.empty()) break;
        }
        return found;
      }
    }
    return {};
  }

  static const Proposal& Cheapest(const std::vector<Proposal>& proposals) {
    return *std::ranges::min_element(proposals, {}, &Proposal::Cost);
  }
  Single SingleOf(const ChosenEdit& choice, const PlanSample& sample) const {
    const std::vector<double> predicted = sample.Predict({choice});
    Single single{choice, 0, sample.PartOf(predicted), {}};
    for (const size_t i : picked_) single.changed.push_back(predicted[i]);
    return single;
  }

  void RankSingles(const PlanSample& sample, bool with_across) {
    for (size_t i = 0; i < std::min(kPicked, sample.size()); ++i)
      picked_.push_back(i * sample.size() / std::min(kPicked, sample.size()));
    const double size = static_cast<double>(sample.size());
    // Where rows are wrong by factors alone, every change of a row's divisor is as near.
    const bool has_factors = sample.BitsButFactors(sample.Predicted(), width_) > 2 * size;
    const auto add = [&](const PlanEdit& edit, const NamedValue& value) {
      Count(sample);
      const std::vector<double> predicted = sample.Predict(edit, value.value);
      double bits = sample.Bits(predicted);
      if (has_factors) bits = std::min(bits, sample.BitsButFactors(predicted, width_));
      Single single = SingleOf({&edit, value}, sample);
      single.bits = bits / size;
      if (predicted != sample.Predicted()) singles_.push_back(std::move(single));
    };
    for (const PlanEdit& edit : edits_) {
      if (IsSpent() || edit.cost > kMostCostInPairs) break;  // the cheapest are the first
      if (edit.is_across_slices && !with_across) continue;
      if (!edit.IsFitted())
        for (const NamedValue& value : ValuesOf(edit)) add(edit, value);
      for (const bool but_factors : {false, true})
        if (edit.IsFitted() && (has_factors || !but_factors))
          if (const auto number = Fit(samples_[0], samples_[1], edit, but_factors))
            add(edit, *number);
    }
  }

  // Second edits whose changes, added to those of the first one or multiplied with them, give about
  // the answer.
  std::vector<const Single*> SecondsAfter(const Single& first, const PlanSample& sample) const {
    std::vector<std::pair<double, const Single*>> near;
    for (const Single& second : singles_) {
      if (second.choice.edit == first.choice.edit) continue;
      std::array<double, 2> apart{};
      for (size_t k = 0; k < picked_.size(); ++k) {
        const size_t i = picked_[k];
        const double right = sample.Predicted()[i], wrong = sample.answer()[i];
        const double one = first.changed[k], other = second.changed[k];
        const double unit = sample.units()[i] + std::abs(wrong - right) / 64;
        const double sum = one + other - right, product = one * (other / right);
        const auto far = [&](double predicted) {
          const double distance = std::abs(predicted - wrong) / unit;
          return distance < 1 ? 0 : distance < 8 ? 1 : distance < 32 ? 2 : 3;
        };
        apart[0] += far(sum);
        apart[1] += far(product);
      }
      near.emplace_back(std::min(apart[0], apart[1]), &second);
    }
    std::ranges::stable_sort(near, {}, &std::pair<double, const Single*>::first);
    std::vector<const Single*> seconds;
    for (const auto& [apart, single] : std::span(near).first(std::min(kSeconds, near.size())))
      seconds.push_back(single);
    return seconds;
  }

  std::vector<Proposal> WithSecond(const Single& first, const PlanSample& sample) {
    std::vector<Proposal> found;
    const auto try_pair = [&](const ChosenEdit& second) {
      Proposal proposal{{first.choice, second}};
      if (!IsNear(proposal)) {
        const bool has_numbers = first.choice.edit->IsFitted() || second.edit->IsFitted();
        if (!has_numbers || proposal.IsAcross() || !Refine(proposal) || !IsNear(proposal)) return;
      }
      found.push_back(std::move(proposal));
    };
    for (const Single* second : SecondsAfter(first, sample)) {
      if (IsSpent()) break;
      if (!second->choice.edit->IsFitted()) try_pair(second->choice);
    }
    if (!found.empty() || first.choice.edit->is_across_slices) return found;
    // Numbers, relative to the first edit.
    PlanSample small = samples_[0], rows = samples_[1];
    for (PlanSample* const each : {&small, &rows}) each->Assume(first.choice);
    std::vector<std::pair<double, const PlanEdit*>> fitted;
    for (const PlanEdit& edit : edits_) {
      if (!edit.IsFitted() || &edit == first.choice.edit) continue;
      Count(small);
      const double aside =
          std::isfinite(edit.right) && edit.right != 0 && std::abs(edit.right) > 1e-12
              ? edit.right * (1 + 0x1p-6)
              : edit.values[0].value;
      // Of those that change about the same, the simplest is the first.
      const double part = std::floor(8 * small.PartOf(small.Predict(edit, aside)));
      fitted.emplace_back(-part, &edit);
    }
    std::ranges::stable_sort(fitted, {}, &std::pair<double, const PlanEdit*>::first);
    for (const auto& [part, edit] :
         std::span(fitted).first(std::min(kFittedSeconds, fitted.size()))) {
      if (IsSpent() || -part < 4) break;
      if (const auto number = Fit(small, rows, *edit)) try_pair({edit, *number});
    }
    return found;
  }

  // The listed numbers, and of a threshold the nearest to the answer.
  std::vector<NamedValue> ValuesOf(const PlanEdit& edit) {
    std::vector<NamedValue> values = edit.values;
    if (!edit.is_threshold) return values;
    const PlanSample& rows = samples_[1];
    std::vector<double> sizes = {0};
    for (const double x : rows.ValuesOf(edit.stage).data)
      if (std::isfinite(x)) sizes.push_back(std::abs(x));
    std::ranges::sort(sizes);
    if (sizes.size() < 2) return values;
    // The best of some, and then of those between its neighbours.
    constexpr size_t kParts = 24;
    size_t low = 1, high = sizes.size() - 1, best = 0;
    for (size_t step = std::max<size_t>(1, (high - low) / kParts);;
         step = std::max<size_t>(1, (high - low) / kParts)) {
      double least = kInfinity;
      for (size_t k = low; k <= high; k += step) {
        Count(rows);
        const double bits = rows.Bits(rows.Predict(edit, sizes[k]));
        if (bits < least) least = bits, best = k;
      }
      if (step == 1 || best == 0) break;
      low = best > step ? best - step : 1;
      high = std::min(best + step, sizes.size() - 1);
    }
    const LongRange range{std::nextafter(sizes[best > 0 ? best - 1 : 0], kInfinity), sizes[best]};
    if (best > 0 && range.low < range.high) values.push_back({SimplestIn(range), {}});
    return values;
  }

  // The number of the edit that is nearest to the answer: near a likely one, and then by Newton
  // steps. `but_factors`: whatever the factors of rows are.
  std::optional<NamedValue> Fit(const PlanSample& small, const PlanSample& rows,
                                const PlanEdit& edit, bool but_factors = false) {
    std::vector<double> starts, finer;
    for (const NamedValue& value : edit.values) starts.push_back(value.value);
    if (std::isfinite(edit.right)) {
      for (int octave = -10; octave <= 10; ++octave)
        starts.push_back(std::ldexp(edit.right, octave));
    } else {  // a limit of the stage
      std::vector<double> sizes = small.ValuesOf(edit.stage).data;
      for (double& size : sizes) size = std::abs(size);
      std::erase_if(sizes, [](double size) { return !std::isfinite(size); });
      std::ranges::sort(sizes);
      if (sizes.empty()) return std::nullopt;
      for (size_t part = 0; part <= 16; ++part)
        starts.push_back(sizes[(sizes.size() - 1) * part / 16]);
    }
    const auto nearest = [&](const std::vector<double>& numbers) {
      double best = kNaN, least = kInfinity;
      for (const double number : numbers) {
        Count(small);
        const std::vector<double> predicted = small.Predict(edit, number);
        const double bits =
            but_factors ? small.BitsButFactors(predicted, width_) : small.Bits(predicted);
        if (bits < least) best = number, least = bits;
      }
      return best;
    };
    double x = nearest(starts);
    for (int part = -8; part <= 8; ++part) finer.push_back(x * std::exp2(part / 8.0));
    if (x != 0) x = nearest(finer);
    std::vector<ChosenEdit> choices = {{&edit, {x}}};
    return ByNewton(rows, choices, but_factors) ? std::optional(choices[0].value) : std::nullopt;
  }
  // The fitted numbers of a pair again, both together.
  bool Refine(Proposal& proposal) { return ByNewton(samples_[1], proposal.choices, false); }

  // The numbers of fitted edits, at most two, by steps of Newton's method from those that they have
  // to the least squares of the residuals; then the listed or the shortest numbers within their
  // error. False if there are none, or if they are the right ones.
  bool ByNewton(const PlanSample& sample, std::vector<ChosenEdit>& choices, bool but_factors) {
    constexpr int kSteps = 8;
    constexpr double kStep = 0x1p-12;
    std::vector<ChosenEdit*> free;
    for (ChosenEdit& choice : choices)
      if (choice.edit->IsFitted()) free.push_back(&choice);
    std::array<double, 2> bars{};
    for (int step = 0; step < kSteps; ++step) {
      Count(sample);
      const std::vector<double> at = sample.Predict(choices);
      std::vector<double> residuals = sample.Residuals(at);
      std::vector<std::vector<double>> slopes;
      for (ChosenEdit* const one : free) {
        double& x = one->value.value;
        if (x == 0) {  // listed: it has no neighbour
          one->value.text = "0";
          return free.size() == 1 && one->edit->right != 0;
        }
        const double before = x;
        x *= 1 + kStep;
        Count(sample);
        const std::vector<double> beside = sample.Predict(choices);
        auto& slope = slopes.emplace_back(at.size(), 0);
        for (size_t i = 0; i < at.size(); ++i)
          if (const double d = (beside[i] - at[i]) / (x - before) / sample.units()[i];
              std::isfinite(d))
            slope[i] = d;
        x = before;
        if (but_factors) RemoveFactors(at, sample.units(), slope);
      }
      if (but_factors) RemoveFactors(at, sample.units(), residuals);
      // The normal equations of one or two numbers.
      double aa = 0, ab = 0, bb = 0, ar = 0, br = 0;
      bars.fill(kInfinity);
      for (size_t i = 0; i < at.size(); ++i) {
        const double a = slopes[0][i], b = free.size() > 1 ? slopes[1][i] : 0;
        aa += a * a, ab += a * b, bb += b * b, ar += a * residuals[i], br += b * residuals[i];
        for (size_t f = 0; f < free.size(); ++f)
          if (const double slope = slopes[f][i]; slope != 0)
            bars[f] = std::min(bars[f], (1 + std::abs(residuals[i])) / std::abs(slope));
      }
      const double determinant = aa * bb - ab * ab;
      if (!(aa > 0) || (free.size() > 1 && !(determinant > 1e-12 * aa * bb))) return false;
      std::array<double, 2> change{ar / aa, 0};
      if (free.size() > 1)
        change = {(ar * bb - br * ab) / determinant, (br * aa - ar * ab) / determinant};
      bool is_done = true;
      for (size_t f = 0; f < free.size(); ++f) {
        free[f]->value.value += change[f];
        is_done = is_done && std::abs(change[f]) <= bars[f] / 8;
      }
      if (is_done) break;
    }
    for (size_t f = 0; f < free.size(); ++f)
      if (!Name(*free[f], bars[f] * near_ / kNear)) return false;
    return true;
  }
  // The text of a number with this error; false if it may be the right one.
  static bool Name(ChosenEdit& choice, double bar) {
    const MeasuredNumber measured{choice.value.value, bar};
    const double right = choice.edit->right, size = std::abs(measured.value);
    const double least = std::isfinite(right) ? kSharedRoundings * std::abs(right) : 0;
    if (!std::isfinite(measured.value) || !std::isfinite(bar)) return false;
    if (!std::isfinite(right) && measured.value <= 0) return false;  // no limit of magnitudes
    if (std::abs(measured.value - right) <= std::max(bar, least)) return false;
    choice.value = NamedNumber(measured);
    if (bar >= size / 8) return true;
    double nearest = kInfinity;
    std::set<double> possible;
    for (const NamedValue& value : choice.edit->values) {
      const double apart = std::abs(value.value - measured.value);
      if (apart > bar) continue;
      possible.insert(value.value);
      if (apart < nearest) choice.value = value, nearest = apart;
    }
    if (choice.value.text.empty()) choice.value.text = ShortText(choice.value.value);
    // A coarse answer does not tell which one it is.
    if (possible.size() > 1 || (possible.size() == 1 && bar > size / 256))
      choice.value.text += " +- " + TextWithDigits(bar, 1);
    return true;
  }
  // Numbers in units, without what a factor of each row of the prediction would change.
  void RemoveFactors(const std::vector<double>& predicted, const std::vector<double>& units,
                     std::vector<double>& numbers) const {
    const auto along = [&](size_t i) {
      const double x = predicted[i] / units[i];
      return std::isfinite(x) ? x : 0;
    };
    for (size_t first = 0; first < numbers.size(); first += width_) {
      const size_t last = std::min(first + width_, numbers.size());
      double products = 0, squares = 0;
      for (size_t i = first; i < last; ++i)
        products += along(i) * numbers[i], squares += along(i) * along(i);
      for (size_t i = first; squares > 0 && i < last; ++i)
        numbers[i] -= products / squares * along(i);
    }
  }

  Explanation ExplanationOf(const Proposal& one) const {
    Explanation explanation{
        "", "", {seen_.c.operation().Clone(), SharedInputs::Of(seen_.inputs), seen_.recipe}};
    for (const auto& [edit, value] : one.choices) {
      std::string sentence = edit->sentence;
      const std::string number = value.text.empty() ? ShortText(value.value) : value.text;
      for (size_t at = 0; (at = sentence.find('#', at)) != std::string::npos; at += number.size())
        sentence.replace(at, 1, number);
      explanation.name += (explanation.name.empty() ? "" : "+") + edit->name;
      explanation.sentence += (explanation.sentence.empty() ? "" : "; and ") + sentence;
      Hypothesis& model = explanation.model;
      model.operation = WithEdit(model.operation, maker_,
                                 [f = edit->edit, x = value.value](Plan& plan) { f(plan, x); });
      model.is_across_slices |= edit->is_across_slices;
    }
    return explanation;
  }

  const Observation& seen_;
  const PlanMaker& maker_;
  const double near_;
  std::vector<PlanSample> samples_;  // a small one first, then the worst rows
  std::optional<PlanSample> whole_;  // if it is small
  std::vector<PlanEdit> edits_;      // the cheapest first
  std::vector<Single> singles_;      // for pairs
  std::vector<size_t> picked_;
  size_t width_ = 1;  // of a row
  double bits_ = 0;   // that the answer tells
  size_t elements_ = 0, most_ = kMostElements, tries_ = 0;
};

}  // namespace

std::vector<Explanation> MeasureEdits(const Observation& seen, const PlanMaker& maker,
                                      Edits edits) {
  for (const NamedTensor& input : seen.inputs)
    if (input.values.data.empty()) return {};
  return PlanSearch(seen, maker).Explanations(edits);
}

}  // namespace sextant::oracle
