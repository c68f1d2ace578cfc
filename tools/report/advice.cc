#include "tools/report/advice.h"

#include <algorithm>
#include <map>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/case/case.h"
#include "reference/case/dimensions.h"
#include "reference/case/extents.h"
#include "tools/api/completed_line.h"
#include "tools/api/shell_quoted.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;
using Words = std::vector<std::pair<std::string, std::string>>;  // key, value; no value: unset

constexpr size_t kFewestCases = 5;
constexpr size_t kMostOperations = 3;
constexpr size_t kMostValues = 3;  // of a word that answered cases have in common
constexpr size_t kMostWords = 3;

constexpr char kEqual[] = "=";  // the key "E=D" has this value if both have the same extent

// The letters of the last axes of the tensors: the widths, for which kernels are made.
std::vector<std::string> WidthsOf(const Case& c) {
  std::vector<std::string> widths;
  for (const auto* side : {&c.signature().inputs, &c.signature().outputs}) {
    for (const TensorSpec& tensor : *side) {
      if (tensor.extents.size() < 2 || !IsDimension(tensor.extents.back())) continue;
      if (tensor.role == Role::kInteger || tensor.optional) continue;
      if (std::ranges::count(widths, tensor.extents.back()) == 0)
        widths.push_back(tensor.extents.back());
    }
  }
  return widths;
}

// What a case is, first that on which kernels depend most often.
Words WordsToCompare(const Case& c) {
  Words words;
  const std::vector<std::string> widths = WidthsOf(c);
  for (const std::string& width : widths)
    words.push_back({width, std::to_string(c.dimensions().at(width))});
  for (const auto& [letter, extent] : c.dimensions()) {
    const auto from = c.dimensions().find(DefaultText(c.operation(), letter));
    if (from != c.dimensions().end())
      words.push_back({letter + "=" + from->first, extent == from->second ? kEqual : ""});
  }
  words.push_back({"dtype", std::string(NameOf(c.dtype()))});
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!attribute.dimension) words.push_back({attribute.name, attribute.text});
  }
  for (const auto& [letter, extent] : c.dimensions()) {
    if (std::ranges::count(widths, letter) == 0) words.push_back({letter, std::to_string(extent)});
  }
  return words;
}

// A word with the values that it has in all answered cases, in the order of these.
struct Shared {
  size_t at;  // in Words
  std::vector<std::string> values;
  bool In(const Words& words) const { return std::ranges::count(values, words[at].second) > 0; }
};

// The answered and the unsupported cases of an operation.
struct Cases {
  std::vector<Words> answered, unsupported;
  std::map<std::string, size_t> reasons;  // of unsupported cases
  std::string unsupported_line;           // the first of them
};

// The words that together leave the fewest unsupported cases, of each the best next one. One
// answered case shares all its words with itself: then its widths and dtype.
std::vector<Shared> SharedWords(const Cases& cases) {
  std::vector<Shared> candidates, shared;
  if (cases.answered.size() == 1) {
    const Words& words = cases.answered.front();
    const auto dtype = std::ranges::find(words, "dtype", &Words::value_type::first);
    for (auto word = words.begin(); word <= dtype; ++word)
      if (IsDimension(word->first) || word == dtype)
        shared.push_back({static_cast<size_t>(word - words.begin()), {word->second}});
    return shared;
  }
  for (size_t at = 0; at < cases.answered.front().size(); ++at) {
    Shared one{at, {}};
    for (const Words& words : cases.answered) {
      if (!one.In(words)) one.values.push_back(words[at].second);
    }
    const bool differ = cases.answered.front()[at].first.find('=') != std::string::npos &&
                        one.values != std::vector<std::string>{kEqual};
    if (one.values.size() <= kMostValues && !differ) candidates.push_back(std::move(one));
  }
  std::vector<Words> left = cases.unsupported;
  const auto count = [&left](const Shared& one) {
    return std::ranges::count_if(left, [&one](const Words& words) { return one.In(words); });
  };
  while (shared.size() < kMostWords && !candidates.empty() && !left.empty()) {
    const auto best = std::ranges::min_element(candidates, {}, count);
    if (count(*best) == std::ssize(left)) break;
    std::erase_if(left, [&best](const Words& words) { return !best->In(words); });
    shared.push_back(*best);
    candidates.erase(best);
  }
  return shared;
}

// "D=64 or 128", "E=D", "scale unset".
std::string TextOf(const Shared& one, const std::string& key) {
  if (one.values.front() == kEqual) return key;
  std::string text;
  for (const std::string& value : one.values) {
    text += text.empty() ? key : " or ";
    text += (value.empty() ? " unset" : (text == key ? "=" : "") + value);
  }
  return text;
}

std::string SharedText(const Cases& cases, const std::vector<Shared>& shared) {
  std::string text;
  for (const Shared& one : shared)
    text += (text.empty() ? "" : " and ") + TextOf(one, cases.answered.front()[one.at].first);
  const auto have = std::ranges::count_if(cases.unsupported, [&](const Words& words) {
    return std::ranges::all_of(shared, [&](const Shared& one) { return one.In(words); });
  });
  const size_t answered = cases.answered.size();
  return text + " in " +
         (answered == 1 ? "the one answered case"
                        : "all " + std::to_string(answered) + " answered cases") +
         ", and in " + (have == 0 ? "none" : std::to_string(have)) + " of the " +
         std::to_string(cases.unsupported.size()) + " unsupported";
}

