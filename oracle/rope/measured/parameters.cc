// The number in a configuration that gives the measured frequencies.
#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/rope/measured/frequencies.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

// A number of the configuration, by its name.
struct Parameter {
  std::string name;
  double value;
  std::function<void(RotaryModel&, double)> set;
};

// Collects the members of a scaling that are numbers.
struct Collector {
  std::vector<std::pair<std::string, double*>> found;
  template <class T, class... Rest>
  void operator()(std::string_view name, T& member, Rest...) {
    if constexpr (std::is_same_v<T, double>) {
      found.emplace_back(name, &member);
    }
  }
};
std::vector<std::pair<std::string, double*>> NumbersOf(RopeScaling& scaling) {
  Collector collector;
  std::visit([&](auto& s) { s.Visit(collector); }, scaling);
  return collector.found;
}

std::vector<Parameter> ParametersOf(RotaryModel model) {
  std::vector<Parameter> all = {
      {"base", model.setting.base, [](RotaryModel& to, double value) { to.setting.base = value; }}};
  const auto numbers = NumbersOf(model.scaling);
  for (size_t i = 0; i < numbers.size(); ++i) {
    all.push_back({numbers[i].first, *numbers[i].second, [i](RotaryModel& to, double value) {
                     *NumbersOf(to.scaling)[i].second = value;
                   }});
  }
  return all;
}

// Finds the values of one parameter for which the frequencies agree.
class ParameterSearch {
 public:
  ParameterSearch(const MeasuredFrequencies& seen, const Parameter& parameter)
      : seen_(seen),
        parameter_(parameter),
        is_only_base_(std::holds_alternative<NoScaling>(seen.right.scaling)) {
    std::vector<size_t> wrong, known;
    for (size_t k = 0; k < seen.of_pair.size(); ++k) {
      if (seen.possible[k].empty()) continue;
      known.push_back(k);
      const bool is_right = std::ranges::any_of(seen.possible[k], [&](const LongRange& range) {
        return range.Contains(seen.right_list.of[k]);
      });
      if (!is_right) wrong.push_back(k);
    }
    // The base alone has no pairs that say more than others; the ends of a ramp have.
    const size_t most_wrong = is_only_base_ ? known.size() + 1 : 12, most_known = 4;
    AddWitnesses(wrong, most_wrong);
    AddWitnesses(known, most_known);
  }

  RotaryModel With(double value) const {
    RotaryModel model = seen_.right;
    parameter_.set(model, value);
    return model;
  }
  // The largest difference in units of the error bars; at most 1 if all agree.
  double Distance(double value) const {
    const RotaryModel model = With(value);
    try {
      CheckScaling(model.scaling, model.setting);
    } catch (const Error&) {
      return kInfinity;
    }
    RotaryModel witnesses = model;
    witnesses.pairs.clear();
    for (const size_t k : pairs_) witnesses.pairs.push_back(model.pairs[k]);
    const FrequencyList list = seen_.list_of(witnesses);
    double most = 0;
    for (size_t i = 0; i < list.of.size(); ++i)
      most = std::max(most, DistanceOf(pairs_[i], list.of[i], list.relative[i]));
    return std::isnan(most) ? kInfinity : most;
  }
  // The same in doubles, at most 1 if the distance is. Of another base alone, the frequencies are
  // the right ones times (value / base)^-(k/n), |k/n| <= 1: the quotient is within 2^-53 of it, pow
  // within 2^-52 and the exponent within 2^-53 |log| < 2^-49.
  double RoughDistance(double value) const {
    constexpr long double kErrors = 0x1p-48L;
    if (!is_only_base_) return Distance(value);
    double most = 0;
    for (const size_t k : pairs_) {
      const auto& pair = seen_.right.pairs[k];
      const double exponent = static_cast<double>(pair.k) / static_cast<double>(pair.n);
      const double ratio = std::pow(value / parameter_.value, -exponent);
      most = std::max(most, DistanceOf(k, seen_.right_list.of[k] * ratio,
                                       seen_.right_list.relative[k] + kErrors));
    }
    return std::isnan(most) ? kInfinity : most;
  }
  // The values around the best one; empty if there are none. Powers of two times 2^(i/8).
  LongRange Run() const {
    constexpr int kSteps = 8, kOctaves = 12;
    const double x = parameter_.value;
    if (!(x > 0)) return {1, 0};
    double best = x, least = kInfinity;
    for (int i = -kSteps * kOctaves; i <= kSteps * kOctaves; ++i) {
      const double value = x * std::exp2(static_cast<double>(i) / kSteps), d = RoughDistance(value);
      if (d < least) std::tie(best, least) = std::pair(value, d);
    }
    if (std::isinf(least)) return {1, 0};
    const double step = std::exp2(1.0 / kSteps), low = best / step, high = best * step;
    const auto roughly = [this](double value) { return RoughDistance(value); };
    if (is_only_base_ && roughly(MinimumOf(roughly, low, high)) > 1) return {1, 0};
    best = MinimumOf([this](double value) { return Distance(value); }, low, high);
    if (Distance(best) > 1) return {1, 0};
    return {Edge(best, best / step), Edge(best, best * step)};
  }

