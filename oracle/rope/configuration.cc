#include "oracle/rope/configuration.h"

#include <map>
#include <string>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/number/real.h"

namespace sextant::oracle {

Configuration::Configuration(const Case& c) {
  if (const std::string text = TextOf(c, "scaling"); !text.empty()) ParseValue(text, scaling);
  if (const std::string text = TextOf(c, "seq_len"); !text.empty())
    ParseValue(text, setting.seq_len);
  setting.base = NumberOf(c, "base", setting.base);
  const bool matrix = !c.dimensions().contains("R");
  setting.R = c.dimensions().at(matrix ? "D" : "R");
}

bool DependsOnFrequencyAlone(const RopeScaling& scaling) {
  return std::holds_alternative<NoScaling>(scaling) ||
         std::holds_alternative<LinearScaling>(scaling) ||
         std::holds_alternative<Llama3Scaling>(scaling);
}

namespace {

ExactFrequencies Compute(const RopeScaling& scaling, const RotarySetting& setting) {
  const GrownBase<BoostReal> base{setting.base, GrowthOf<BoostReal>(scaling, setting), setting.R};
  const ScalingFormula<BoostReal> scaled = FormulaOf<BoostReal>(scaling, setting);
  ExactFrequencies exact;
  for (int64_t k = 0; k < setting.R / 2; ++k) {
    exact.of_pair.push_back(scaled(InversePower(base, 2 * k, setting.R), k).High());
  }
  exact.amplitude = AmplitudeOf<BoostReal>(scaling, setting).High();
  return exact;
}

}  // namespace

// Many defects of a case use the same frequencies, and arithmetic with a hundred digits is slow, so
// results are cached.
ExactFrequencies FrequenciesOf(const RopeScaling& scaling, const RotarySetting& setting) {
  constexpr size_t kCacheSize = 256;
  thread_local std::map<std::string, ExactFrequencies> cache;
  const std::string key = PrintValue(scaling) + " " + PrintValue(setting.base) + " " +
                          PrintValue(setting.seq_len) + " " + PrintValue(setting.R);
  const auto found = cache.find(key);
  if (found != cache.end()) return found->second;
  if (cache.size() == kCacheSize) cache.clear();
  return cache.emplace(key, Compute(scaling, setting)).first->second;
}

Measured AmplitudeOf(const Case& c) {
  const Configuration given(c);
  const double a = FrequenciesOf(given.scaling, given.setting).amplitude;
  return a == 1 ? Measured(1) : Nearest(a);
}

}  // namespace sextant::oracle