// The reason of most unsupported cases.
std::pair<std::string, size_t> CommonReason(const Cases& cases) {
  return *std::ranges::max_element(cases.reasons, {},
                                   &std::pair<const std::string, size_t>::second);
}

std::vector<std::string> ExampleOf(const Case& c) {
  std::vector<std::string> words;
  for (const std::string& width : WidthsOf(c)) words.push_back(width + "=64");
  words.push_back("dtype=bf16");
  return words;
}

// The words of cases that the subject is likely to support; if nothing tells, an example.
std::string WordsToAsk(const Cases& cases, const std::vector<Shared>& shared) {
  std::vector<std::string> words;
  if (!cases.answered.empty()) {
    const Words& first = cases.answered.front();
    const auto add = [&](const std::string& key) {
      const auto at = std::ranges::find(first, key, &Words::value_type::first);
      if (at == first.end() || at->second.empty()) return;
      const std::string word = key + "=" + at->second;
      if (std::ranges::count(words, word) == 0) words.push_back(word);
    };
    const std::vector<std::string> widths = WidthsOf(Case::Parse(cases.unsupported_line));
    for (const Shared& one : shared) {
      const std::string& key = first[one.at].first;
      const size_t equal = key.find('=');
      // Widths depend on each other: a kernel with E=64 seldom has another D than 64.
      if (std::ranges::count(widths, key.substr(0, equal)) > 0) std::ranges::for_each(widths, add);
      if (equal != key.npos) add(key.substr(equal + 1));
      add(key.substr(0, equal));
    }
  } else {
    const Case c = Case::Parse(cases.unsupported_line);
    for (const std::string& word : WordsIn(CommonReason(cases).first)) {
      try {
        c.With(word);
        words.push_back(word);
      } catch (const Error&) {
      }
    }
  }
  if (words.empty()) words = ExampleOf(Case::Parse(cases.unsupported_line));
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The words, and those of `more` whose keys they do not have.
std::string Merged(const std::string& words, const std::string& more) {
  std::string all = words;
  for (const std::string& word : WordsIn(more)) {
    const std::string key = word.substr(0, word.find('=') + 1);
    if ((" " + all).find(" " + key) == std::string::npos) all += (all.empty() ? "" : " ") + word;
  }
  return all;
}

// In the order of their first case.
std::vector<std::pair<std::string, Cases>> CasesByOperation(const Report& report) {
  std::vector<std::pair<std::string, Cases>> all;
  for (const Verdict& verdict : report.verdicts) {
    const bool is_unsupported = report.Assess(verdict).result == Result::kUnsupported;
    if (!is_unsupported && verdict.tensors.empty()) continue;
    const Case c = Case::Parse(verdict.case_line);
    if (std::ranges::count(all, c.name(), &std::pair<std::string, Cases>::first) == 0)
      all.push_back({c.name(), {}});
    Cases& cases = std::ranges::find(all, c.name(), &std::pair<std::string, Cases>::first)->second;
    (is_unsupported ? cases.unsupported : cases.answered).push_back(WordsToCompare(c));
    if (!is_unsupported) continue;
    ++cases.reasons[verdict.message.substr(0, verdict.message.find('\n'))];
    if (cases.unsupported_line.empty()) cases.unsupported_line = verdict.case_line;
  }
  return all;
}

}  // namespace

std::vector<std::string> AdviceOf(const Report& report) {
  const size_t all = report.verdicts.size();
  const auto unsupported =
      static_cast<size_t>(std::ranges::count_if(report.verdicts, [&](const Verdict& verdict) {
        return report.Assess(verdict).result == Result::kUnsupported;
      }));
  if (all < kFewestCases || 2 * unsupported <= all) return {};
  std::vector<std::string> lines = {std::to_string(unsupported) + " of " + CountText(all, "case") +
                                    " are unsupported:"};
  auto operations = CasesByOperation(report);
  const auto is_answered = [](const auto& one) { return !one.second.answered.empty(); };
  if (std::ranges::any_of(operations, is_answered))
    std::erase_if(operations, std::not_fn(is_answered));
  if (operations.size() > kMostOperations) operations.resize(kMostOperations);
  std::string ask;
  for (const auto& [name, cases] : operations) {
    if (cases.unsupported.empty()) continue;
    const auto shared = cases.answered.empty() ? std::vector<Shared>() : SharedWords(cases);
    if (ask.empty()) ask = WordsToAsk(cases, shared);
    if (!shared.empty()) {
      lines.push_back(name + ": " + SharedText(cases, shared));
    } else {
      const auto [reason, count] = CommonReason(cases);
      lines.push_back(name + ": " + std::to_string(count) + " of the " +
                      std::to_string(cases.unsupported.size()) + " unsupported because: " + reason);
    }
  }
  const bool lacks_parameter = std::ranges::all_of(operations, [](const auto& one) {
    return one.second.answered.empty() &&
           CommonReason(one.second).first.find("takes no '") != std::string::npos;
  });
  if (lacks_parameter) return lines;  // no words help
  const std::string all_words = Merged(report.with, ask);
  const std::string with = " --with " + PrintableWord(all_words);
  for (const std::string& file : report.real_cases)
    lines.push_back("the shapes of real kernels: sextant check " + PrintableWord(file) +
                    " --subject " + PrintableWord(report.subject) + with);
  if (all_words != report.with)
    lines.push_back("these cases with the words of your kernel:" + with);
  if (!report.supported_only)
    lines.push_back("to accept that the subject declines cases: --supported-only");
  return lines;
}

}  // namespace sextant::tools
