#include "oracle/identify/probe.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "reference/case/choices.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// Extents of dimensions that the line does not give: those along which implementations go wrong
// differ (queries and keys, heads and key heads).
const std::map<std::string, int> kExtents = {{"A", 3}, {"B", 1},  {"D", 32}, {"E", 16}, {"F", 32},
                                             {"H", 4}, {"K", 2},  {"M", 32}, {"N", 6},  {"P", 32},
                                             {"S", 9}, {"T", 19}, {"V", 16}};

// Sequences, each with another position, where all tokens of a sequence have one.
constexpr int kMoves = 8;

// Inputs at which an attribute matters: an eps beside mean squares of its size, a cap or a limit
// below many numbers.
const std::multimap<std::string, std::string> kInputsFor = {
    {"eps", "@x=normal(0.003)"},
    {"eps", "@x=normal(0.0003)"},
    {"soft_cap", "@q=normal(8)"},
    {"cap", "@x=normal(60)"},
    {"limit", "@gate=normal(6)"},
    {"limit", "@up=normal(6)"},
    {"scale_base", "@position=sequence(400)"}};

// Scores of such queries are 0 but for roundings.
constexpr std::string_view kNearlyZero = "normal(1e-09)";

constexpr const char* kPositions[] = {"random_positions(128)", "random_positions(2048)",
                                      "random_positions(131072)"};

// About as many pairs for every axis: "[6,5,5]" for 32 channels.
std::string EvenSections(int64_t width, int64_t axes) {
  std::vector<int64_t> sections;
  for (int64_t a = 0, left = width / 2; a < axes; ++a) {
    const int64_t rest = axes - a;
    sections.push_back((left + rest - 1) / rest);
    left -= sections.back();
  }
  return PrintValue(sections);
}

// True if all tokens of a sequence have one position (rope_shift).
bool MovesWholeSequences(const OperationInfo& info) {
  return std::ranges::any_of(info.signature.inputs, [](const TensorSpec& input) {
    return input.role == Role::kInteger && input.extents == std::vector<std::string>{"B"};
  });
}

// The line with a value for everything that has no default, and extents for its dimensions.
Case CompletedCase(const std::string& line) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  const auto operation = MakeOperationNamed(name);
  const std::set<std::string> given = KeysOf(line);
  std::string completed = line;
  const auto choices = ChoicesOf(operation->info());
  const auto choices_of = [&](const std::string& key) {
    return std::ranges::find(choices, key, &Choices::key);
  };
  const auto extent_of = [&](const std::string& letter) {
    const size_t at = (line + " ").find(" " + letter + "=");
    return at == line.npos ? int64_t{kExtents.at(letter)} : std::stoll(line.substr(at + 3));
  };
  for (const Attribute& attribute : operation->Attributes()) {
    if (!attribute.required || attribute.dimension || given.contains(attribute.name)) continue;
    if (attribute.name == "sections") {
      const int64_t width = extent_of(given.contains("R") ? "R" : "D");
      completed += " sections=" + EvenSections(width, extent_of("A"));
      continue;
    }
    const auto at = choices_of(attribute.name);
    completed += " " + attribute.name + "=" +
                 (attribute.values.empty() ? at->texts.front() : attribute.values.front());
  }
  for (const Choices& choice : choices) {
    if (choice.key.starts_with("dtype.") && !given.contains(choice.key))
      completed += " " + choice.key + "=" + choice.texts.front();
  }
  for (const auto& [letter, extent] : kExtents) {
    if (choices_of(letter) == choices.end() || given.contains(letter)) continue;
    const bool is_moved_by = letter == "B" && MovesWholeSequences(operation->info());
    completed += " " + letter + "=" + std::to_string(is_moved_by ? kMoves : extent);
  }
  return Case::Parse(completed);
}

// The words "@NAME=spec" of all integer inputs that are positions, and of coordinates.
std::vector<std::string> PositionWords(const Case& c, const std::string& spec) {
  std::vector<std::string> words;
  for (const TensorSpec& input : c.signature().inputs) {
    const std::string_view draw = c.info().DrawOf(input.name);
    const bool is_position = input.role == Role::kInteger &&
                             (draw.starts_with("sequence") || draw.starts_with("random_positions"));
    if (is_position || input.role == Role::kReal) words.push_back("@" + input.name + "=" + spec);
  }
  return words;
}

bool HasInput(const Case& c, const std::string& word) {
  const std::string name = word.substr(1, word.find('=') - 1);
  return std::ranges::count(c.signature().inputs, name, &TensorSpec::name) > 0;
}

constexpr size_t kMostElements = 16384;  // of a question that is enlarged

}  // namespace

std::set<std::string> KeysOf(const std::string& line) {
  std::istringstream words(line);
  std::set<std::string> keys;
  std::string word;
  words >> word;  // the operation
  while (words >> word) keys.insert(SplitWord(word).first);
  return keys;
}

std::vector<Case> ProbesOf(const std::string& line) {
  const std::set<std::string> given = KeysOf(line);
  std::vector<Case> probes = {CompletedCase(line)};
  const auto add = [&](std::vector<std::string> words) {
    std::erase_if(words, [&](const std::string& word) {
      return given.contains(SplitWord(word).first) || !HasInput(probes[0], word);
    });
    if (words.empty()) return;
    words.push_back("seed=" + std::to_string(probes[0].seed() + probes.size()));
    probes.push_back(probes[0].With(words));
  };
  if (Case::Has(probes[0].operation(), "mask"))
    add({"@q=" + std::string(kNearlyZero), "@bias=" + std::string(kNearlyZero)});
  for (const char* spec : kPositions) add(PositionWords(probes[0], spec));
  for (const Attribute& attribute : probes[0].operation().Attributes()) {
    const auto [first, last] = kInputsFor.equal_range(attribute.name);
    for (auto at = first; at != last; ++at) add({at->second});
  }
  return probes;
}

bool AsksForKeys(const Case& probe) {
  const auto& inputs = probe.signature().inputs;
  const auto q = std::ranges::find(inputs, "q", &TensorSpec::name);
  return q != inputs.end() && probe.SpecOf(*q) == kNearlyZero;
}

Case LargerThan(const Case& probe, int nth) {
  std::vector<std::string> words = {
      "seed=" + std::to_string(probe.seed() + 100 * static_cast<uint64_t>(nth))};
  size_t elements = 1;
  for (const size_t extent : probe.ShapeOf(probe.info().signature.outputs.at(0)))
    elements *= extent;
  if (elements > kMostElements) return probe.With(words);  // large as it is: other inputs
  for (const char letter : probe.info().slices) {
    const std::string key(1, letter);
    const auto at = probe.dimensions().find(key);
    // Heads and key heads stay in proportion, and lists of positions keep their lengths.
    if (at != probe.dimensions().end() && (key == "B" || key == "N"))
      words.push_back(key + "=" + std::to_string(8 * at->second));
  }
  return probe.With(words);
}

}  // namespace sextant::oracle
