#include "oracle/identify/best_claims.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <unsupported/Eigen/NonLinearOptimization>
#include <unsupported/Eigen/NumericalDiff>

#include "oracle/rope/measured/numbers.h"
#include "reference/base/parallel.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/tensor/dtype.h"

namespace sextant::oracle {
namespace {

// Of the claims of a round, these are refined, and of those, these are varied in the next one: at
// most kOfOneForm that differ in numbers only, so that one form does not displace the others.
constexpr size_t kRefined = 32, kVaried = 8, kOfOneForm = 3;
constexpr int kMostRounds = 12;  // of the search; each changes one attribute
// A round that lowers the misfit by less found no attribute: it fits the roundings of the answers.
// A number that says nothing takes away about 1/n of the misfit of n independent roundings, and the
// questions have hundreds of elements.
constexpr double kProgress = 0.9;

// A claim and its misfit.
struct ClaimFit {
  Claim claim;
  double misfit;
};

bool IsRefined(const NumberSlot& slot) { return !slot.is_integer && slot.value != 0; }

// The numbers of the claim that are refined.
std::vector<NumberSlot> RefinedSlots(const Claim& claim, const Case& c, Numbers which) {
  std::vector<NumberSlot> slots;
  for (const NumberSlot& slot : SlotsOf(claim, c)) {
    const bool is_context = NameOf(slot, claim).ends_with("max_position_embeddings");
    const bool is_first = slots.empty() || slots.back().attribute != slot.attribute;
    const bool is_kept = which == Numbers::kAllButContext     ? is_context
                         : which == Numbers::kFirst           ? !is_first
                         : which == Numbers::kFirstAndContext ? !is_first && !is_context
                                                              : false;
    if (!is_kept) slots.push_back(slot);
  }
  std::erase_if(slots, [](const NumberSlot& slot) { return !IsRefined(slot); });
  return slots;
}

// The numbers of a claim that are no integers, as the function that Levenberg's and Marquardt's
// method minimises: number i is its first value times e^(x[i] - 1).
class NumbersOf {
 public:
  using Scalar = double;
  using InputType = Eigen::VectorXd;
  using ValueType = Eigen::VectorXd;
  using JacobianType = Eigen::MatrixXd;
  enum { InputsAtCompileTime = Eigen::Dynamic, ValuesAtCompileTime = Eigen::Dynamic };

  NumbersOf(const Claim& claim, const std::vector<Exchange>& exchanges, Numbers which)
      : claim_(claim),
        exchanges_(exchanges),
        slots_(RefinedSlots(claim, exchanges[0].c, which)),
        values_(DifferencesOf(claim, exchanges).size()) {}
  int inputs() const { return static_cast<int>(slots_.size()); }
  int values() const { return static_cast<int>(values_); }
  Claim At(const InputType& x) const {
    std::vector<NumberSlot> slots = slots_;
    for (size_t i = 0; i < slots.size(); ++i)
      slots[i].value *= std::exp(x[static_cast<Eigen::Index>(i)] - 1);
    return WithNumbers(claim_, slots);
  }
  int operator()(const InputType& x, ValueType& differences) const {
    const std::vector<double> at = DifferencesOf(At(x), exchanges_);
    if (at.empty()) {
      differences.setConstant(kMostOfRow);  // beyond a limit of the attribute
    } else {
      differences = Eigen::Map<const ValueType>(at.data(), values());
    }
    return 0;
  }

