#include "oracle/attention/measured/relative.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "oracle/attention/measured/attention.h"
#include "oracle/attention/measured/relative_parts.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/position/measured/attributes.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

using PartsEdit = std::function<void(RelativeParts& parts)>;
Choice Parts(const std::string& sentence, const PartsEdit& edit) {
  return {sentence, [edit](const Hypothesis& base) {
            const auto edit_with_inputs = [&](RelativeByParts& op) {
              edit(op.parts);
              const bool reads_others =
                  op.parts.term || !op.parts.key_heads.empty() || !op.parts.value_heads.empty();
              if (reads_others) op.parts.inputs = std::make_shared<const Tensors>(base.inputs);
            };
            return std::optional(Edited<RelativeByParts>(base, edit_with_inputs));
          }};
}

// The distance d = j - i of a key is read as another one, and then clipped.
Choice Distance(const std::string& text, std::function<int64_t(const RelativeKey& key)> of) {
  return Parts("the rows of both tables are read at other distances: " + text,
               [of](RelativeParts& parts) {
                 parts.row = [of](const RelativeKey& key, int64_t clip) {
                   return std::clamp(of(key), -clip, clip) + clip;
                 };
               });
}

// The row of the clipped distance is replaced by another one.
Choice Row(const std::string& text, std::function<int64_t(int64_t row, int64_t clip)> of) {
  return Parts("the rows of both tables are read at other distances: " + text,
               [of](RelativeParts& parts) {
                 parts.row = [of](const RelativeKey& key, int64_t clip) {
                   return of(RelativeAttention::RowOf(key.i, key.j, clip), clip);
                 };
               });
}

int64_t DistanceOf(const RelativeKey& key) { return key.j - key.i; }
int64_t RightRow(const RelativeKey& key, int64_t clip) {
  return RelativeAttention::RowOf(key.i, key.j, clip);
}

std::vector<Choice> OtherDistances() {
  return {
      Distance("d as |d|: keys before the query act as keys after it",
               [](const RelativeKey& key) { return std::abs(DistanceOf(key)); }),
      Distance("d as -|d|: keys after the query act as keys before it",
               [](const RelativeKey& key) { return -std::abs(DistanceOf(key)); }),
      Distance("d as -d: the sign is exchanged",
               [](const RelativeKey& key) { return -DistanceOf(key); }),
      Distance("those of keys after the query as 0",
               [](const RelativeKey& key) { return std::min<int64_t>(DistanceOf(key), 0); }),
      Distance("those of keys before the query as 0",
               [](const RelativeKey& key) { return std::max<int64_t>(DistanceOf(key), 0); }),
      Distance("those of the indices, t - s, not of the positions",
               [](const RelativeKey& key) { return key.t - key.s; }),
      Distance("d divided by 2, rounded down",
               [](const RelativeKey& key) { return DistanceOf(key) >> 1; }),
      Distance("d divided by 2, rounded towards 0",
               [](const RelativeKey& key) { return DistanceOf(key) / 2; }),
      Distance("d multiplied by 2", [](const RelativeKey& key) { return 2 * DistanceOf(key); })};
}

// Rows of one table or of both that are those of nearer distances on one side, or on both.
std::vector<Choice> NearerClips(int64_t clip) {
  std::vector<Choice> choices;
  const auto add = [&](const std::string& text, int64_t least, int64_t most) {
    const TableRow row = [=](const RelativeKey& key, int64_t c) {
      return std::clamp(DistanceOf(key), least, most) + c;
    };
    const bool is_usual = least == -most && most > 0;  // one of Distances
    if (!is_usual)
      choices.push_back(Parts("distances " + text, [=](RelativeParts& parts) { parts.row = row; }));
    choices.push_back(Parts("distances " + text + ", in the value table alone",
                            [=](RelativeParts& parts) { parts.value_row = row; }));
    choices.push_back(
        Parts("distances " + text + ", in the key table alone", [=](RelativeParts& parts) {
          parts.row = row;
          parts.value_row = RightRow;
        }));
  };
  const std::string expected = ", expected a clip of " + std::to_string(clip);
  for (int64_t nearer = clip - 1; nearer >= 0; --nearer) {
    const std::string limit = std::to_string(nearer);
    add("are clipped at " + limit + expected, -nearer, nearer);
    add("of keys before the query are clipped at " + limit + expected, -nearer, clip);
    add("of keys after the query are clipped at " + limit + expected, -clip, nearer);
  }
  return choices;
}

using TermOf = std::function<TableTerm(const RelativeKey& key, int64_t clip)>;
Choice Term(const std::string& text, const TermOf& of) {
  return Parts(text, [of](RelativeParts& parts) { parts.term = of; });
}

