// Defects of one kind of scaling: the case with other words, other parameters, or other
// frequencies.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "oracle/defect/defect.h"
#include "oracle/rope/configuration.h"

namespace sextant::oracle {

// The words that replace those of the case; empty if the defect does not apply.
template <class Scaling>
using WordsFor = std::function<std::string(const Scaling&, const RotarySetting&)>;

template <class Scaling>
Defect ChangedWords(std::string name, std::string why, WordsFor<Scaling> words) {
  return ChangedWord(std::move(name), std::move(why), [words](const Case& c) -> std::string {
    const Configuration given(c);
    const auto* scaling = std::get_if<Scaling>(&given.scaling);
    return scaling ? words(*scaling, given.setting) : "";
  });
}

// The same scaling with other parameters.
template <class Scaling>
Defect ChangedScaling(std::string name, std::string why, void (*change)(Scaling&)) {
  return ChangedWords<Scaling>(std::move(name), std::move(why), [change](Scaling s, const auto&) {
    change(s);
    return "scaling=" + PrintValue(RopeScaling(s));
  });
}

// Explicit frequencies by another formula: `change` maps the unscaled frequency f of pair k. The
// amplitude stays.
template <class Scaling>
using FrequencyFor =
    std::function<double(const Scaling&, const RotarySetting&, double f, double k)>;

template <class Scaling>
Defect ChangedFrequencies(std::string name, std::string why, FrequencyFor<Scaling> change,
                          bool (*applies)(const Scaling&) = nullptr) {
  return ChangedWords<Scaling>(
      std::move(name), std::move(why),
      [change, applies](const Scaling& s, const RotarySetting& setting) -> std::string {
        if (applies && !applies(s)) return "";
        ExplicitScaling changed{.inv_freq = FrequenciesOf(NoScaling{}, setting).of_pair,
                                .attention_factor = FrequenciesOf(s, setting).amplitude};
        for (size_t k = 0; k < changed.inv_freq.size(); ++k) {
          double& f = changed.inv_freq[k];
          f = change(s, setting, f, static_cast<double>(k));
        }
        return "scaling=" + PrintValue(RopeScaling(changed));
      });
}

// Another amplitude: `change` maps the correct one. The frequencies stay.
template <class Scaling>
Defect ChangedAmplitude(std::string name, std::string why,
                        std::function<double(const Scaling&, double)> change) {
  return ChangedWords<Scaling>(
      std::move(name), std::move(why), [change](Scaling s, const RotarySetting& setting) {
        s.attention_factor = change(s, FrequenciesOf(s, setting).amplitude);
        if constexpr (requires { s.short_mscale; }) {
          s.short_mscale = s.long_mscale = std::nullopt;
        }
        return "scaling=" + PrintValue(RopeScaling(s));
      });
}

}  // namespace sextant::oracle
