#include "oracle/identify/fit.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "oracle/defect/shapes.h"
#include "reference/base/parallel.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/tensor/dtype.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

// Of the claims of a round, these are refined, and of those, these are varied in the next one.
constexpr size_t kRefined = 32, kVaried = 8;
constexpr int kMostRounds = 12;  // of the search; each changes one attribute
// A round that lowers the misfit by less found no attribute: it fits the roundings of the answers.
constexpr double kProgress = 0.9;

// A claim and its misfit.
struct Fit {
  Claim claim;
  double misfit;
};

constexpr double kMost = 2;  // of a difference in units of the row; also if one is NaN

// The differences of two tensors, in units of the root mean square of each row of the first.
std::vector<double> DifferencesOf(const Tensor<double>& got, const Tensor<double>& expected) {
  std::vector<double> all;
  const size_t count = got.data.size(), width = got.shape.empty() ? 1 : got.shape.back();
  for (size_t row = 0; row < count; row += width) {
    double square = 0;
    for (size_t i = row; i < row + width; ++i)
      square += std::isfinite(got.data[i]) ? got.data[i] * got.data[i] : 0;
    const double unit = std::sqrt(square / static_cast<double>(width));
    for (size_t i = row; i < row + width; ++i) {
      const bool is_same = SameNumber(got.data[i], expected.data[i]);
      const double relative = is_same ? 0 : (got.data[i] - expected.data[i]) / unit;
      all.push_back(std::abs(relative) < kMost ? relative : kMost);
    }
  }
  return all;
}

// The differences of two tensors, in units of permitted errors.
std::vector<double> DifferencesOf(const Tensor<double>& got, const Tensor<double>& expected,
                                  const Tensor<double>& permitted) {
  constexpr double kWrong = 1e4;  // elements that are so wrong are equally wrong
  std::vector<double> all;
  for (size_t i = 0; i < got.data.size(); ++i) {
    const bool is_same = SameNumber(got.data[i], expected.data[i]);
    const double ratio =
        is_same ? 0 : (got.data[i] - expected.data[i]) / std::max(permitted.data[i], 0x1p-1022);
    all.push_back(std::abs(ratio) < kWrong ? ratio : kWrong);
  }
  return all;
}

// The differences of all elements; empty if the claim is not valid.
std::vector<double> DifferencesOf(const Claim& claim, const std::vector<Exchange>& witnesses) {
  std::vector<double> all;
  try {
    for (const Exchange& witness : witnesses) {
      const Case c = witness.c.With(WordsOf(claim));
      if (!HasShapes(c, witness.inputs)) return {};
      const Recipe f64 = ParseRecipe("*=f64", c.dtype());
      const Tensors given = EvaluateByRecipe(c.operation(), witness.c, witness.inputs, f64);
      for (const NamedTensor& answer : witness.answer) {
        const auto at = std::ranges::find(given, answer.name, &NamedTensor::name);
        const auto o = static_cast<size_t>(at - given.begin());
        const std::vector<double> differences =
            witness.units.empty()
                ? DifferencesOf(answer.values, at->values)
                : DifferencesOf(answer.values, at->values, witness.units[o].error);
        all.insert(all.end(), differences.begin(), differences.end());
      }
    }
  } catch (const Error&) {
    return {};  // no valid combination of attributes
  }
  return all;
}

double MisfitOf(const std::vector<double>& differences) {
  if (differences.empty()) return kInfinity;
  double sum = 0;
  for (const double x : differences) sum += x * x;
  return sum / static_cast<double>(differences.size());
}

bool IsRefined(const NumberSlot& slot) { return !slot.is_integer && slot.value != 0; }

// The numbers of a claim that are no integers, as the function that Levenberg's and Marquardt's
// method minimises: number i is its first value times e^(x[i] - 1).
class NumbersOf {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  NumbersOf(const Claim& claim, const std::vector<Exchange>& witnesses)
      : claim_(claim),
        witnesses_(witnesses),
        slots_(SlotsOf(claim, witnesses[0].c)),
        values_(DifferencesOf(claim, witnesses).size()) {
    std::erase_if(slots_, [](const NumberSlot& slot) { return !IsRefined(slot); });
  }
  int inputs() const { return static_cast<int>(slots_.size()); }
  int values() const { return static_cast<int>(values_); }
  Claim At(const InputType& x) const {
    std::vector<NumberSlot> slots = slots_;
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i].value *= std::exp(x[static_cast<Eigen::Index>(i)] - 1);
    return WithNumbers(claim_, slots);
  }
  int operator()(const InputType& x, ValueType& differences) const {
    const std::vector<double> at = DifferencesOf(At(x), witnesses_);
    if (at.empty()) {
      differences.setConstant(kMost);  // beyond a limit of the attribute
    } else {
      differences = Eigen::Map<const ValueType>(at.data(), values());
    }
    return 0;
  }

 private:
  Claim claim_;
  const std::vector<Exchange>& witnesses_;
  std::vector<NumberSlot> slots_;
  size_t values_;
};

