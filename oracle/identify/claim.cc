#include "oracle/identify/claim.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>

#include "oracle/defect/shapes.h"
#include "reference/case/choices.h"
#include "reference/case/extents.h"
#include "reference/case/optional_inputs.h"

namespace sextant::oracle {
namespace {

// True if every input has the same shape for every extent of the dimension.
bool IsValidWord(const Case& c, const std::string& word) {
  try {
    return !c.With(word).name().empty();
  } catch (const Error&) {
    return false;
  }
}

// The case with the claim, or without it if its numbers contradict each other.
Case Claimed(const Claim& claim, const Case& c) {
  try {
    return c.With(WordsOf(claim));
  } catch (const Error&) {
    return c;
  }
}

// Numbers that are no integers, one of which fits nearly every condition on a number.
constexpr double kFractions[] = {0.75, 1.5, 40.5, 10000.5};

// The numbers of a text, without those inside of names ("llama3").
std::vector<NumberSlot> SlotsOfText(const std::string& attribute, const std::string& text) {
  static const std::regex kNumber(R"(-?\d+(\.\d+)?(e[-+]?\d+)?)");
  std::vector<NumberSlot> slots;
  for (std::sregex_iterator at(text.begin(), text.end(), kNumber), end; at != end; ++at) {
    const auto begin = static_cast<size_t>(at->position());
    if (begin > 0 && std::string_view("=[(,").find(text[begin - 1]) == std::string_view::npos)
      continue;
    slots.push_back({attribute, begin, static_cast<size_t>(at->length()),
                     std::strtod(at->str().c_str(), nullptr), false});
  }
  return slots;
}

std::string WithNumber(const std::string& text, const NumberSlot& slot, double value) {
  return text.substr(0, slot.begin) + PrintValue(value) + text.substr(slot.begin + slot.length);
}

bool TakesFractions(const Case& c, const std::string& text, const NumberSlot& slot) {
  return std::ranges::any_of(kFractions, [&](double fraction) {
    return IsValidWord(c, slot.attribute + "=" + WithNumber(text, slot, fraction));
  });
}

// Other integers: all up to the largest extent of the case, and powers of two times the value.
std::vector<double> OtherIntegers(double value, const Case& c) {
  std::vector<double> others;
  int64_t largest = 8;
  for (const auto& [letter, extent] : c.dimensions()) largest = std::max(largest, extent);
  for (int64_t i = -1; i <= std::min<int64_t>(largest, 128); ++i)
    others.push_back(static_cast<double>(i));
  for (int e = -4; e <= 4; ++e) others.push_back(std::ldexp(value, e));
  return others;
}

std::vector<double> OtherNumbers(double value, bool is_far) {
  std::vector<double> others = {0, 1};
  if (value == 0) value = 1;
  for (int e = is_far ? -10 : -3; e <= (is_far ? 10 : 3); ++e)
    others.push_back(std::ldexp(value, e));
  if (is_far) {
    for (int e = -12; e <= 9; ++e) others.push_back(std::pow(10.0, e));
    others.push_back(-value);
  }
  return others;
}

// The texts that the operation lists for an attribute, or its names.
std::vector<std::string> TextsOfAttribute(const Attribute& attribute, const OperationInfo& info) {
  std::vector<std::string> texts(attribute.values.begin(), attribute.values.end());
  for (const Choices& choices : ChoicesOf(info)) {
    if (choices.key == attribute.name)
      texts.insert(texts.end(), choices.texts.begin(), choices.texts.end());
  }
  return texts;
}

// Another text of one attribute.
struct Word {
  std::string attribute, text;
  bool is_integer;  // an integer was changed
  auto operator<=>(const Word&) const = default;
};

Claim With(Claim claim, const Word& word) {
  claim.at(word.attribute) = word.text;
  return claim;
}

bool IsInteger(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == text.npos;
}
bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-+.e0123456789") == text.npos;
}

// The words of all variations of the claim.
std::vector<Word> OtherWords(const Claim& claim, const Case& c) {
  const Case claimed = Claimed(claim, c);
  std::set<Word> words;
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!claim.contains(attribute.name)) continue;
    std::vector<std::string> texts = TextsOfAttribute(attribute, c.info());
    texts.push_back(claim.at(attribute.name));
    for (const std::string& text : texts) {
      const bool is_current = text == texts.back();
      words.insert({attribute.name, text, false});
      for (const NumberSlot& slot : SlotsOfText(attribute.name, text)) {
        const bool is_integer = IsDimension(attribute.name) || !TakesFractions(claimed, text, slot);
        for (const double other :
             is_integer ? OtherIntegers(slot.value, c) : OtherNumbers(slot.value, is_current)) {
          words.insert({attribute.name, WithNumber(text, slot, other), is_integer});
        }
      }
    }
  }
  std::vector<Word> others(words.begin(), words.end());
  std::erase_if(others, [&](const Word& word) { return claim.at(word.attribute) == word.text; });
  return others;
}

}  // namespace