std::optional<int64_t> NoneBeyondClip(const RelativeKey& key, int64_t clip) {
  if (std::abs(DistanceOf(key)) > clip) return std::nullopt;
  return RightRow(key, clip);
}

// Each row of products with the rows of distances S - 1 back to 0 is moved by one more. Only for as
// many keys as queries: the next query of a key after the own one always exists.
TermOf Skewed(int64_t S) {
  return [S](const RelativeKey& key, int64_t clip) {
    if (key.t <= key.s) return TableTerm{RightRow(key, clip), key.s};
    if (key.t == key.s + 1) return TableTerm{std::nullopt, key.s};
    const int64_t distance = key.t - key.s - 2 - (S - 1);
    return TableTerm{std::clamp(distance, -clip, clip) + clip, key.s + 1};
  };
}

// Terms of the key table that are missing, or that are products with other rows.
std::vector<Choice> TableTerms(int64_t S, int64_t T) {
  std::vector<Choice> choices = {
      Parts("keys farther than the clip have no row of the tables: 0 is added",
            [](RelativeParts& parts) { parts.row = NoneBeyondClip; }),
      Term("keys farther than the clip have no row of the key table: 0 is added",
           [](const RelativeKey& key, int64_t clip) {
             return TableTerm{NoneBeyondClip(key, clip), key.s};
           }),
      Term("the key table is multiplied by the key instead of the query",
           [](const RelativeKey& key, int64_t clip) {
             return TableTerm{RightRow(key, clip), key.s, true};
           })};
  if (S == T) {
    choices.push_back(
        Term("the terms of the key table are skewed without a mask: keys after the query have "
             "those of the next query, of the farthest distances on",
             Skewed(S)));
  }
  for (const int64_t shift : {1, -1}) {
    const std::string other = shift > 0 ? "next query" : "query before";
    choices.push_back(Term(
        "the term of the key table is that of the " + other + ", around the end",
        [=](const RelativeKey& key, int64_t clip) {
          const int64_t query = (key.s + shift + S) % S;
          return TableTerm{RelativeAttention::RowOf(key.i + query - key.s, key.j, clip), query};
        }));
  }
  return choices;
}

std::vector<Choice> Distances(int64_t clip) {
  std::vector<Choice> choices = OtherDistances();
  for (const int64_t shift : {1, -1, 2, -2, 3, -3, 4, -4}) {
    const std::string text = std::to_string(std::abs(shift)) + (shift > 0 ? " more" : " less");
    choices.push_back(Distance(
        "d shifted: " + text, [shift](const RelativeKey& key) { return DistanceOf(key) + shift; }));
    choices.push_back(
        Row("the rows shifted after the clip: " + text,
            [shift](int64_t r, int64_t c) { return std::clamp<int64_t>(r + shift, 0, 2 * c); }));
  }
  choices.push_back(
      Parts("the rows of both tables are read at other distances: those beyond the clip of " +
                std::to_string(clip) + " wrap around",
            [](RelativeParts& parts) {
              parts.row = [](const RelativeKey& key, int64_t c) {
                const int64_t rows = 2 * c + 1, row = (DistanceOf(key) + c) % rows;
                return row < 0 ? row + rows : row;
              };
            }));
  for (int64_t nearer = clip - 1; nearer > 0; --nearer) {
    choices.push_back(Distance(
        "those beyond " + std::to_string(nearer) + " as " + std::to_string(nearer) +
            ", expected a clip of " + std::to_string(clip),
        [nearer](const RelativeKey& key) { return std::clamp(DistanceOf(key), -nearer, nearer); }));
  }
  return choices;
}

std::vector<Choice> Keys(int64_t T) {
  const auto sees = [](const std::string& text, std::function<bool(const RelativeKey&)> of) {
    return Parts(text, [of](RelativeParts& parts) { parts.sees = of; });
  };
  std::vector<Choice> choices = {
      sees("a causal mask: keys after the query's position are not seen",
           [](const RelativeKey& key) { return key.j <= key.i; }),
      sees("a causal mask of indices: key t is seen if t <= s",
           [](const RelativeKey& key) { return key.t <= key.s; }),
      sees("a query does not see the key at its own position: masked or lost",
           [](const RelativeKey& key) { return key.j != key.i; })};
  for (int64_t few = 1; few <= std::min<int64_t>(4, T - 1); ++few) {
    const std::string count = few == 1 ? "key is" : std::to_string(few) + " keys are";
    choices.push_back(sees("the last " + count + " missing",
                           [=](const RelativeKey& key) { return key.t < T - few; }));
    choices.push_back(sees("the first " + count + " missing",
                           [=](const RelativeKey& key) { return key.t >= few; }));
  }
  for (const int64_t each : {2, 4, 8, 16}) {
    if (each >= T) break;
    choices.push_back(
        sees("key " + std::to_string(each - 1) + " of each " + std::to_string(each) + " is missing",
             [=](const RelativeKey& key) { return key.t % each != each - 1; }));
    if (T % each != 0)
      choices.push_back(sees("keys from " + std::to_string(T / each * each) +
                                 " on are missing: the remainder of tiles of " +
                                 std::to_string(each),
                             [=](const RelativeKey& key) { return key.t < T / each * each; }));
  }
  return choices;
}