// The same claim with the numbers near its own that fit best.
Fit Refined(Fit fit, const std::vector<Exchange>& witnesses) {
  if (std::isinf(fit.misfit)) return fit;
  const NumbersOf numbers(fit.claim, witnesses);
  if (numbers.inputs() == 0 || numbers.values() < numbers.inputs()) return fit;
  constexpr double kErrorOfF64 = 1e-14;  // relative, of a difference
  Eigen::NumericalDiff<NumbersOf> with_slopes(numbers, kErrorOfF64);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<NumbersOf>> method(with_slopes);
  method.parameters.maxfev = 40 * (numbers.inputs() + 1);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(numbers.inputs());
  method.minimize(x);
  Fit refined{numbers.At(x), 0};
  refined.misfit = MisfitOf(DifferencesOf(refined.claim, witnesses));
  return refined.misfit < fit.misfit ? refined : fit;
}

// The length of all texts, without their digits.
size_t LengthOf(const Claim& claim) {
  size_t length = 0;
  for (const auto& [attribute, text] : claim)
    length += static_cast<size_t>(std::ranges::count_if(
        text, [](char letter) { return letter != '.' && (letter < '0' || letter > '9'); }));
  return length;
}

// The best claims, at most `most`, the best first. Of those that fit about as well (within a factor
// of 2) the shortest come first.
void Keep(size_t most, std::vector<Fit>& fits) {
  const auto order = [](const Fit& fit) {
    return std::tuple(std::floor(std::log2(fit.misfit)), LengthOf(fit.claim), fit.claim);
  };
  std::ranges::sort(fits, {}, order);
  const auto repeated = std::ranges::unique(fits, {}, &Fit::claim);
  fits.erase(repeated.begin(), repeated.end());
  if (fits.size() > most) fits.resize(most);
}

// The best of the claims, with the numbers that fit best. All `starts` are refined, and the best of
// `others`.
std::vector<Fit> RefinedBest(const std::vector<Claim>& starts, const std::vector<Claim>& others,
                             const std::vector<Exchange>& witnesses, int threads) {
  const auto fits_of = [&](const std::vector<Claim>& claims) {
    std::vector<Fit> fits(claims.size());
    InParallel(fits.size(), threads, [&](size_t i) {
      fits[i] = {claims[i], MisfitOf(DifferencesOf(claims[i], witnesses))};
    });
    return fits;
  };
  std::vector<Fit> all = fits_of(others);
  Keep(kRefined, all);
  for (Fit& fit : fits_of(starts)) all.push_back(std::move(fit));
  InParallel(all.size(), threads, [&](size_t i) { all[i] = Refined(all[i], witnesses); });
  Keep(kVaried, all);
  return all;
}

// A misfit that a few roundings explain: then the search need not look far.
double NoiseOf(const std::vector<Exchange>& witnesses) {
  if (!witnesses[0].units.empty()) return 1;  // a permitted error
  const double roundings = 4 * UnitRoundoffOf(witnesses[0].answer[0].dtype);
  return roundings * roundings;
}

// A number with so many significant decimal digits.
double RoundedTo(double value, int digits) {
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits);
  return unit < 1 ? std::round(value / unit) / std::round(1 / unit)
                  : std::round(value / unit) * unit;
}

}  // namespace

std::vector<Claim> BestClaims(const std::vector<Claim>& starts,
                              const std::vector<Exchange>& witnesses, int threads) {
  const Case& c = witnesses[0].c;
  std::vector<Fit> fits = RefinedBest(starts, {}, witnesses, threads);
  double before = kInfinity;
  for (int round = 0; round < kMostRounds; ++round) {
    const double best = std::ranges::min(fits, {}, &Fit::misfit).misfit;
    if (!(best < kProgress * before)) break;
    before = best;
    std::vector<Claim> refined, others;
    const auto add = [](std::vector<Claim> claims, std::vector<Claim>& to) {
      to.insert(to.end(), claims.begin(), claims.end());
    };
    if (round == 0 && best > NoiseOf(witnesses)) {
      add(NamedVariationsOf(fits[0].claim, c), refined);
      add(PairedVariationsOf(fits[0].claim, c), others);
    }
    for (const Fit& fit : fits) {
      refined.push_back(fit.claim);
      add(VariationsOf(fit.claim, c), others);
    }
    fits = RefinedBest(refined, others, witnesses, threads);
  }
  std::vector<Claim> claims;
  for (Fit& fit : fits) claims.push_back(std::move(fit.claim));
  return claims;
}

Claim RoundedTo(const Claim& claim, const Case& c, int digits) {
  std::vector<NumberSlot> slots = SlotsOf(claim, c);
  for (NumberSlot& slot : slots) {
    if (IsRefined(slot)) slot.value = RoundedTo(slot.value, digits);
  }
  return WithNumbers(claim, slots);
}

Claim Simplified(const Claim& claim, const Claim& simple, const Case& c,
                 const std::function<bool(const Claim&)>& is_as_good) {
  Claim simpler = claim;
  const auto replace_if_as_good = [&](Claim other) {
    if (!is_as_good(other)) return false;
    simpler = std::move(other);
    return true;
  };
  for (const auto& [attribute, text] : simple) {
    Claim other = simpler;
    if (std::exchange(other.at(attribute), text) != text) replace_if_as_good(std::move(other));
  }
  const size_t count = SlotsOf(simpler, c).size();
  for (size_t i = 0; i < count; ++i) {
    const NumberSlot slot = SlotsOf(simpler, c)[i];  // texts change their lengths
    if (!IsRefined(slot)) continue;
    for (int digits = 1; digits <= 15; ++digits) {
      if (replace_if_as_good(WithNumber(simpler, slot, RoundedTo(slot.value, digits)))) break;
    }
  }
  return simpler;
}

}  // namespace sextant::oracle
