// The ramp of a scaling, from pairs that keep their frequency to those whose frequency is divided.
#include <algorithm>
#include <cmath>

#include "oracle/rope/measured/frequencies.h"

namespace sextant::oracle {
namespace {

// The number by which slow pairs are divided; 0 if the scaling has no ramp.
double DivisorOf(const RopeScaling& scaling) {
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) return yarn->factor;
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&scaling)) return llama3->factor;
  return 0;
}

// Functions of the right ramp r, from 0 (kept) to 1 (divided).
struct RampMap {
  const char* text;
  double (*map)(double r);
};
constexpr RampMap kRampMaps[] = {
    {"is inverted: slow pairs are kept and fast ones divided", [](double r) { return 1 - r; }},
    {"is squared", [](double r) { return r * r; }},
    {"is squared from its other end", [](double r) { return 1 - (1 - r) * (1 - r); }},
    {"is a square root", [](double r) { return std::sqrt(r); }},
    {"is a square root from its other end", [](double r) { return 1 - std::sqrt(1 - r); }},
    {"is smooth: 3 r^2 - 2 r^3", [](double r) { return r * r * (3 - 2 * r); }},
    {"is a cosine: (1 - cos(pi r)) / 2", [](double r) { return (1 - std::cos(M_PI * r)) / 2; }},
    {"is a step: it is rounded to 0 or 1", [](double r) { return std::nearbyint(r); }},
    {"is rounded down to 0 or 1", [](double r) { return std::floor(r); }},
    {"is rounded up to 0 or 1", [](double r) { return std::ceil(r); }},
};

class Ramps {
 public:
  Ramps(const MeasuredFrequencies& seen, double divisor) : seen_(seen), divisor_(divisor) {
    RotaryModel plain = seen.right;
    plain.scaling = NoScaling{};
    plain_ = seen.list_of(plain).of;
    for (size_t k = 0; k < plain_.size(); ++k)
      right_.push_back(std::clamp(static_cast<double>(RampAt(k, seen.right_list.of[k])), 0.0, 1.0));
  }

  std::vector<FrequencyForm> Run() {
    for (const auto& [text, map] : kRampMaps) {
      std::vector<double> ramp;
      for (const double r : right_) ramp.push_back(map(r));
      Add(std::string("the ramp of the scaling ") + text, ramp);
    }
    if (std::holds_alternative<YarnScaling>(seen_.right.scaling)) AddOtherLimits();
    return std::move(forms_);
  }

 private:
  // How far the frequency of a pair is divided, from 0 to 1.
  long double RampAt(size_t k, long double frequency) const {
    return (1 - frequency / plain_[k]) / (1 - 1 / divisor_);
  }
  LongRange MeasuredAt(size_t k) const {
    if (!seen_.of_pair[k]) return {};
    return {RampAt(k, seen_.of_pair[k]->high), RampAt(k, seen_.of_pair[k]->low)};
  }
  void Add(std::string sentence, const std::vector<double>& ramp) {
    RotaryModel model = seen_.right;
    for (size_t k = 0; k < ramp.size(); ++k) {
      const double part = 1 - ramp[k] * (1 - 1 / divisor_);
      const double right = static_cast<double>(seen_.right_list.of[k] / plain_[k]);
      if (std::abs(ramp[k] - right_[k]) > 0x1p-40) model.pairs[k].factor *= part / right;
    }
    forms_.push_back({"scaling_ramp", std::move(sentence), std::move(model)});
  }
  // The line through two pairs of a ramp, the farthest ones strictly inside: where it is 0 and 1.
  struct Limits {
    LongRange low, high;
  };
  static std::optional<Limits> LimitsOf(const std::vector<LongRange>& ramp) {
    std::vector<size_t> inside;
    for (size_t k = 0; k < ramp.size(); ++k)
      if (ramp[k].low > 0 && ramp[k].high < 1) inside.push_back(k);
    if (inside.size() < 2) return std::nullopt;
    const size_t a = inside.front(), b = inside.back();
    const long double steep_high = (ramp[b].high - ramp[a].low) / static_cast<long double>(b - a);
    const long double steep_low = (ramp[b].low - ramp[a].high) / static_cast<long double>(b - a);
    if (!(steep_low > 0)) return std::nullopt;
    const auto first = static_cast<long double>(a), last = static_cast<long double>(b);
    return Limits{{first - ramp[a].high / steep_low, first - ramp[a].low / steep_high},
                  {last + (1 - ramp[b].high) / steep_high, last + (1 - ramp[b].low) / steep_low}};
  }
  void AddOtherLimits() {
    std::vector<LongRange> measured, right;
    for (size_t k = 0; k < plain_.size(); ++k) {
      measured.push_back(MeasuredAt(k));
      right.push_back({right_[k], right_[k]});
    }
    const auto limits = LimitsOf(measured), expected = LimitsOf(right);
    if (!limits || !expected) return;
    const double low = SimplestIn(limits->low), high = SimplestIn(limits->high);
    std::vector<double> ramp;
    for (size_t k = 0; k < plain_.size(); ++k)
      ramp.push_back(std::clamp((static_cast<double>(k) - low) / (high - low), 0.0, 1.0));
    const LongRange fine{expected->low.low - 0x1p-20L, expected->low.low + 0x1p-20L};
    const LongRange end{expected->high.low - 0x1p-20L, expected->high.low + 0x1p-20L};
    Add(Phrase("the ramp of the scaling goes from pair ", low, " to pair ", high,
               ", expected from ", SimplestIn(fine), " to ", SimplestIn(end)),
        ramp);
  }

  const MeasuredFrequencies& seen_;
  double divisor_;
  std::vector<long double> plain_;
  std::vector<double> right_;
  std::vector<FrequencyForm> forms_;
};

}  // namespace

std::vector<FrequencyForm> NameRamps(const MeasuredFrequencies& seen) {
  const double divisor = DivisorOf(seen.right.scaling);
  return divisor > 1 ? Ramps(seen, divisor).Run() : std::vector<FrequencyForm>();
}

}  // namespace sextant::oracle