// Other heads of the keys or of the values.
std::vector<Choice> Heads(size_t H, bool of_keys) {
  std::vector<Choice> choices;
  const auto add = [&](const std::string& text, const std::function<size_t(size_t h)>& of) {
    std::vector<size_t> heads;
    for (size_t h = 0; h < H; ++h) heads.push_back(of(h));
    choices.push_back(Parts(
        "head h reads the " + std::string(of_keys ? "keys" : "values") + " of head " + text,
        [=](RelativeParts& parts) { (of_keys ? parts.key_heads : parts.value_heads) = heads; }));
  };
  for (size_t one = 0; one < H && H > 1; ++one)
    add(std::to_string(one), [one](size_t) { return one; });
  for (size_t shift = 1; shift < H; ++shift) {
    add("(h + " + std::to_string(shift) + ") mod " + std::to_string(H),
        [=](size_t h) { return (h + shift) % H; });
  }
  if (H > 2) add("H - 1 - h", [H](size_t h) { return H - 1 - h; });
  if (H > 3) add("h / 2", [](size_t h) { return h / 2; });
  if (H > 2) add("h / 2 * 2", [](size_t h) { return h / 2 * 2; });
  return choices;
}

// A cap, which is not expected, and the scores of the key table with a factor of their own.
std::vector<Deviation> OfScores(const Case& c) {
  std::vector<Choice> caps, factors;
  for (const double cap : {1, 2, 3, 4, 5, 10, 15, 20, 30, 50}) {
    caps.push_back(Parts("no cap is expected, scores are capped at " + PrintValue(cap),
                         [cap](RelativeParts& parts) { parts.cap = cap; }));
  }
  const double root = std::sqrt(static_cast<double>(ExtentOf(c, "D")));
  const double scale = NumberOf(c, "scale", 1 / root);
  const std::vector<NamedValue> of_table = {{1 / scale, "not multiplied by the scale"},
                                            {scale, "multiplied by the scale twice"}};
  for (const auto& [factor, text] : of_table) {
    factors.push_back(Parts("the scores of the key table are " + text,
                            [factor](RelativeParts& parts) { parts.table_factor = factor; }));
  }
  return {OneOf("soft_cap_added", "soft_cap", caps),
          OneOf("table_scores_scaled", "table_scores", factors)};
}

}  // namespace

std::vector<Explanation> MeasureRelative(const Observation& seen) {
  const auto clip = static_cast<int64_t>(NumberOf(seen.c, "clip", 0));
  const size_t H = ExtentOf(seen.c, "H");
  std::vector<Deviation> likely = OfScores(seen.c);
  likely.push_back(OneOf("keys_heads_changed", "key_heads", Heads(H, true)));
  likely.push_back(OneOf("values_heads_changed", "value_heads", Heads(H, false)));
  const auto T = static_cast<int64_t>(ExtentOf(seen.c, "T"));
  likely.push_back(OneOf("keys_changed", "keys", Keys(T)));
  if (clip > 0) likely.push_back(OneOf("distances_changed", "distances", Distances(clip)));
  std::vector<Deviation> others = PositionDeviations(seen.inputs);
  if (clip > 0) others.push_back(OneOf("clip_changed", "distances", NearerClips(clip)));
  const auto S = static_cast<int64_t>(ExtentOf(seen.c, "S"));
  if (S > 0) others.push_back(OneOf("table_terms_changed", "key_table_terms", TableTerms(S, T)));
  for (Deviation& change : InputChanges(seen.c, seen.inputs))
    (change.factor.ends_with("_table") ? likely : others).push_back(std::move(change));
  likely = Joined<Deviation>({std::move(likely), AttentionDeviations(seen.c, seen.inputs)});
  const auto operation = std::make_shared<Wrapped<RelativeByParts, false>>();
  CopyAttributes(seen.c, *operation);
  const Hypothesis base{operation, SharedInputs::Of(seen.inputs), seen.recipe};
  // Pairs of all of them would be too many.
  std::vector<Explanation> found = FittedTo(seen, base, likely);
  if (!found.empty()) return found;
  return FittedTo(seen, base,
                  Joined<Deviation>({likely, AttributeDeviations(seen.c), std::move(others)}));
}

}  // namespace sextant::oracle
