#include "oracle/attention/measured/heads.h"

#include <array>
#include <memory>

#include "oracle/attention/attention_parts.h"

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
enum Reads { kBoth, kKeys, kValues, kReads };

std::string TextOf(const HeadMap& map, Reads reads, size_t H, size_t K) {
  const std::array<const char*, kReads> heads = {"key and value", "key", "value"};
  return std::string("query head h reads ") + heads[reads] + " head " + map.text +
         ", expected h / (H/K), for H = " + std::to_string(H) + " and K = " + std::to_string(K);
}

std::vector<size_t> HeadsBy(const HeadMap& map, size_t H, size_t K) {
  std::vector<size_t> heads;
  for (size_t h = 0; h < H; ++h) heads.push_back(map.head(h, H, K));
  return heads;
}

}  // namespace

Deviation HeadsOf(const Case& c, const Tensors& inputs, const WithParts& with_parts) {
  const AttentionSizes n(c);
  std::vector<NamedValue> values;
  for (size_t i = 0; n.K > 1 && i < std::size(kMaps) * kReads; ++i) {
    const auto reads = static_cast<Reads>(i / std::size(kMaps));
    values.push_back(
        {static_cast<double>(i), TextOf(kMaps[i % std::size(kMaps)], reads, n.H, n.K)});
  }
  const auto right = [](size_t h, size_t H, size_t K) { return h * K / H; };
  const auto expected = HeadsBy({"", right}, n.H, n.K);
  const auto whole = std::make_shared<const Tensors>(inputs);
  const auto changed = [=](const Hypothesis& base, double which) -> std::optional<Hypothesis> {
    const auto i = static_cast<size_t>(which);
    const auto heads = HeadsBy(kMaps[i % std::size(kMaps)], n.H, n.K);
    const size_t reads = i / std::size(kMaps);
    if (heads == expected) return std::nullopt;
    const auto edit = [&](MeasuredParts& parts) {
      parts.inputs = whole;
      parts.key_heads = reads == kValues ? expected : heads;
      parts.value_heads = reads == kKeys ? expected : heads;
    };
    return Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe};
  };
  return {.name = "heads_changed",
          .factor = "heads",
          .values = std::move(values),
          .changed = changed,
          .sentence = [](const std::string& text) { return text; }};
}

}  // namespace sextant::oracle
