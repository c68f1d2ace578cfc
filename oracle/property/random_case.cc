#include "oracle/property/random_case.h"

#include <algorithm>
#include <sstream>

#include "reference/case/draw.h"
#include "reference/case/extents.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostElements = 4096;  // of all outputs together

// The smallest number of elements that fills whole vectors and is not below `extent`.
int64_t WholeVectors(int64_t extent) { return (extent + kLanes - 1) / kLanes * kLanes; }

std::vector<std::string> Words(const std::string& key, const std::string& choices) {
  std::vector<std::string> words;
  std::istringstream texts(choices);
  for (std::string text; std::getline(texts, text, '|');) words.push_back(key + "=" + text);
  return words;
}

}  // namespace

CaseSpace::CaseSpace(const Operation& operation, bool with_traps) : name_(operation.info().name) {
  std::istringstream choices{std::string(operation.info().choices)};
  for (std::string choice; choices >> choice;) {
    const auto [key, values] = SplitWord(choice);
    words_.push_back(Words(key, values));
    const int64_t extent = LongExtent(key, operation.info());
    if (extent > 0) words_.back().push_back(key + "=" + std::to_string(extent));
    if (extent > 0 && with_traps)
      words_.back().push_back(key + "=" + std::to_string(WholeVectors(extent)));
  }
  const bool bitwise = operation.info().bitwise;  // then special numbers are specified, too
  words_.push_back(Words("dtype", "f32|bf16|f16|f64"));
  for (const DType type : kTensorTypes) {
    if (bitwise && std::ranges::count(kFloatTypes, type) == 0)
      words_.back().push_back("dtype=" + std::string(NameOf(type)));
  }
  words_.push_back(Words("seed", "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16"));
  for (const TensorSpec& input : operation.info().signature.inputs) {
    const std::string_view drawn = operation.info().DrawOf(input.name);
    if (IsSmallInteger(drawn)) continue;
    if (input.role == Role::kInteger) {
      words_.push_back(
          Words("@" + input.name,
                "sequence|sequence(-3)|sequence(4000)|hard|borders|random_positions(4096)|"
                "random_positions(131072)|random_positions"));
    } else if (input.role == Role::kReal) {
      std::vector<std::string> words = {""};
      for (std::string& word :
           Words("@" + input.name, "sequence|uniform(-100,100)|random_positions(4096)")) {
        words.push_back(std::move(word));
      }
      words_.push_back(words);
    } else if (input.role == Role::kCase) {
      std::vector<std::string> words = {""};  // the operation's own distribution
      for (std::string& word :
           Words("@" + input.name,
                 std::string(bitwise ? "one_hot|uniform(-4,4)|normal(30)|codes|nonfinite|"
                                       "midpoints(f8_e4m3fn)"
                                     : "one_hot|powers_of_two|uniform(-4,4)|normal(30)") +
                     (operation.info().HasCodes() ? "|ties(f8_e4m3fn)" : "") +
                     (with_traps ? "|masked|masked(1e+12)" : ""))) {
        words.push_back(std::move(word));
      }
      // cos and sin of the same angle must be drawn together: keep their own distribution.
      if (!drawn.starts_with("circle_")) words_.push_back(words);
    }
  }
  for (const auto& words : words_) sizes_.push_back(words.size());
}

std::optional<Case> CaseSpace::At(const std::vector<size_t>& indices) const {
  std::string line = name_;
  std::vector<std::string> distributions;
  for (size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i][indices[i]];
    if (word.starts_with('@')) {
      distributions.push_back(word);
    } else {
      line += " " + word;
    }
  }
  try {
    Case c = Case::Parse(line);
    std::erase_if(distributions, [&c](const std::string& word) {
      return FindTensor(c.signature(), SplitWord(word).first.substr(1)) == nullptr;  // absent
    });
    c = c.With(distributions);
    size_t elements = 0;
    for (const TensorSpec& output : c.info().signature.outputs) {
      elements += CountOf(c.ShapeOf(output));
    }
    if (elements > kMostElements) return std::nullopt;
    return c;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace sextant::oracle
