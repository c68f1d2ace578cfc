#include "oracle/attention/measured/heads.h"

#include <array>
#include <memory>

#include "oracle/attention/attention_parts.h"
#include "oracle/diagnosis/choices.h"

namespace sextant::oracle {
namespace {

struct HeadMap {
  const char* text;
  size_t (*head)(size_t h, size_t H, size_t K);
};
constexpr HeadMap kMaps[] = {
    {"h % K", [](size_t h, size_t, size_t K) { return h % K; }},
    {"0", [](size_t, size_t, size_t) { return size_t{0}; }},
    {"K - 1", [](size_t, size_t, size_t K) { return K - 1; }},
    {"K - 1 - h / (H/K)", [](size_t h, size_t H, size_t K) { return K - 1 - h * K / H; }},
    {"(h / (H/K) + 1) % K", [](size_t h, size_t H, size_t K) { return (h * K / H + 1) % K; }},
    {"min(h, K - 1)", [](size_t h, size_t, size_t K) { return h < K ? h : K - 1; }},
    {"h / K % K", [](size_t h, size_t, size_t K) { return h / K % K; }},
    {"h / 2 % K", [](size_t h, size_t, size_t K) { return h / 2 % K; }},
};
enum Reads { kBoth, kKeys, kValues };

std::string SentenceOfHeads(const HeadMap& map, Reads reads, size_t H, size_t K) {
  const std::array<const char*, 3> heads = {"key and value", "key", "value"};
  return std::string("query head h reads ") + heads[reads] + " head " + map.text +
         ", expected h / (H/K), for H = " + std::to_string(H) + " and K = " + std::to_string(K);
}

std::vector<size_t> HeadsBy(const HeadMap& map, size_t H, size_t K) {
  std::vector<size_t> heads;
  for (size_t h = 0; h < H; ++h) heads.push_back(map.head(h, H, K));
  return heads;
}

}  // namespace

Deviation HeadsOf(const Case& c, const std::shared_ptr<const Tensors>& inputs,
                  const WithParts& with_parts) {
  const size_t H = ExtentOf(c, "H"), K = ExtentOf(c, "K");
  const HeadMap right{"", [](size_t h, size_t heads, size_t shared) { return h * shared / heads; }};
  std::vector<Choice> choices;
  if (K < 2) return OneOf("heads_changed", "heads", choices);
  const auto expected = HeadsBy(right, H, K);
  for (const Reads reads : {kBoth, kKeys, kValues}) {
    for (const HeadMap& map : kMaps) {
      const auto heads = HeadsBy(map, H, K);
      if (heads == expected) continue;
      const auto edit = [=](MeasuredParts& parts) {
        parts.inputs = inputs;
        parts.key_heads = reads == kValues ? expected : heads;
        parts.value_heads = reads == kKeys ? expected : heads;
      };
      choices.push_back({SentenceOfHeads(map, reads, H, K), [=](const Hypothesis& base) {
                           return std::optional(Hypothesis{with_parts(*base.operation, edit),
                                                           base.inputs, base.recipe});
                         }});
    }
  }
  return OneOf("heads_changed", "heads", choices);
}

}  // namespace sextant::oracle
