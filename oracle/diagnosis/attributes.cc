#include "oracle/diagnosis/attributes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "reference/case/choices.h"

namespace sextant::oracle {
namespace {

// The number that a text is; empty for any other text.
std::optional<double> NumberIn(const std::string& text) {
  try {
    double number = 0;
    ParseValue(text, number);
    return number;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// True if the type of the attribute has a value with this text: only that of a real one has 0.5.
bool Accepts(const Operation& operation, const std::string& name, const std::string& text) {
  try {
    operation.Clone()->Set(name, text);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Numbers that implementations use instead of the right one: those of kChoices, multiples by powers
// of two, 0, of an integer its neighbours and powers of two, and round decimal numbers.
std::vector<double> LikelyNumbers(const Case& c, const std::string& name, double right,
                                  bool is_integer) {
  std::vector<double> likely = {right};
  const auto add = [&](double x) {
    const double number = is_integer ? std::trunc(x) : x;
    if (std::ranges::find(likely, number) == likely.end()) likely.push_back(number);
  };
  for (const Choices& choices : ChoicesOf(c.info())) {
    for (const std::string& text : choices.texts)
      if (const auto number = NumberIn(text); choices.key == name && number) add(*number);
  }
  for (const double power : {2, 4, 8, 16, 32, 64}) add(right / power), add(right * power);
  add(0);
  for (double near = 1; is_integer && near <= 16; ++near) add(right - near), add(right + near);
  for (double power = 1; power <= 1048576; power *= 2) {
    add(power);
    if (is_integer) add(power - 1), add(power + 1);
  }
  const double decade = std::floor(std::log10(right > 0 ? right : 1));
  for (double n = decade - 4; n <= decade + 4; ++n) {
    const double unit = std::pow(10, std::abs(n));
    for (const double digit : {1.0, 2.0, 5.0, 1.5, 2.5}) add(n < 0 ? digit / unit : digit * unit);
  }
  likely.erase(likely.begin());
  return likely;
}

// The ways in which an index may be read.
constexpr std::array<const IndexMap*, 8> kIndexMaps = {&kShifted, &kClamped,      &kClampedBelow,
                                                       &kWrapped, &kDivided,      &kMultiplied,
                                                       &kRounded, &kRoundedToBits};

// "position: positions above 32767 act as 32767 (14 of 20 such tokens)"
Deviation OtherIndices(const NamedTensor& input, size_t index, const IndexMap& map) {
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

// "eps is 1e-6, expected 1e-5"
std::function<std::string(const std::string&)> Expecting(const std::string& right,
                                                         const std::string& phrase) {
  return [=](const std::string& text) { return phrase + " " + text + ", expected " + right; };
}

// Other values of an attribute, by its type.
std::vector<Deviation> OtherValues(const Case& c, const Attribute& attribute) {
  const auto& [name, right, required, dimension, values] = attribute;
  // If a choice leaves the answer unspecified, any answer conforms with it.
  if (dimension || right.empty() || std::ranges::count(values, kUnspecified) > 0) return {};
  std::vector<Deviation> deviations;
  std::vector<std::string> texts(values.begin(), values.end());
  std::erase(texts, right);
  if (const auto number = NumberIn(right)) {
    const bool is_integer = !Accepts(c.operation(), name, "0.5");
    Deviation fitted = RealAttribute(name, name + " is", *number, {});
    if (is_integer) {
      fitted.is_integer = true;
      fitted.changed = [of_real = fitted.changed](const Hypothesis& base, double value) {
        return of_real(base, std::round(value));
      };
    }
    for (const double x : LikelyNumbers(c, name, *number, is_integer)) {
      if (is_integer)
        texts.push_back(PrintValue(x));  // formulas may be no smooth functions of it
      else
        fitted.values.push_back({x});
    }
    deviations.push_back(std::move(fitted));
    if (Accepts(c.operation(), name, "")) texts.emplace_back();
  }
  if (texts.empty()) return deviations;
  deviations.push_back(AttributeText(name, "", texts));
  deviations.back().sentence = Expecting(right, name + " is");
  return deviations;
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
                return WithAttributes(base, {{name, PrintValue(value)}});
              },
          .sentence = Expecting(PrintValue(right), phrase)};
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

std::vector<Deviation> AndAttributes(std::vector<Deviation> own, const Case& c,
                                     const Tensors& inputs) {
  std::vector<Deviation> others;
  for (const Attribute& attribute : c.operation().Attributes())
    std::ranges::move(OtherValues(c, attribute), std::back_inserter(others));
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (const IndexMap* map : kIndexMaps)
      if (inputs[i].dtype == DType::kI64) others.push_back(OtherIndices(inputs[i], i, *map));
  }
  std::erase_if(others, [&](const Deviation& other) {
    return std::ranges::count(own, other.factor, &Deviation::factor) > 0;
  });
  return Joined<Deviation>({std::move(own), std::move(others)});
}

std::vector<Explanation> MeasureAttributes(const Observation& seen) {
  return FittedTo(seen, RightOf(seen), AndAttributes({}, seen.c, seen.inputs));
}

std::vector<Explanation> MeasureEachAttribute(const Observation& seen) {
  return FittedTo(seen, RightOf(seen), {}, AndAttributes({}, seen.c, seen.inputs));
}

}  // namespace sextant::oracle
