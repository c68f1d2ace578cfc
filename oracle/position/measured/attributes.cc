#include "oracle/position/measured/attributes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

std::string Plain(double x) { return PrintValue(x); }

struct RealNumber {
  const char *name, *phrase;
  std::vector<double> likely;
};
// Values of published models and defaults of frameworks, and numbers that are mistaken for them.
const std::vector<RealNumber>& RealNumbers() {
  static const std::vector<RealNumber> kNumbers = {
      {"soft_cap", "scores are capped at", {1, 2, 5, 10, 15, 20, 25, 30, 50, 64, 100, 127, 128}},
      {"cap", "the cap is", {1, 2, 5, 10, 15, 20, 25, 30, 50, 64, 100, 127, 128}},
      {"beta", "beta is", {0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.707, 1, 2}},
      {"max_bias", "the largest exponent of a slope is", {1, 2, 4, 7, 7.5, 8, 9, 10, 12, 16, 32}},
      {"base",
       "the base is",
       {2,     10,     100,    256,    500,    1000,   1024,           2000,   5000,  8192,
        9999,  10001,  12345,  16384,  20000,  25000,  32768,          40000,  50000, 65536,
        80000, 100000, 150000, 160000, 200000, 250000, 500000,         600000, 1e6,   1.5e6,
        2e6,   2.5e6,  5e6,    8e6,    1e7,    1e8,    std::numbers::e}},
  };
  return kNumbers;
}

// Without repetitions.
void Append(std::vector<int64_t>& list, std::initializer_list<int64_t> more) {
  for (const int64_t x : more)
    if (std::ranges::find(list, x) == list.end()) list.push_back(x);
}

// Multiples of the right one by powers of two, its neighbours, and powers of two and ten.
std::vector<int64_t> LikelyIntegers(int64_t right) {
  constexpr int64_t kMost = int64_t{1} << 40;
  std::vector<int64_t> likely = {right};
  for (const int64_t power : {2, 4, 8, 16, 32, 64}) {
    Append(likely, {right / power});
    if (right < kMost / power) Append(likely, {right * power});
  }
  for (int64_t near = 1; near <= 16; ++near) Append(likely, {right - near, right + near});
  for (int64_t power = 1; power <= int64_t{1} << 20; power *= 2)
    Append(likely, {power, power - 1, power + 1});
  for (int64_t power = 10; power <= 1000000; power *= 10)
    Append(likely, {power, 2 * power, 5 * power});
  likely.erase(likely.begin());
  return likely;
}

constexpr std::array<const char*, 5> kIntegers = {
    "floor_scale", "start", "original_max_position_embeddings", "max_distance", "clip"};

// The ways in which a position may be read.
constexpr std::array<const IndexMap*, 8> kPositionMaps = {&kShifted, &kClamped,      &kClampedBelow,
                                                          &kWrapped, &kDivided,      &kMultiplied,
                                                          &kRounded, &kRoundedToBits};

// "position: positions above 32767 act as 32767 (14 of 20 such tokens)"
Deviation PositionDeviation(const NamedTensor& input, size_t index, const IndexMap& map) {
  const std::vector<double> positions = input.values.data;
  std::vector<NamedValue> values;
  for (const double number : map.usual(positions)) values.push_back({number, PrintValue(number)});
  const auto changed = [=, &map](const Hypothesis& base,
                                 double number) -> std::optional<Hypothesis> {
    Hypothesis model = base;
    auto& data = model.inputs[index].values.data;
    const auto before = data;
    for (double& position : data) position = map.of(position, number);
    if (data == before) return std::nullopt;
    return model;
  };
  const auto sentence = [=, &map, name = input.name](const std::string& text) {
    const double number = std::stod(text);
    const auto count = std::ranges::count_if(
        positions, [&](double position) { return map.of(position, number) != position; });
    return name + ": " + map.Sentence("positions", number) + " (" + std::to_string(count) + " of " +
           std::to_string(positions.size()) + " such tokens)";
  };
  return {.name = input.name + "_" + map.name,
          .factor = input.name,
          .values = std::move(values),
          .changed = changed,
          .sentence = sentence};
}

}  // namespace

