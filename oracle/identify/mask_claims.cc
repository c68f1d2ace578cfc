#include "oracle/identify/mask_claims.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/probe.h"
#include "reference/attention/attention_mask.h"

namespace sextant::oracle {
namespace {

// The keys that query s of the first batch sees; empty if the answer is not their mean.
using SeenKeys = std::vector<std::optional<KeyRange>>;

const Tensor<double>* InputOf(const Exchange& witness, const std::string& name) {
  const auto at = std::ranges::find(witness.inputs, name, &NamedTensor::name);
  return at == witness.inputs.end() ? nullptr : &at->values;
}

// Of the first head: the range of keys whose mean is nearest to the answer.
std::optional<KeyRange> NearestRange(const Exchange& witness, const Tensor<double>& v,
                                     const Tensor<double>& y, size_t s) {
  const size_t T = v.shape[2], E = v.shape[3];
  const double* answer = &y.data[s * E];
  const auto is_zero = [](double value) { return value == 0; };
  if (std::all_of(answer, answer + E, is_zero)) return KeyRange{};
  const Tensor<double>* sink = InputOf(witness, "sink");
  const double other = sink ? std::exp(sink->data[0]) : 0;
  std::optional<KeyRange> nearest;
  double least = 0;  // squared distance; a mean of no key has that of 0
  for (size_t e = 0; e < E; ++e) least += answer[e] * answer[e];
  const double size = least;
  for (size_t first = 0; first < T; ++first) {
    std::vector<double> sum(E);
    for (size_t last = first + 1; last <= T; ++last) {
      const double count = static_cast<double>(last - first) + other;
      double distance = 0;
      for (size_t e = 0; e < E; ++e) {
        sum[e] += v.data[(last - 1) * E + e];
        distance += (sum[e] / count - answer[e]) * (sum[e] / count - answer[e]);
      }
      if (distance < least) nearest = {first, last}, least = distance;
    }
  }
  // One key more changes a mean of T keys by about 1/T of its size: less is a rounding.
  const auto limit = size / static_cast<double>(T * T);
  return least < limit ? nearest : std::nullopt;
}

SeenKeys SeenKeysOf(const Exchange& witness) {
  SeenKeys seen;
  const Tensor<double>* v = InputOf(witness, "v");
  const auto y = std::ranges::find(witness.answer, "y", &NamedTensor::name);
  if (!v || y == witness.answer.end()) return seen;
  for (size_t s = 0; s < y->values.shape[2]; ++s)
    seen.push_back(NearestRange(witness, *v, y->values, s));
  return seen;
}

bool Agrees(const AttentionMask& mask, const SeenKeys& seen) {
  for (size_t s = 0; s < seen.size(); ++s) {
    const KeyRange keys = mask.KeysOf(0, s);
    if (seen[s] && *seen[s] != keys) return false;
    if (!seen[s] && !keys.IsEmpty()) return false;  // only a query without keys may have any answer
  }
  return true;
}

// The mask with other limits at both sides: the narrowest window that contains the seen keys.
std::vector<AttentionMask> WithWindows(const AttentionMask& mask, const SeenKeys& seen) {
  int64_t before = 0, after = 0;
  for (size_t s = 0; s < seen.size(); ++s) {
    if (!seen[s] || seen[s]->IsEmpty()) continue;
    const int64_t i = static_cast<int64_t>(s) + mask.FirstIndex(0);
    before = std::max(before, i - static_cast<int64_t>(seen[s]->first));
    after = std::max(after, static_cast<int64_t>(seen[s]->last) - 1 - i);
  }
  std::vector<AttentionMask> masks = {mask};
  for (const auto& [l, r] : {std::pair(before, int64_t{-1}), {before, after}, {-1, after}}) {
    masks.push_back(mask);
    masks.back().window = IntegerList{l, r};
  }
  return masks;
}

// Where the first query may be: aligned, or after any number of keys.
std::vector<AttentionMask> WithPlaces(const AttentionMask& mask) {
  std::vector<AttentionMask> masks = {mask, mask};
  masks[0].align = Align::kBottomRight;
  masks[1].align = Align::kTopLeft;
  for (int64_t offset = 0; offset <= mask.T.value; ++offset) {
    masks.push_back(mask);
    masks.back().query_offset = IntegerList{offset};
  }
  return masks;
}

std::vector<AttentionMask> PossibleMasks(const Case& c, const SeenKeys& seen) {
  const auto extent = [&](const char* letter) { return c.dimensions().at(letter); };
  AttentionMask all;
  all.B.value = extent("B");
  all.S.value = extent("S");
  all.T.value = extent("T");
  size_t last = 0;
  for (const auto& keys : seen) last = std::max(last, keys ? keys->last : 0);
  std::vector<AttentionMask> possible;
  for (const bool is_short : {false, true}) {
    if (is_short) all.key_length = IntegerList{static_cast<int64_t>(last)};
    for (const AttentionMask& placed : WithPlaces(all)) {
      for (AttentionMask mask : WithWindows(placed, seen)) {
        for (const Mask kind : {Mask::kNone, Mask::kCausal}) {
          mask.mask = kind;
          for (int64_t chunk = 1; chunk <= all.T.value; ++chunk) {
            mask.chunk = chunk == 1 ? std::nullopt : std::optional(chunk);
            if (Agrees(mask, seen)) possible.push_back(mask);
          }
        }
      }
    }
  }
  return possible;
}

// The claim with the attributes of the mask; empty if one of them is known to be another.
std::optional<Claim> WithMask(Claim claim, const AttentionMask& mask, const Claim& given) {
  for (const Attribute& attribute : AttributesOf(mask)) {
    if (attribute.dimension) continue;
    const auto known = given.find(attribute.name);
    if (const auto at = claim.find(attribute.name); at != claim.end()) {
      at->second = attribute.text;
    } else if (known != given.end() && known->second != attribute.text) {
      return std::nullopt;
    }
  }
  return claim;
}

// The number of attributes whose text differs.
std::ptrdiff_t ChangesOf(const Claim& claim, const Claim& from) {
  return std::ranges::count_if(
      claim, [&](const auto& word) { return from.at(word.first) != word.second; });
}

}  // namespace

std::optional<Claim> MaskClaim(const Claim& asked, const std::vector<Exchange>& witnesses) {
  Claim free;
  for (const Attribute& attribute : AttributesOf(AttentionMask{})) {
    const auto at = asked.find(attribute.name);
    if (at != asked.end() && !attribute.dimension) free.insert(*at);
  }
  const auto at = std::ranges::find_if(witnesses, AsksForKeys, &Exchange::c);
  if (free.empty() || at == witnesses.end()) return std::nullopt;
  const SeenKeys seen = SeenKeysOf(*at);
  if (seen.empty()) return std::nullopt;
  const bool has_zeros = std::ranges::any_of(seen, [](const auto& s) { return s && s->IsEmpty(); });
  std::set<std::tuple<std::ptrdiff_t, size_t, Claim>> masks;  // the simplest first
  for (AttentionMask mask : PossibleMasks(at->c, seen)) {
    if (has_zeros) mask.empty_rows = EmptyRows::kZero;
    if (const auto claim = WithMask(free, mask, ClaimOf(at->c)))
      masks.emplace(ChangesOf(*claim, free), FormOf(*claim).size(), *claim);
  }
  return masks.empty() ? std::nullopt : std::optional(std::get<Claim>(*masks.begin()));
}

}  // namespace sextant::oracle
