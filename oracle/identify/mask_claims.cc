#include "oracle/identify/mask_claims.h"

#include <algorithm>
#include <set>

#include "oracle/identify/mean_of_values.h"
#include "reference/attention/attention_mask.h"

namespace sextant::oracle {
namespace {

// The keys that query s of the first head sees; empty if the answer is not their mean.
using SeenKeys = std::vector<std::optional<KeyRange>>;

SeenKeys SeenKeysOf(const MeansOfValues& means) {
  SeenKeys seen;
  for (size_t s = 0; s < means.S(); ++s) seen.push_back(means.KeysOf(0, s, 0));
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

// The mask with segments that begin, or begin and end, where ranges of seen keys do.
std::vector<AttentionMask> WithSegments(const AttentionMask& mask, const SeenKeys& seen) {
  std::set<int64_t> begins, limits;
  for (const auto& keys : seen) {
    if (!keys || keys->IsEmpty()) continue;
    begins.insert(static_cast<int64_t>(keys->first));
    limits.insert({static_cast<int64_t>(keys->first), static_cast<int64_t>(keys->last)});
  }
  std::vector<AttentionMask> masks;
  for (const auto& all : {begins, limits}) {
    IntegerList lengths;
    int64_t begin = 0;
    for (const int64_t limit : all) {
      if (limit == 0 || limit == mask.T.value) continue;
      lengths.push_back(limit - begin);
      begin = limit;
    }
    if (lengths.empty()) continue;
    masks.push_back(mask);
    masks.back().segments = lengths;
  }
  return masks;
}

// The mask as it is, and in chunks of every size.
std::vector<AttentionMask> WithChunks(const AttentionMask& mask) {
  std::vector<AttentionMask> masks = {mask};
  for (int64_t chunk = 2; chunk <= mask.T.value; ++chunk) {
    masks.push_back(mask);
    masks.back().chunk = chunk;
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
  const auto try_both = [&](AttentionMask mask) {
    for (const Mask kind : {Mask::kNone, Mask::kCausal}) {
      mask.mask = kind;
      if (Agrees(mask, seen)) possible.push_back(mask);
    }
  };
  for (const bool is_short : {false, true}) {
    if (is_short) all.key_length = IntegerList{static_cast<int64_t>(last)};
    for (const AttentionMask& placed : WithPlaces(all)) {
      for (const AttentionMask& mask : WithWindows(placed, seen)) {
        for (const AttentionMask& chunked : WithChunks(mask)) try_both(chunked);
      }
      for (const AttentionMask& mask : WithSegments(placed, seen)) try_both(mask);
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

// True if the mask and the window both limit the later keys.
bool LimitsTwice(const AttentionMask& mask) {
  return mask.mask == Mask::kCausal && mask.window && mask.window->at(1) >= 0;
}

// The number of attributes whose text differs.
std::ptrdiff_t ChangesOf(const Claim& claim, const Claim& from) {
  return std::ranges::count_if(
      claim, [&](const auto& word) { return from.at(word.first) != word.second; });
}

}  // namespace

std::optional<Claim> MaskClaim(const Claim& asked, const std::vector<Exchange>& exchanges) {
  Claim free;
  for (const Attribute& attribute : AttributesOf(AttentionMask{})) {
    const auto at = asked.find(attribute.name);
    if (at != asked.end() && !attribute.dimension) free.insert(*at);
  }
  const std::optional<MeansOfValues> means = MeansOfValues::In(exchanges);
  if (free.empty() || !means) return std::nullopt;
  const SeenKeys seen = SeenKeysOf(*means);
  const auto is_seen = [](const auto& keys) { return keys.has_value(); };
  if (std::ranges::none_of(seen, is_seen)) return std::nullopt;  // no answer is a mean
  const bool has_zeros = std::ranges::any_of(seen, [](const auto& s) { return s && s->IsEmpty(); });
  // The simplest first, of which each limit says something that the others do not.
  std::set<std::tuple<std::ptrdiff_t, bool, size_t, Claim>> masks;
  for (AttentionMask mask : PossibleMasks(means->c(), seen)) {
    if (has_zeros) mask.empty_rows = EmptyRows::kZero;
    if (const auto claim = WithMask(free, mask, ClaimOf(means->c())))
      masks.emplace(ChangesOf(*claim, free), LimitsTwice(mask), FormOf(*claim).size(), *claim);
  }
  return masks.empty() ? std::nullopt : std::optional(std::get<Claim>(*masks.begin()));
}

}  // namespace sextant::oracle