Deviation RealAttribute(const std::string& name, const std::string& phrase, double right,
                        std::vector<NamedValue> likely) {
  return {.name = name + "_changed",
          .factor = name,
          .values = std::move(likely),
          .right = right,
          .changed =
              [name](const Hypothesis& base, double value) {
                return WithAttributes(base, {{name, Plain(value)}});
              },
          .sentence =
              [phrase, right](const std::string& number) {
                return phrase + " " + number + ", expected " + Plain(right);
              }};
}

Deviation IntegerAttribute(const std::string& name, const std::string& phrase, int64_t right) {
  Deviation deviation = RealAttribute(name, phrase, static_cast<double>(right), {});
  deviation.is_integer = true;
  deviation.changed = [name](const Hypothesis& base, double value) {
    return WithAttributes(base, {{name, PrintValue(static_cast<int64_t>(std::llround(value)))}});
  };
  return deviation;
}

Deviation AttributeText(const std::string& name, const std::string& phrase,
                        const std::vector<std::string>& texts) {
  std::vector<NamedValue> values;
  for (size_t i = 0; i < texts.size(); ++i)
    values.push_back({static_cast<double>(i), texts[i].empty() ? "missing" : texts[i]});
  return {.name = name + "_changed",
          .factor = name,
          .values = std::move(values),
          .changed =
              [name, texts](const Hypothesis& base, double value) {
                return WithAttributes(base, {{name, texts[static_cast<size_t>(value)]}});
              },
          .sentence = [phrase](const std::string& text) { return phrase + " " + text; }};
}

std::vector<Deviation> AttributeDeviations(const Case& c) {
  std::vector<Deviation> deviations;
  for (const auto& [name, phrase, likely] : RealNumbers()) {
    const std::string text = TextOf(c, name);
    if (text.empty()) continue;
    std::vector<NamedValue> values;
    for (const double value : likely) values.push_back({value, Plain(value)});
    deviations.push_back(RealAttribute(name, phrase, NumberOf(c, name, 0), std::move(values)));
  }
  for (const Attribute& attribute : c.operation().Attributes()) {
    const std::string expected = ", expected " + attribute.text;
    std::vector<std::string> texts;
    if (std::ranges::find(kIntegers, attribute.name) != kIntegers.end()) {
      deviations.push_back(
          IntegerAttribute(attribute.name, attribute.name + " is", std::stoll(attribute.text)));
      for (const int64_t value : LikelyIntegers(std::stoll(attribute.text)))
        texts.push_back(PrintValue(value));
    } else {
      texts.assign(attribute.values.begin(), attribute.values.end());
      std::erase(texts, attribute.text);
      if (texts.empty() || attribute.text.empty() || attribute.name == "empty_rows") continue;
    }
    deviations.push_back(AttributeText(attribute.name, attribute.name + expected + ", is", texts));
  }
  return deviations;
}

std::vector<Deviation> PositionDeviations(const Tensors& inputs) {
  std::vector<Deviation> deviations;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != DType::kI64) continue;
    for (const IndexMap* map : kPositionMaps)
      deviations.push_back(PositionDeviation(inputs[i], i, *map));
  }
  return deviations;
}

std::vector<Explanation> MeasureAttributes(const Observation& seen) {
  return MeasureAttributesAnd(seen, {});
}

std::vector<Explanation> MeasureAttributesAnd(const Observation& seen,
                                              const std::vector<Deviation>& more,
                                              const std::vector<Deviation>& alone) {
  const Hypothesis base{seen.c.operation().Clone(), SharedInputs::Of(seen.inputs), seen.recipe};
  return FittedTo(
      seen, base,
      Joined<Deviation>({AttributeDeviations(seen.c), PositionDeviations(seen.inputs), more}),
      alone);
}

}  // namespace sextant::oracle
