#include "reference/case/former_names.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "reference/base/error.h"

namespace sextant {
namespace {

struct FormerWord {
  std::string_view former, today;  // `today` is empty if the word is left out
};
constexpr FormerWord kNames[] = {
    {"attention_bias", "attention with=bias"},
    {"attention_sink", "attention with=sink"},
    {"linear_bias", "linear with=bias"},
    {"feed_forward_bias", "feed_forward with=gate_bias,up_bias,down_bias"},
    {"decoder_block_normed", "decoder_block"},
};
// Only in lines of these operations.
constexpr FormerWord kAttributes[] = {
    {"scale_bias=true", "add_bias=before_scale"},
    {"scale_bias=false", ""},
    {"qk_norm=none", ""},
};

}  // namespace

std::optional<std::string> LineOfToday(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::string word;
  in >> word;
  const auto* const name = std::ranges::find(kNames, word, &FormerWord::former);
  if (name == std::end(kNames)) return std::nullopt;
  std::string today(name->today);
  while (in >> word && word[0] != '#') {
    const auto* const at = std::ranges::find(kAttributes, word, &FormerWord::former);
    if (at != std::end(kAttributes)) word = at->today;
    if (!word.empty()) today += " " + word;
  }
  return today;
}

void RequireNamesOfToday(const std::string& where, std::string_view pattern) {
  const auto is_of_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  for (auto begin = pattern.begin(); begin != pattern.end();) {
    const auto end = std::find_if_not(begin, pattern.end(), is_of_name);
    const std::string_view word(begin, end);
    if (const auto* name = std::ranges::find(kNames, word, &FormerWord::former);
        name != std::end(kNames))
      throw Error(where, ": '", word, "' is called '", name->today, "' now");
    begin = end == pattern.end() ? end : end + 1;
  }
}

}  // namespace sextant