Claim ClaimOf(const Case& c, const std::set<std::string>& fixed) {
  Claim claim;
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (fixed.contains(attribute.name) || attribute.name == kWith) continue;
    if (!attribute.dimension) {
      claim[attribute.name] = attribute.text;
    } else if (!DependOn(c.info().signature, attribute.name)) {
      claim[attribute.name] = std::to_string(c.dimensions().at(attribute.name));
    }
  }
  return claim;
}

std::vector<std::string> WordsOf(const Claim& claim) {
  std::vector<std::string> words;
  for (const auto& [attribute, text] : claim) {
    words.push_back(attribute);
    words.back() += "=" + text;
  }
  return words;
}

std::string FormOf(const Claim& claim) {
  std::string form;
  for (const auto& [attribute, text] : claim) {
    std::ranges::copy_if(text + " ", std::back_inserter(form), [](char letter) {
      return letter != '.' && (letter < '0' || letter > '9');
    });
  }
  return form;
}

std::string NameOf(const NumberSlot& slot, const Claim& claim) {
  const std::string before = claim.at(slot.attribute).substr(0, slot.begin);
  if (!before.ends_with('=')) return slot.attribute;
  const size_t begin = before.find_last_of("(,") + 1;
  return slot.attribute + "." + before.substr(begin, before.size() - 1 - begin);
}

std::vector<NumberSlot> SlotsOf(const Claim& claim, const Case& c) {
  const Case claimed = Claimed(claim, c);
  std::vector<NumberSlot> all;
  for (const auto& [attribute, text] : claim) {
    for (NumberSlot& slot : SlotsOfText(attribute, text)) {
      slot.is_integer = IsDimension(attribute) || !TakesFractions(claimed, text, slot);
      all.push_back(std::move(slot));
    }
  }
  return all;
}

Claim WithNumber(const Claim& claim, const NumberSlot& slot, double value) {
  Claim changed = claim;
  std::string& text = changed.at(slot.attribute);
  text = WithNumber(text, slot, value);
  return changed;
}

Claim WithNumbers(Claim claim, const std::vector<NumberSlot>& slots) {
  // From the end, because texts change their lengths.
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot)
    claim = WithNumber(claim, *slot, slot->value);
  return claim;
}

std::vector<Claim> VariationsOf(const Claim& claim, const Case& c) {
  std::vector<Claim> variations;
  for (const Word& word : OtherWords(claim, c)) variations.push_back(With(claim, word));
  return variations;
}

std::vector<Claim> NamedVariationsOf(const Claim& claim, const Case& c) {
  std::vector<Word> words;
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!claim.contains(attribute.name) || attribute.values.empty()) continue;
    for (const std::string& text : TextsOfAttribute(attribute, c.info()))
      words.push_back({attribute.name, text, false});
  }
  std::set<Claim> variations;  // a word may repeat the claim
  for (const Word& first : words) {
    for (const Word& second : words) {
      if (first.attribute <= second.attribute) variations.insert(With(With(claim, second), first));
    }
  }
  return {variations.begin(), variations.end()};
}

std::vector<Claim> CombinationsOf(const Claim& claim, const Case& c) {
  std::vector<Claim> named = {claim};
  std::vector<Word> numbers;
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!claim.contains(attribute.name) || attribute.dimension) continue;
    const std::vector<std::string> texts = TextsOfAttribute(attribute, c.info());
    if (attribute.values.empty()) {
      for (const std::string& text : texts) {
        if (IsNumber(text)) numbers.push_back({attribute.name, text, false});
      }
      continue;
    }
    std::vector<Claim> combined;
    for (const std::string& text : std::set<std::string>(texts.begin(), texts.end())) {
      for (const Claim& one : named) combined.push_back(With(one, {attribute.name, text, false}));
    }
    named = std::move(combined);
  }
  std::set<Claim> all(named.begin(), named.end());
  for (const Claim& one : named) {
    for (const Word& number : numbers) all.insert(With(one, number));
  }
  return {all.begin(), all.end()};
}

std::vector<Claim> PairedVariationsOf(const Claim& claim, const Case& c) {
  const auto attributes = c.operation().Attributes();
  std::vector<Word> structure, numbers;
  for (Word& word : OtherWords(claim, c)) {
    const auto at = std::ranges::find(attributes, word.attribute, &Attribute::name);
    const bool is_integer = word.is_integer && IsInteger(claim.at(word.attribute));
    if (!at->values.empty() || at->dimension || is_integer) {
      structure.push_back(std::move(word));
    } else if (IsNumber(word.text)) {
      numbers.push_back(std::move(word));
    }
  }
  std::vector<Claim> pairs;
  const auto add = [&](const Word& a, const Word& b) {
    if (a.attribute != b.attribute) pairs.push_back(With(With(claim, a), b));
  };
  for (size_t i = 0; i < structure.size(); ++i) {
    for (size_t j = i + 1; j < structure.size(); ++j) add(structure[i], structure[j]);
    for (const Word& number : numbers) add(structure[i], number);
  }
  return pairs;
}

}  // namespace sextant::oracle