 private:
  // Of one pair, between a frequency and the nearest one that is possible.
  double DistanceOf(size_t pair, long double frequency, long double relative) const {
    double least = kInfinity;
    for (const LongRange& range : seen_.possible[pair]) {
      const long double bar = (range.high - range.low) / 2 + relative * std::abs(frequency);
      const long double off = std::abs(frequency - range.Middle());
      least = std::min(least, off > 0 ? static_cast<double>(off / bar) : 0);
    }
    return least;
  }
  // At most about `most` of the pairs, evenly spread, with the last one.
  void AddWitnesses(const std::vector<size_t>& of, size_t most) {
    const size_t step = of.size() / most + 1;
    for (size_t i = 0; i < of.size(); i += step) pairs_.push_back(of[of.size() - 1 - i]);
  }
  // By golden sections.
  template <class Of>
  double MinimumOf(Of of, double low, double high) const {
    const double part = (std::sqrt(5.0) - 1) / 2;
    double a = high - part * (high - low), b = low + part * (high - low);
    double of_a = of(a), of_b = of(b);
    for (int i = 0; i < 100 && high > std::nextafter(low, kInfinity); ++i) {
      if (std::min(of_a, of_b) <= 0.5) return of_a < of_b ? a : b;
      if (of_a <= of_b) {
        high = std::exchange(b, a);
        of_b = std::exchange(of_a, of(a = high - part * (high - low)));
      } else {
        low = std::exchange(a, b);
        of_a = std::exchange(of_b, of(b = low + part * (high - low)));
      }
    }
    return low;
  }
  // The last value from `inside` towards `outside` that agrees.
  double Edge(double inside, double outside) const {
    for (int i = 0; i < 60; ++i) {
      const double middle = inside + (outside - inside) / 2;
      (Distance(middle) <= 1 ? inside : outside) = middle;
    }
    return inside;
  }

  const MeasuredFrequencies& seen_;
  const Parameter& parameter_;
  const bool is_only_base_;
  std::vector<size_t> pairs_;  // witnesses, evenly spread
};

}  // namespace

std::vector<FrequencyForm> NameParameters(const MeasuredFrequencies& seen) {
  std::vector<FrequencyForm> forms;
  for (const Parameter& parameter : ParametersOf(seen.right)) {
    const ParameterSearch search(seen, parameter);
    const LongRange range = search.Run();
    if (range.IsEmpty() || range.Contains(parameter.value)) continue;
    // A number of many digits is no known one: then one that is not at the edge of the error bar.
    const long double quarter = (range.high - range.low) / 4;
    double value = SimplestIn(range);
    if (!HasFewDigits(value, 2)) value = SimplestIn({range.low + quarter, range.high - quarter});
    forms.push_back({(parameter.name == "base" ? "" : "scaling_") + parameter.name + "_differs",
                     Phrase("frequencies are those of ", parameter.name, " = ",
                            MeasuredText(value, range), ", expected ", parameter.value),
                     search.With(value)});
  }
  return forms;
}

}  // namespace sextant::oracle
