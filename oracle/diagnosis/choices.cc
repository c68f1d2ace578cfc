#include "oracle/diagnosis/choices.h"

namespace sextant::oracle {

Deviation OneOf(const std::string& name, const std::string& factor,
                const std::vector<Choice>& choices) {
  std::vector<NamedValue> values;
  for (size_t i = 0; i < choices.size(); ++i)
    values.push_back({static_cast<double>(i), choices[i].sentence});
  return {.name = name,
          .factor = factor,
          .values = std::move(values),
          .changed =
              [choices](const Hypothesis& base, double which) {
                return choices[static_cast<size_t>(which)].changed(base);
              },
          .sentence = [](const std::string& text) { return text; }};
}

}  // namespace sextant::oracle
