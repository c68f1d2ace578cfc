#include "oracle/rope/measured/flows.h"

#include <algorithm>
#include <cmath>

#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

// All flows but the right one, those with the fewest changes first.
std::vector<std::pair<int, Flow>> OtherFlows() {
  std::vector<std::pair<int, Flow>> all;
  for (const auto heads : {Flow::Backwards::kOddHeads, Flow::Backwards::kEvenHeads})
    all.push_back({1, {.backwards = heads}});
  using InPlace = Flow::InPlace;
  for (const InPlace in_place :
       {InPlace::kNo, InPlace::kSecondReadsFirst, InPlace::kFirstReadsSecond}) {
    for (int i = 0; i < 81; ++i) {
      const Flow flow{1 - i % 3, -(1 - i / 3 % 3), 1 - i / 9 % 3, 1 - i / 27, in_place};
      const int changes = (flow.first_cos != 1) + (flow.first_sin != -1) + (flow.second_sin != 1) +
                          (flow.second_cos != 1) + (in_place != InPlace::kNo);
      if (changes > 0) all.emplace_back(changes, flow);
    }
  }
  std::ranges::stable_sort(all, {}, [](const auto& one) { return one.first; });
  return all;
}

// "x_i cos - x_j sin"
std::string SumText(const std::string& a, int of_a, const std::string& b, int of_b) {
  const std::string first = of_a == 0 ? "" : Phrase(of_a < 0 ? "-" : "", a);
  if (of_b == 0) return first.empty() ? "0" : first;
  if (first.empty()) return Phrase(of_b < 0 ? "-" : "", b);
  return Phrase(first, of_b < 0 ? " - " : " + ", b);
}

Layout LayoutOfFlow(const Flow& flow, const RotaryModel& right, int64_t R) {
  if (flow.backwards != Flow::Backwards::kNone) {
    const bool odd = flow.backwards == Flow::Backwards::kOddHeads;
    return {"some_heads_turn_backwards",
            Phrase(odd ? "odd" : "even", " heads turn in the other direction"),
            right.read,
            right.written,
            R,
            flow};
  }
  using InPlace = Flow::InPlace;
  const bool in_place = flow.in_place != InPlace::kNo;
  const bool missing = flow.first_cos * flow.first_sin * flow.second_sin * flow.second_cos == 0;
  const bool first_reads = flow.in_place == InPlace::kFirstReadsSecond;
  const bool second_reads = flow.in_place == InPlace::kSecondReadsFirst;
  const std::string first =
      SumText("x_i cos", flow.first_cos, first_reads ? "y_j sin" : "x_j sin", flow.first_sin);
  const std::string second =
      SumText(second_reads ? "y_i sin" : "x_i sin", flow.second_sin, "x_j cos", flow.second_cos);
  return {in_place  ? "rotates_in_place"
          : missing ? "term_missing"
                    : "term_with_wrong_sign",
          Phrase(in_place  ? "the rotation is in place: "
                 : missing ? "a term is missing: "
                           : "a sign is wrong: ",
                 "channels (i, j) of a pair become y_i = ", first, ", y_j = ", second),
          right.read,
          right.written,
          R,
          flow};
}

}  // namespace

std::vector<Layout> PossibleFlows(const RotaryModel& right, int64_t R, const RotaryRows& rows,
                                  RotationErrors& errors) {
  std::vector<Layout> possible;
  int fewest = 0;
  for (const auto& [changes, flow] : OtherFlows()) {
    if (!possible.empty() && changes > fewest) break;
    RotaryModel model = right;
    model.flow = flow;
    const std::optional<PairFits> fits = FitsOf(rows, model, errors);
    if (!fits) continue;
    // Of one head, c and s always exist; only their gain is the same everywhere.
    LongRange gain{0};
    for (const PairFit& fit : fits->of)
      gain.Intersect({std::abs(fit.z) - fit.bar, std::abs(fit.z) + fit.bar});
    if (rows.replicates == 1 && gain.IsEmpty()) continue;
    fewest = changes;
    possible.push_back(LayoutOfFlow(flow, right, R));
  }
  return possible;
}

}  // namespace sextant::oracle
