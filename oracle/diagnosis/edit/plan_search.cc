#include "oracle/diagnosis/edit/plan_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "oracle/diagnosis/edit/plan_edits.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/witnesses.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

// Predictions in double differ from an answer by its permitted error, and by what the edit makes of
// roundings before it: this is only a filter, Evidence compares with the recipe.
constexpr double kNear = 4;  // in units
// Searches evaluate so many elements, each evaluation counting as kOverhead more: about a second.
constexpr size_t kMostElements = size_t{1} << 25, kOverhead = 256;
constexpr size_t kFirsts = 16;  // edits that are tried as the first of two
constexpr size_t kVerified = 6;
constexpr size_t kMostWhole = size_t{1} << 14;  // elements of a case, for edits across its slices
// An edit must say more about the answer than log2 of the tries, its cost, and so many bits. The
// elements of a row depend on each other.
constexpr double kCertain = 7, kMostBitsOfRow = 24, kMostBits = 16;

// The elements of several tensors, one after the other.
std::vector<double> Joined(const std::vector<Tensor<double>>& tensors) {
  std::vector<double> all;
  for (const Tensor<double>& tensor : tensors)
    all.insert(all.end(), tensor.data.begin(), tensor.data.end());
  return all;
}

// A part of the answer, and what the stages of a plan are there.
struct Sample {
  Sample(const Observation& seen, const PlanMaker& maker, const Witness& witness)
      : answer(Joined(witness.answer)), units(Joined(witness.units)), plan({}) {
    std::vector<Shape> shapes;
    for (const NamedTensor& input : ExtractInputs(seen.c, seen.inputs, witness.slice)) {
      shapes.push_back(input.values.shape);
      inputs.push_back(input.values);
    }
    plan = maker(seen.c.operation(), shapes);
    values = plan.EvaluateAll(inputs);
  }
  std::vector<double> Predicted() const {
    std::vector<double> all;
    for (const Stage stage : plan.results())
      all.insert(all.end(), values[stage].data.begin(), values[stage].data.end());
    return all;
  }
  // The sum of log2(1 + distance in units), and the largest distance.
  struct Distance {
    double bits = 0, largest = 0;
  };
  // The same bits if each row of the prediction had the factor that brings it nearest: then what is
  // left to explain is a factor.
  double BitsButFactors(const std::vector<double>& predicted, size_t width) const {
    double bits = 0;
    std::vector<double> ratios;
    for (size_t first = 0; first < answer.size(); first += width) {
      ratios.clear();
      for (size_t i = first; i < std::min(first + width, answer.size()); ++i)
        if (const double ratio = answer[i] / predicted[i]; std::isfinite(ratio) && ratio != 0)
          ratios.push_back(ratio);
      if (ratios.empty()) continue;
      std::ranges::nth_element(ratios, ratios.begin() + static_cast<ptrdiff_t>(ratios.size() / 2));
      const double factor = ratios[ratios.size() / 2];
      for (size_t i = first; i < std::min(first + width, answer.size()); ++i)
        bits +=
            std::min(kMostBits, std::log2(1 + Apart(answer[i], factor * predicted[i], units[i])));
    }
    return bits + std::log2(1 + static_cast<double>(answer.size()));
  }
  Distance DistanceTo(const std::vector<double>& predicted) const {
    Distance distance;
    for (size_t i = 0; i < answer.size(); ++i) {
      const double apart = Apart(answer[i], predicted[i], units[i]);
      distance.bits += std::min(kMostBits, std::log2(1 + apart));
      distance.largest = std::max(distance.largest, apart);
    }
    return distance;
  }
  static double Apart(double got, double predicted, double unit) {
    if (std::isnan(unit) || SameNumber(got, predicted)) return 0;
    const double apart = std::abs(got - predicted) / unit;
    return std::isnan(apart) ? kInfinity : apart;
  }

  std::vector<double> answer, units;
  std::vector<Tensor<double>> inputs;
  Plan plan;  // with the edits that are assumed
  Plan::Values values;
};

