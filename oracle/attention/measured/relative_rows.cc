#include "oracle/attention/measured/relative_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "oracle/attention/measured/relative_parts.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

// The distance d = j - i of a key is read as another one, and then clipped.
Choice Distance(const std::string& text, std::function<int64_t(const RelativeKey& key)> of) {
  return ChangedParts("the rows of both tables are read at other distances: " + text,
                      [of](RelativeParts& parts) {
                        parts.row = [of](const RelativeKey& key, int64_t clip) {
                          return std::clamp(of(key), -clip, clip) + clip;
                        };
                      });
}

// The row of the clipped distance is replaced by another one.
Choice RowChoice(const std::string& text, std::function<int64_t(int64_t row, int64_t clip)> of) {
  return ChangedParts("the rows of both tables are read at other distances: " + text,
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

// Clips less than the right one: all if there are few; else the nearest ones and those by halves.
std::vector<int64_t> NearerThan(int64_t clip) {
  constexpr int64_t kFew = 16, kNearest = 8;
  std::vector<int64_t> nearer;
  for (int64_t c = clip - 1; c >= 0 && (clip <= kFew || c >= clip - kNearest); --c)
    nearer.push_back(c);
  if (clip <= kFew) return nearer;
  for (int64_t c = clip / 2; c > 0; c /= 2)
    if (c < nearer.back()) nearer.push_back(c);
  nearer.push_back(0);
  return nearer;
}

// Rows of one table or of both that are those of nearer distances on one side, or on both. No
// distance is larger than `farthest`.
std::vector<Choice> NearerClips(int64_t clip, int64_t farthest) {
  std::vector<Choice> choices;
  const auto add = [&](const std::string& text, int64_t least, int64_t most) {
    const TableRow row = [=](const RelativeKey& key, int64_t c) {
      return std::clamp(DistanceOf(key), least, most) + c;
    };
    const bool is_usual = least == -most && most > 0;  // one of Distances
    if (!is_usual)
      choices.push_back(
          ChangedParts("distances " + text, [=](RelativeParts& parts) { parts.row = row; }));
    choices.push_back(ChangedParts("distances " + text + ", in the value table alone",
                                   [=](RelativeParts& parts) { parts.value_row = row; }));
    choices.push_back(
        ChangedParts("distances " + text + ", in the key table alone", [=](RelativeParts& parts) {
          parts.row = row;
          parts.value_row = RightRow;
        }));
  };
  const std::string expected = ", expected a clip of " + std::to_string(clip);
  for (const int64_t nearer : NearerThan(std::min(clip, farthest))) {
    const std::string limit = std::to_string(nearer);
    add("are clipped at " + limit + expected, -nearer, nearer);
    add("of keys before the query are clipped at " + limit + expected, -nearer, clip);
    add("of keys after the query are clipped at " + limit + expected, -clip, nearer);
  }
  return choices;
}

using TermOf = std::function<TableTerm(const RelativeKey& key, int64_t clip)>;
Choice Term(const std::string& text, const TermOf& of) {
  return ChangedParts(text, [of](RelativeParts& parts) { parts.term = of; });
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

// Terms of the key table that are missing, or that are products with other rows. Query s is at
// position query[s].
std::vector<Choice> TableTerms(const std::vector<double>& query, int64_t T) {
  const auto S = static_cast<int64_t>(query.size());
  std::vector<Choice> choices = {
      ChangedParts("keys farther than the clip have no row of the tables: 0 is added",
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
    choices.push_back(Term("the term of the key table is that of the " + other + ", around the end",
                           [=](const RelativeKey& key, int64_t clip) {
                             const int64_t s = (key.s + shift + S) % S;
                             const auto i = static_cast<int64_t>(query[static_cast<size_t>(s)]);
                             return TableTerm{RelativeAttention::RowOf(i, key.j, clip), s};
                           }));
  }
  return choices;
}

// No distance is larger than `farthest`.
std::vector<Choice> Distances(int64_t clip, int64_t farthest) {
  std::vector<Choice> choices = OtherDistances();
  for (const int64_t shift : {1, -1, 2, -2, 3, -3, 4, -4}) {
    const std::string text = std::to_string(std::abs(shift)) + (shift > 0 ? " more" : " less");
    choices.push_back(Distance(
        "d shifted: " + text, [shift](const RelativeKey& key) { return DistanceOf(key) + shift; }));
    choices.push_back(RowChoice(
        "the rows shifted after the clip: " + text,
        [shift](int64_t r, int64_t c) { return std::clamp<int64_t>(r + shift, 0, 2 * c); }));
  }
  choices.push_back(ChangedParts(
      "the rows of both tables are read at other distances: those beyond the clip of " +
          std::to_string(clip) + " wrap around",
      [](RelativeParts& parts) {
        parts.row = [](const RelativeKey& key, int64_t c) {
          const int64_t rows = 2 * c + 1, row = (DistanceOf(key) + c) % rows;
          return row < 0 ? row + rows : row;
        };
      }));
  for (const int64_t nearer : NearerThan(std::min(clip, farthest))) {
    if (nearer == 0) break;  // no distance would have an effect
    choices.push_back(Distance(
        "those beyond " + std::to_string(nearer) + " as " + std::to_string(nearer) +
            ", expected a clip of " + std::to_string(clip),
        [nearer](const RelativeKey& key) { return std::clamp(DistanceOf(key), -nearer, nearer); }));
  }
  return choices;
}

// The largest |j - i|.
int64_t FarthestIn(const Tensors& inputs) {
  const std::vector<double>&query = InputNamed(inputs, "query_position").data,
        &key = InputNamed(inputs, "key_position").data;
  if (query.empty() || key.empty()) return 0;
  const auto [first_query, last_query] = std::ranges::minmax(query);
  const auto [first_key, last_key] = std::ranges::minmax(key);
  return static_cast<int64_t>(std::max(last_key - first_query, last_query - first_key));
}

int64_t ClipOf(const Case& c) { return static_cast<int64_t>(NumberOf(c, "clip", 0)); }

}  // namespace

std::vector<Deviation> DistancesOfTables(const Observation& seen) {
  const int64_t clip = ClipOf(seen.c);
  if (clip == 0) return {};
  return {OneOf("distances_changed", "distances", Distances(clip, FarthestIn(seen.inputs)))};
}

std::vector<Deviation> RowsOfTables(const Observation& seen) {
  std::vector<Deviation> rare;
  if (const int64_t clip = ClipOf(seen.c); clip > 0) {
    rare.push_back(OneOf("clip_changed", "distances", NearerClips(clip, FarthestIn(seen.inputs))));
  }
  const auto T = static_cast<int64_t>(ExtentOf(seen.c, "T"));
  rare.push_back(OneOf("table_terms_changed", "key_table_terms",
                       TableTerms(InputNamed(seen.inputs, "query_position").data, T)));
  return rare;
}

}  // namespace sextant::oracle
