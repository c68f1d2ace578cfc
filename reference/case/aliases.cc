#include "reference/case/aliases.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "reference/case/case.h"
#include "reference/case/operations.h"

namespace sextant {
namespace {

struct Alias {
  std::string_view word, ours;
  std::string_view remark{};  // where frameworks differ
};

// Attributes and dimensions.
constexpr Alias kKeys[] = {
    {"theta", "base"},
    {"rope_theta", "base"},
    {"rotary_dim", "R"},
    {"rms_norm_eps", "eps"},
    {"layer_norm_eps", "eps"},
    {"variance_epsilon", "eps"},
    {"epsilon", "eps"},
    {"hidden_size", "M"},
    {"head_dim", "D"},
    {"num_heads", "H"},
    {"num_attention_heads", "H"},
    {"num_kv_heads", "K"},
    {"num_key_value_heads", "K"},
    {"sliding_window", "window",
     "the query's own key counts, as in Hugging Face; window_size=(l,r) of flash-attn, where it "
     "does not count, is window=[l,r]"},
};

// Values of `kind`. With `activation` or `gated` before it, each kind is the name of an operation.
constexpr Alias kKinds[] = {
    {"silu", "swish"},
    {"gelu", "gelu", "the exact one, by erf; jax.nn.gelu is by default gelu_tanh"},
};

const Operation* OperationNamed(std::string_view name) {
  static const std::vector<std::unique_ptr<Operation>> kAll = AllOperations();
  const auto at =
      std::ranges::find(kAll, name, [](const auto& operation) { return operation->info().name; });
  return at == kAll.end() ? nullptr : at->get();
}

const Alias* Find(std::span<const Alias> aliases, std::string_view word) {
  const auto at = std::ranges::find(aliases, word, &Alias::word);
  return at == aliases.end() ? nullptr : &*at;
}

std::string NoteOf(std::string_view word, std::string_view ours, std::string_view remark) {
  std::string note = std::string(word) + " is called " + std::string(ours) + " here";
  return remark.empty() ? note : note + " (" + std::string(remark) + ")";
}

bool HasKind(const Operation& operation, std::string_view kind) {
  return std::ranges::any_of(operation.Attributes(), [&](const Attribute& attribute) {
    return attribute.name == "kind" && std::ranges::count(attribute.values, kind) > 0;
  });
}

// "activation kind=swish" for "silu"; empty if there is none.
std::string OperationOfKind(std::string_view name) {
  const Alias* alias = Find(kKinds, name);
  const std::string kind(alias ? alias->ours : name);
  for (const char* operation : {"activation", "gated"}) {
    if (HasKind(*OperationNamed(operation), kind)) return std::string(operation) + " kind=" + kind;
  }
  return "";
}

// sliding_window=W sees W keys, of which the last is the query's own.
std::string WindowOf(std::string_view text) {
  int64_t keys = 0;
  try {
    ParseValue(text, keys);
  } catch (const Error&) {
    keys = 0;
  }
  if (keys < 1) throw Error("sliding_window=", text, ": expected a number of keys, 1 or more");
  return "[" + std::to_string(keys - 1) + ",0]";
}

// The word key=text in our words; empty if it is no alias. Sets the remark of the alias.
std::string OurWord(const Operation& operation, const std::string& key, const std::string& text,
                    std::string_view& remark) {
  if (const Alias* alias = Find(kKeys, key)) {
    if (Case::Has(operation, key) || !Case::Has(operation, alias->ours)) return "";
    remark = alias->remark;
    return std::string(alias->ours) + "=" + (alias->ours == "window" ? WindowOf(text) : text);
  }
  if (key == "dtype" || key.starts_with("dtype.")) {
    const auto row = std::ranges::find(kDTypeRows, text, &DTypeRow::arrays);
    return row == kDTypeRows.end() ? "" : key + "=" + std::string(row->name);
  }
  const Alias* kind = key == "kind" ? Find(kKinds, text) : nullptr;
  if (!kind || kind->ours == text || !HasKind(operation, kind->ours)) return "";
  return key + "=" + std::string(kind->ours);
}

}  // namespace

LineInOurWords InOurWords(std::string_view line) {
  LineInOurWords ours{std::string(line), {}};
  std::istringstream in(ours.line);
  std::string name;
  in >> name;
  const std::string by_kind = name.empty() || OperationNamed(name) ? "" : OperationOfKind(name);
  const std::string words = by_kind.empty() ? name : by_kind;
  const Operation* operation = OperationNamed(words.substr(0, words.find(' ')));
  if (!operation) return ours;
  std::string translated = words;
  if (!by_kind.empty()) {
    const Alias* alias = Find(kKinds, name);
    ours.notes.push_back(NoteOf(name, by_kind, alias ? alias->remark : ""));
  }
  bool is_comment = false;
  for (std::string word; in >> word;) {
    is_comment = is_comment || word[0] == '#';
    const size_t equals = is_comment ? word.npos : word.find('=');
    std::string_view remark;
    const std::string own = equals == word.npos ? ""
                                                : OurWord(*operation, word.substr(0, equals),
                                                          word.substr(equals + 1), remark);
    if (!own.empty()) ours.notes.push_back(NoteOf(word, own, remark));
    translated += " " + (own.empty() ? word : own);
  }
  if (!ours.notes.empty()) ours.line = translated;
  return ours;
}

}  // namespace sextant