// An edit with its number.
struct Choice {
  const PlanEdit* edit;
  NamedValue value;
};
struct Proposal {
  std::vector<Choice> choices;
  double bits = 0;  // of its distance from the answer, in the first sample
  // Of the edits and their numbers: one that was only fitted is less likely than a listed one.
  int Cost() const {
    constexpr int kListed = 1, kFitted = 6;
    int cost = 0;
    for (const auto& [edit, value] : choices) {
      const bool is_listed =
          std::ranges::find(edit->values, value.value, &NamedValue::value) != edit->values.end();
      cost += edit->cost + (!is_listed ? kFitted : edit->values.size() > 1 ? kListed : 0);
    }
    return cost;
  }
};

class PlanSearch {
 public:
  PlanSearch(const Observation& seen, const PlanMaker& maker) : seen_(seen), maker_(maker) {
    const TensorSpec& y = seen.c.info().signature.outputs[0];
    width_ = RowWidth(seen.c.ShapeOf(y));
    const Witnesses small = WitnessesOf(seen);
    if (small.fit.empty()) return;
    samples_.emplace_back(seen, maker, small.fit[0]);
    const Witnesses witnesses = WitnessesOf(seen, std::clamp<size_t>(4 * width_, 256, 2048));
    for (const auto* const list : {&witnesses.fit, &witnesses.test})
      for (const Witness& witness : *list)
        if (samples_.size() < 12) samples_.emplace_back(seen, maker, witness);
    const Witness whole = WitnessOf(seen, {});
    if (whole.answer[0].data.size() <= kMostWhole) whole_.emplace(seen, maker, whole);
    std::vector<Shape> shapes;
    for (const NamedTensor& input : seen.inputs) shapes.push_back(input.values.shape);
    edits_ = EditsOf(maker(seen.c.operation(), shapes), seen.c.info().slices);
    for (const Sample& sample : std::span(samples_).subspan(1)) bits_ += BitsOf(sample);
    if (whole_) bits_ = std::max(bits_, BitsOf(*whole_));
    const Sample& first = samples_[1];
    has_other_factors_ =
        first.BitsButFactors(first.Predicted(), width_) < static_cast<double>(first.answer.size());
  }