 private:
  Claim claim_;
  const std::vector<Exchange>& exchanges_;
  std::vector<NumberSlot> slots_;
  size_t values_;
};

// The same claim with the numbers near its own that fit best.
ClaimFit Refined(ClaimFit fit, const std::vector<Exchange>& exchanges,
                 Numbers which = Numbers::kAll) {
  if (std::isinf(fit.misfit)) return fit;
  const NumbersOf numbers(fit.claim, exchanges, which);
  if (numbers.inputs() == 0 || numbers.values() < numbers.inputs()) return fit;
  if (numbers.inputs() > static_cast<int>(kMostFitted)) return fit;
  // Of a difference, relative: some dozens of roundings to f64. The method takes the slopes from
  // steps of its square root, where the errors of both points and of the straight line are alike.
  constexpr double kErrorOfF64 = 64 * 0x1p-53;
  Eigen::NumericalDiff<NumbersOf> with_slopes(numbers, kErrorOfF64);
  Eigen::LevenbergMarquardt<Eigen::NumericalDiff<NumbersOf>> method(with_slopes);
  method.parameters.maxfev = 40 * (numbers.inputs() + 1);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(numbers.inputs());
  method.minimize(x);
  ClaimFit refined{numbers.At(x), 0};
  refined.misfit = MisfitOf(DifferencesOf(refined.claim, exchanges));
  return refined.misfit < fit.misfit ? refined : fit;
}

// The best claims, at most `most` and at most `of_one_form` of one form, the best first. Of those
// that fit about as well (within a factor of 2) the shortest come first.
void Keep(size_t most, size_t of_one_form, std::vector<ClaimFit>& fits) {
  struct Ranked {
    double octave;
    std::string form;
    ClaimFit fit;
  };
  std::vector<Ranked> all;
  for (ClaimFit& fit : fits)
    all.push_back({std::floor(std::log2(fit.misfit)), FormOf(fit.claim), std::move(fit)});
  std::ranges::sort(all, {}, [](const Ranked& one) {
    return std::tuple<double, size_t, const Claim&>(one.octave, one.form.size(), one.fit.claim);
  });
  fits.clear();
  std::map<std::string, size_t> count;
  for (Ranked& one : all) {
    if (fits.size() == most) break;
    const bool is_repeated = !fits.empty() && fits.back().claim == one.fit.claim;
    if (!is_repeated && ++count[one.form] <= of_one_form) fits.push_back(std::move(one.fit));
  }
}

// The best of the claims, with the numbers that fit best. All `starts` are refined, and the best of
// `others`.
std::vector<ClaimFit> RefinedBest(const std::vector<Claim>& starts,
                                  const std::vector<Claim>& others,
                                  const std::vector<Exchange>& exchanges, int threads) {
  const auto fits_of = [&](const std::vector<Claim>& claims) {
    std::vector<ClaimFit> fits(claims.size());
    InParallel(fits.size(), threads, [&](size_t i) {
      fits[i] = {claims[i], MisfitOf(DifferencesOf(claims[i], exchanges))};
    });
    return fits;
  };
  std::vector<ClaimFit> all = fits_of(others);
  Keep(kRefined, kRefined, all);
  for (ClaimFit& fit : fits_of(starts)) all.push_back(std::move(fit));
  InParallel(all.size(), threads, [&](size_t i) { all[i] = Refined(all[i], exchanges); });
  Keep(kVaried, kOfOneForm, all);
  return all;
}

// A misfit that a few roundings explain: then the search need not look far.
double NoiseOf(const std::vector<Exchange>& exchanges) {
  if (!exchanges[0].units.empty()) return 1;  // a permitted error
  const double roundings = 4 * UnitRoundoffOf(exchanges[0].answer[0].dtype);
  return roundings * roundings;
}

}  // namespace

std::vector<Claim> BestClaims(const std::vector<Claim>& starts,
                              const std::vector<Exchange>& exchanges, int threads,
                              const std::function<bool(const Claim&)>& is_enough) {
  const Case& c = exchanges[0].c;
  std::vector<ClaimFit> fits = RefinedBest({}, starts, exchanges, threads);
  double before = kInfinity;
  for (int round = 0; round < kMostRounds && !is_enough(fits[0].claim); ++round) {
    const double best = std::ranges::min(fits, {}, &ClaimFit::misfit).misfit;
    if (!(best < kProgress * before)) break;
    before = best;
    std::vector<Claim> refined, others;
    const auto add = [](std::vector<Claim> claims, std::vector<Claim>& to) {
      to.insert(to.end(), claims.begin(), claims.end());
    };
    if (round == 0 && best > NoiseOf(exchanges)) {
      add(NamedVariationsOf(fits[0].claim, c), refined);
      if (starts.size() == 1) add(PairedVariationsOf(fits[0].claim, c), others);
    }
    for (const ClaimFit& fit : fits) {
      refined.push_back(fit.claim);
      add(VariationsOf(fit.claim, c), others);
    }
    fits = RefinedBest(refined, others, exchanges, threads);
  }
  std::vector<Claim> claims;
  for (ClaimFit& fit : fits) claims.push_back(std::move(fit.claim));
  return claims;
}

std::vector<Claim> RefinedClaims(std::vector<Claim> claims, const std::vector<Exchange>& exchanges,
                                 Numbers which, int threads) {
  InParallel(claims.size(), threads, [&](size_t i) {
    const double misfit = MisfitOf(DifferencesOf(claims[i], exchanges));
    claims[i] = Refined({claims[i], misfit}, exchanges, which).claim;
  });
  return claims;
}

Claim LeastLargest(const Claim& claim, const std::vector<Exchange>& weighed) {
  const Case& c = weighed[0].c;
  Claim best = claim;
  const size_t count = SlotsOf(claim, c).size();
  if (count > kMostFitted) return claim;
  double least = LargestDifference(claim, weighed);
  // Steps by a factor that falls from the square root of 2 to 1 + 2^-24: finer ones change no f32.
  for (double step = 0.5; step > 0x1p-24; step /= 2) {
    for (size_t i = 0; i < count && least > 1; ++i) {
      for (const double exponent : {step, -step}) {
        const NumberSlot slot = SlotsOf(best, c)[i];  // texts change their lengths
        if (!IsRefined(slot)) continue;
        Claim other = WithNumber(best, slot, slot.value * std::exp2(exponent));
        const double its = LargestDifference(other, weighed);
        if (its < least) best = std::move(other), least = its;
      }
    }
  }
  return best;
}

Claim RoundedTo(const Claim& claim, const Case& c, int digits) {
  std::vector<NumberSlot> slots = SlotsOf(claim, c);
  for (NumberSlot& slot : slots) {
    if (IsRefined(slot) && !IsPlain(slot.value)) slot.value = RoundedToDigits(slot.value, digits);
  }
  return WithNumbers(claim, slots);
}

std::vector<Claim> RoundedClaims(const Claim& claim, const Case& c) {
  std::set<Claim> seen;
  std::vector<Claim> all;
  for (const int digits : {1, 2, 3, 17, 4, 5, 6, 7, 8}) {
    Claim rounded = RoundedTo(claim, c, digits);
    if (seen.insert(rounded).second) all.push_back(std::move(rounded));
  }
  return all;
}

Claim Simplified(const Claim& claim, const Claim& simple, const Case& c, const Goodness& goodness) {
  Claim simpler = claim;
  const auto replace_if = [&](const std::function<bool(const Claim&)>& is_good, Claim other) {
    if (!is_good(other)) return false;
    simpler = std::move(other);
    return true;
  };
  for (const auto& [attribute, text] : simple) {
    Claim other = simpler;
    if (std::exchange(other.at(attribute), text) != text)
      replace_if(goodness.is_as_good, std::move(other));
  }
  const size_t count = SlotsOf(simpler, c).size();
  for (size_t i = 0; i < count && count <= kMostFitted; ++i) {
    const NumberSlot slot = SlotsOf(simpler, c)[i];  // texts change their lengths
    if (!IsRefined(slot) || IsPlain(slot.value)) continue;
    const auto with = [&](double value) { return WithNumber(simpler, slot, value); };
    constexpr int kFew = 3, kAll = 15;  // digits of a number that somebody chose; of a double
    bool is_replaced = false;
    for (int digits = 1; digits <= kFew && !is_replaced; ++digits)
      is_replaced = replace_if(goodness.is_as_good, with(RoundedToDigits(slot.value, digits)));
    const double power = std::exp2(std::round(std::log2(std::abs(slot.value))));
    is_replaced =
        is_replaced || replace_if(goodness.is_as_good, with(std::copysign(power, slot.value)));
    for (int digits = kFew + 1; digits <= kAll && !is_replaced; ++digits)
      is_replaced = replace_if(goodness.is_well_within, with(RoundedToDigits(slot.value, digits)));
  }
  return simpler;
}

}  // namespace sextant::oracle