  std::vector<Explanation> Explanations() {
    if (samples_.size() < 2) return {};
    std::vector<Proposal> found = Matching({}, edits_);
    if (found.empty() && !IsSecond()) found = Pairs();
    if (getenv("PLANSTAT"))
      fprintf(stderr, "edits %zu tries %zu elements %zu left %ld found %zu bits %g\n",
              edits_.size(), tries_, elements_,
              seen_.evaluations_left ? long(*seen_.evaluations_left) : -1, found.size(), bits_);
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
  double BitsOf(const Sample& sample) const {
    const std::vector<double> right = sample.Predicted();
    double bits = 0;
    for (size_t first = 0; first < right.size(); first += width_) {
      double of_row = 0;
      for (size_t i = first; i < std::min(first + width_, right.size()); ++i)
        of_row += std::min(
            kMostBits, std::log2(1 + Sample::Apart(sample.answer[i], right[i], sample.units[i])));
      bits += std::min(of_row, kMostBitsOfRow);
    }
    return bits;
  }

  bool IsSecond() const { return seen_.is_second || seen_.is_part; }
  bool IsSpent() const { return elements_ > most_; }

  // `sample` with one edit; its prediction.
  std::vector<double> Predict(const Sample& sample, const PlanEdit& edit, double number) {
    Plan plan = sample.plan;
    edit.edit(plan, number);
    elements_ += sample.answer.size() + kOverhead;
    ++tries_;
    return Joined(plan.EvaluateAfter(sample.values));
  }

  // The samples with edits that are assumed.
  static void Assume(std::vector<Sample>& samples, const Choice& choice) {
    for (Sample& sample : samples) {
      choice.edit->edit(sample.plan, choice.value.value);
      sample.plan.ForgetEdits();
      sample.values = sample.plan.EvaluateAll(sample.inputs);
    }
  }

  // All choices with which the plan predicts the samples. `near`: also gets the others, with their
  // distance in the first sample.
  std::vector<Proposal> Matching(const std::vector<Choice>& assumed,
                                 const std::vector<PlanEdit>& edits) {
    std::vector<Sample> samples = samples_, whole;
    if (whole_ && (assumed.empty() || whole_->answer.size() <= 2048)) whole.push_back(*whole_);
    bool is_across = false;
    for (const Choice& choice : assumed) {
      Assume(samples, choice);
      Assume(whole, choice);
      is_across |= choice.edit->is_across_slices;
    }
    std::vector<Proposal> found;
    const double assumed_bits = samples[1].DistanceTo(samples[1].Predicted()).bits;
    for (const PlanEdit& edit : edits) {
      if (IsSpent()) break;
      const std::vector<Sample>& seen = edit.is_across_slices || is_across ? whole : samples;
      if (seen.empty()) continue;
      const auto add = [&](const NamedValue& value) {
        Proposal proposal{assumed};
        proposal.choices.push_back({&edit, value});
        // One small slice refutes most; numbers that were fitted to few rows need more of them.
        const bool is_fitted = edit.IsFitted() || IsFitted(assumed);
        const Sample& ranking = seen[is_fitted && seen.size() > 1 ? 1 : 0];
        const std::vector<double> predicted = Predict(ranking, edit, value.value);
        const auto [bits, largest] = ranking.DistanceTo(predicted);
        bool is_near = largest <= kNear;
        for (const Sample& one : seen)
          is_near = is_near && one.DistanceTo(Predict(one, edit, value.value)).largest <= kNear;
        if (is_near) {
          found.push_back(proposal);
        } else if (assumed.empty() && !IsSecond()) {
          const double but_factors =
              has_other_factors_ ? bits : ranking.BitsButFactors(predicted, width_);
          proposal.bits = std::min(bits, but_factors) / static_cast<double>(predicted.size());
          nearest_.push_back(std::move(proposal));
        } else if (IsFitted(assumed) && bits < assumed_bits * 0.75) {
          if (Refine(proposal.choices)) found.push_back(std::move(proposal));
        }
      };
      if (edit.IsFitted()) {
        if (const auto number = Fit(seen, edit)) add(*number);
        if (assumed.empty() && !has_other_factors_ && !IsSecond())
          if (const auto number = Fit(seen, edit, true)) add(*number);
      } else {
        for (const NamedValue& value : edit.values) add(value);
      }
    }
    return Certain(std::move(found));
  }

  static bool IsFitted(const std::vector<Choice>& choices) {
    return std::ranges::any_of(choices,
                               [](const Choice& choice) { return choice.edit->IsFitted(); });
  }
  // The fitted numbers again, all together. False if the samples are not near then.
  bool Refine(std::vector<Choice>& choices) {
    const bool is_across =
        std::ranges::any_of(choices, [](const Choice& one) { return one.edit->is_across_slices; });
    if (is_across) return false;
    const Sample& sample = samples_[1];
    const auto predict = [&](const Sample& of, const std::vector<double>& numbers) {
      Plan plan = of.plan;
      for (size_t i = 0; i < choices.size(); ++i) choices[i].edit->edit(plan, numbers[i]);
      elements_ += of.answer.size() + kOverhead;
      return Joined(plan.EvaluateAfter(of.values));
    };
    std::vector<double> numbers;
    std::vector<size_t> free;
    for (size_t i = 0; i < choices.size(); ++i) {
      numbers.push_back(choices[i].value.value);
      if (choices[i].edit->IsFitted()) free.push_back(i);
    }
    std::vector<double> bars(choices.size(), kInfinity);
    for (int step = 0; step < 6; ++step) {
      const std::vector<double> at = predict(sample, numbers);
      std::vector<std::vector<double>> slopes;
      for (const size_t i : free) {
        std::vector<double> beside = numbers;
        beside[i] *= 1 + 0x1p-12;
        slopes.push_back(predict(sample, beside));
        for (size_t k = 0; k < at.size(); ++k)
          slopes.back()[k] =
              (slopes.back()[k] - at[k]) / (beside[i] - numbers[i]) / sample.units[k];
      }
      double aa = 0, ab = 0, bb = 0, ar = 0, br = 0;
      std::ranges::fill(bars, kInfinity);
      for (size_t k = 0; k < at.size(); ++k) {
        const double residual = (sample.answer[k] - at[k]) / sample.units[k];
        const double a = slopes[0][k], b = free.size() > 1 ? slopes[1][k] : 0;
        if (!std::isfinite(residual) || !std::isfinite(a) || !std::isfinite(b)) continue;
        aa += a * a, ab += a * b, bb += b * b, ar += a * residual, br += b * residual;
        for (size_t f = 0; f < free.size(); ++f)
          if (const double slope = slopes[f][k]; slope != 0)
            bars[free[f]] = std::min(bars[free[f]], (1 + std::abs(residual)) / std::abs(slope));
      }
      if (free.size() == 1) {
        if (!(aa > 0)) return false;
        numbers[free[0]] += ar / aa;
      } else {
        const double determinant = aa * bb - ab * ab;
        if (!(determinant > 1e-12 * aa * bb)) return false;
        numbers[free[0]] += (ar * bb - br * ab) / determinant;
        numbers[free[1]] += (br * aa - ar * ab) / determinant;
      }
    }
    for (const size_t i : free) {
      const MeasuredNumber measured{numbers[i], 2 * bars[i]};
      const auto likely = std::ranges::find_if(
          choices[i].edit->values,
          [&](const NamedValue& value) { return measured.MayBe(value.value); });
      if (measured.MayBe(choices[i].edit->right) || !std::isfinite(measured.bar)) return false;
      choices[i].value =
          likely != choices[i].edit->values.end() && bars[i] < std::abs(numbers[i]) / 8
              ? *likely
              : NamedNumber(measured);
      numbers[i] = choices[i].value.value;
    }
    return std::ranges::all_of(samples_, [&](const Sample& one) {
      return one.DistanceTo(predict(one, numbers)).largest <= kNear;
    });
  }

  // What is no accident.
  std::vector<Proposal> Certain(std::vector<Proposal> found) const {
    const double tries = std::log2(static_cast<double>(std::max<size_t>(tries_, 1)));
    std::erase_if(found, [&](const Proposal& one) { return bits_ < tries + kCertain; });
    return found;
  }

  std::vector<Proposal> Pairs() {
    const size_t before = elements_;
    if (seen_.evaluations_left)
      most_ = std::min(most_, before + *seen_.evaluations_left * kElementsOfEvaluation);
    const auto found = PairsWithin();
    if (seen_.evaluations_left)
      *seen_.evaluations_left -=
          std::min(*seen_.evaluations_left, (elements_ - before) / kElementsOfEvaluation);
    return found;
  }
  std::vector<Proposal> PairsWithin() {
    std::ranges::stable_sort(nearest_, {}, &Proposal::bits);
    std::set<double> tried;
    std::vector<Proposal> found;
    const std::vector<Proposal> firsts = std::move(nearest_);
    for (const Proposal& first : firsts) {
      if (IsSpent() || tried.size() >= kFirsts || !found.empty()) break;
      if (!tried.insert(first.bits).second) continue;
      found = Matching(first.choices, edits_);
    }
    return found;
  }

  // The number of the edit that is nearest to the answer: near a likely one, and then by Newton
  // steps. The simplest number within its error.
  std::optional<NamedValue> Fit(const std::vector<Sample>& samples, const PlanEdit& edit,
                                bool but_factors = false) {
    const Sample& small = samples[0];
    const Sample& sample = samples[samples.size() > 1 ? 1 : 0];
    std::vector<double> starts, finer;
    for (const NamedValue& value : edit.values) starts.push_back(value.value);
    if (std::isfinite(edit.right)) {
      for (int octave = -10; octave <= 10; ++octave)
        starts.push_back(std::ldexp(edit.right, octave));
    } else {  // a limit of the stage
      std::vector<double> sizes = sample.values[edit.stage].data;
      for (double& size : sizes) size = std::abs(size);
      std::ranges::sort(sizes);
      for (size_t part = 0; part <= 16; ++part)
        starts.push_back(sizes[(sizes.size() - 1) * part / 16]);
    }
    const auto nearest = [&](const std::vector<double>& numbers) {
      double best = kNaN, least = kInfinity;
      for (const double number : numbers) {
        const std::vector<double> predicted = Predict(small, edit, number);
        const double bits = but_factors ? small.BitsButFactors(predicted, width_)
                                        : small.DistanceTo(predicted).bits;
        if (bits < least) best = number, least = bits;
      }
      return best;
    };
    double x = nearest(starts);
    for (int part = -8; part <= 8; ++part) finer.push_back(x * std::exp2(part / 8.0));
    if (x != 0) x = nearest(finer);
    double bar = kInfinity;
    for (int step = 0; step < 8 && x != 0 && std::isfinite(x); ++step) {
      const double beside = x * (1 + 0x1p-12);
      const auto at = Predict(sample, edit, x), next = Predict(sample, edit, beside);
      std::vector<double> slopes(at.size(), 0), residuals(at.size(), 0);
      for (size_t i = 0; i < at.size(); ++i) {
        const double slope = (next[i] - at[i]) / (beside - x) / sample.units[i];
        const double residual = (sample.answer[i] - at[i]) / sample.units[i];
        if (!std::isfinite(slope) || !std::isfinite(residual)) continue;
        slopes[i] = slope, residuals[i] = residual;
      }
      if (but_factors) {
        WithoutFactors(at, sample.units, slopes);
        WithoutFactors(at, sample.units, residuals);
      }
      double products = 0, squares = 0;
      bar = kInfinity;
      for (size_t i = 0; i < at.size(); ++i) {
        products += slopes[i] * residuals[i];
        squares += slopes[i] * slopes[i];
        if (slopes[i] != 0) bar = std::min(bar, (1 + std::abs(residuals[i])) / std::abs(slopes[i]));
      }
      if (!(squares > 0)) return std::nullopt;
      const double change = products / squares;
      x += change;
      if (std::abs(change) <= bar / 8) break;
    }
    if (std::isnan(x)) return std::nullopt;
    const MeasuredNumber measured{x, bar};
    for (const NamedValue& value : edit.values)
      if (value.value != edit.right && (measured.MayBe(value.value) && bar < std::abs(x) / 8))
        return value;
    if (x == 0) return NamedValue{0, "0"};
    if (!std::isfinite(bar) ||
        std::abs(x - edit.right) <= std::max(bar, kSharedRoundings * std::abs(edit.right)))
      return std::nullopt;
    return NamedNumber(measured);
  }

  // Numbers in units, without what a factor of each row of the prediction would change.
  void WithoutFactors(const std::vector<double>& predicted, const std::vector<double>& units,
                      std::vector<double>& numbers) const {
    for (size_t first = 0; first < numbers.size(); first += width_) {
      const size_t last = std::min(first + width_, numbers.size());
      double products = 0, squares = 0;
      const auto along = [&](size_t i) {
        const double x = predicted[i] / units[i];
        return std::isfinite(x) ? x : 0;
      };
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
      if (const size_t at = sentence.find('#'); at != std::string::npos)
        sentence.replace(at, 1, value.text.empty() ? ShortText(value.value) : value.text);
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
  std::vector<Sample> samples_;  // slices, the worst first
  std::optional<Sample> whole_;  // if it is small
  std::vector<PlanEdit> edits_;
  std::vector<Proposal> nearest_;
  size_t width_ = 1;                // of a row
  double bits_ = 0;                 // that the answer tells
  bool has_other_factors_ = false;  // rows of the answer are the right ones but for a factor
  size_t elements_ = 0, most_ = kMostElements, tries_ = 0;
};

}  // namespace

std::vector<Explanation> MeasurePlan(const Observation& seen, const PlanMaker& maker) {
  for (const NamedTensor& input : seen.inputs)
    if (input.values.data.empty()) return {};
  return PlanSearch(seen, maker).Explanations();
}

}  // namespace sextant::oracle
