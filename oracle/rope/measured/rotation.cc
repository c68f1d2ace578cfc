#include "oracle/rope/measured/rotation.h"

#include <algorithm>

#include "oracle/diagnosis/evidence.h"
#include "oracle/rope/measured/divided_tables.h"
#include "oracle/rope/measured/explained_angles.h"
#include "oracle/rope/measured/gains.h"
#include "oracle/rope/measured/growth.h"
#include "oracle/rope/measured/layout.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

// False if the configuration has no frequencies for so many pairs.
bool SetLayout(const RotaryQuestion& question, const Layout& layout, RotaryModel& model) {
  model.read = layout.read;
  model.written = layout.written;
  model.flow = layout.flow;
  model.rest = layout.rest;
  if (layout.read.size() == model.pairs.size()) return true;
  if (!question.is_configured || model.has_coordinates) return false;
  model.setting.R = layout.R;
  try {
    CheckScaling(model.scaling, model.setting);
  } catch (const Error&) {
    return false;
  }
  model.pairs.clear();
  for (int64_t k = 0; k < layout.R / 2; ++k)
    model.pairs.push_back({.k = 2 * k, .n = layout.R, .scaled_as = k});
  return true;
}

}  // namespace

Explanation ExplanationOf(const std::vector<Part>& parts, Hypothesis model) {
  std::string name, sentence;
  for (const Part& part : parts) {
    name += (name.empty() ? "" : "+") + part.name;
    sentence += (sentence.empty() ? "" : "; ") + part.sentence;
  }
  return {name, sentence, std::move(model)};
}

namespace {

// With the growth, if there is one.
std::vector<RotaryCandidate> CompletedRotations(const RotaryFit& fit,
                                                const RotaryCandidate& start) {
  std::vector<RotaryCandidate> found;
  for (const RotaryCandidate& one : CompletedWithAxes(fit, start)) {
    for (RotaryCandidate& grown : one.model.growth ? WithGrowth(fit, one) : std::vector{one}) {
      if (!grown.parts.empty()) found.push_back(std::move(grown));
    }
  }
  return found;
}

std::vector<RotaryCandidate> ExplainedRotations(const RotaryFit& measured,
                                                const RotaryCandidate& start) {
  RotaryFit fit = measured;
  RotaryCandidate one = start;
  if (auto other = WithoutOperand(fit, one))
    fit = *other;
  else if (other = WithTwoGains(fit, one); other)
    fit = *other;
  else
    SetGain(fit, one);
  std::vector<RotaryCandidate> found = CompletedRotations(fit, one);
  if (!found.empty()) return found;
  for (const auto& [other, candidate] : WithGainOfOneSide(measured, start)) {
    for (RotaryCandidate& completed : CompletedRotations(other, candidate))
      found.push_back(std::move(completed));
  }
  return found.empty() ? WithOtherTable(measured, start) : found;
}

struct TableWithoutAngles {
  Turn turn;
  const char *name, *sentence;
};
constexpr TableWithoutAngles kTables[] = {
    {Turn::kOnlySines, "sin_for_both", "sin stands in the place of cos too"},
    {Turn::kOnlyCosines, "cos_for_both", "cos stands in the place of sin too"},
    {Turn::kSineAbsolute, "sin_absolute", "sin has lost its sign: |sin|"},
    {Turn::kCosineAbsolute, "cos_absolute", "cos has lost its sign: |cos|"}};

struct OtherRestRow {
  RestRows rows;
  const char *name, *of;
};
constexpr OtherRestRow kRestRows[] = {
    {RestRows::kOfFirstToken, "rest_of_first_token", "the first token"},
    {RestRows::kOfFirstHead, "rest_of_first_head", "the first head"},
    {RestRows::kOfTokenBefore, "rest_of_token_before", "the token before"}};

// The channels outside the pairs have x of another row.
void AddRests(const RotaryQuestion& question, const RotaryCandidate& right,
              std::vector<RotaryCandidate>& all) {
  const Shape& shape = question.seen.golden[0].high.shape;
  if (shape.size() != 4) return;  // a matrix
  const size_t width = shape[3];
  std::vector<bool> is_paired(width);
  for (const PairOfChannels& pair : right.model.written)
    is_paired[pair.first] = is_paired[pair.second] = true;
  std::vector<RestChannel> outside;
  for (size_t channel = 0; channel < width; ++channel)
    if (!is_paired[channel]) outside.push_back({channel, channel, 1});
  if (outside.empty()) return;
  for (const auto& [rows, name, of] : kRestRows) {
    all.push_back(right);
    all.back().model.rest = outside;
    all.back().model.rest_rows = rows;
    all.back().parts.push_back(
        {name, "the channels outside the rotated ones are those of " + std::string(of)});
  }
}

void AddRoundings(const RotaryCandidate& right, std::vector<RotaryCandidate>& all) {
  for (const auto& [name, sentence, rounding] : UsualTableRoundings()) {
    all.push_back(right);
    all.back().model.rounding = rounding;
    all.back().parts.push_back({name, sentence});
  }
}

// Deviations that no fit of angles shows: the heads of a token turn by different angles, or the
// tables are those of no angle. Whoever asked for the measurement verifies that all numbers are
// these, on the whole answer: not of large ones.
std::vector<RotaryCandidate> WithoutAngles(const RotaryQuestion& question,
                                           const RotaryCandidate& right) {
  const size_t elements = question.seen.golden[0].high.data.size();
  if (right.model.has_coordinates || elements > Evidence::kAlways) return {};
  std::vector<RotaryCandidate> all;
  for (const auto& [turn, name, sentence] : kTables) {
    all.push_back(right);
    all.back().model.turn = turn;
    all.back().parts.push_back({name, sentence});
  }
  if (!question.seen.how.is_part && question.is_whole_answer) AddRoundings(right, all);  // many
  AddRests(question, right, all);
  if (question.heads < 2) return all;
  all.push_back(right);
  all.back().model.rows = RowPositions::kOfStoredRow;
  all.back().parts.push_back({"position_of_stored_row",
                              "positions are those of x stored as [B,S,H,D]: row h S + s has the "
                              "position of token (h S + s) / H"});
  if (question.heads > question.length) return all;
  all.push_back(right);
  all.back().model.rows = RowPositions::kOfHead;
  all.back().parts.push_back(
      {"position_of_head", "every token of head h has the position of token h"});
  return all;
}

// Those with the fewest parts.
std::vector<Explanation> SimplestOf(const RotaryQuestion& question,
                                    std::vector<RotaryCandidate> found) {
  const auto count = [](const RotaryCandidate& c) { return c.parts.size(); };
  std::ranges::stable_sort(found, {}, count);
  std::vector<Explanation> all;
  for (const RotaryCandidate& c : found) {
    if (count(c) == count(found.front()))
      all.push_back(ExplanationOf(c.parts, question.hypothesis(c.model, c.positions)));
  }
  return all;
}

}  // namespace

std::vector<Explanation> ExplainRotation(const RotaryQuestion& question) {
  // Names of configured frequencies take long to find.
  if (question.seen.how.is_part && question.is_configured) return {};
  std::vector<RotaryCandidate> found;
  const RotaryCandidate right{{}, question.right, question.positions};
  for (const Layout& layout : question.layouts()) {
    RotaryCandidate start = right;
    if (!layout.name.empty()) start.parts.push_back({layout.name, layout.sentence});
    if (!SetLayout(question, layout, start.model)) continue;
    const std::optional<TokenFits> measured = question.fits(start.model);
    if (!measured) continue;
    const Angles angles =
        AnglesOf(measured->fits, GainOf(question.right, question.seen.c, question.seen.recipe));
    for (RotaryCandidate& one :
         ExplainedRotations(RotaryFit(question, angles, measured->token_of), start))
      found.push_back(std::move(one));
  }
  if (found.empty()) found = WithOtherSum(question, right);
  std::vector<Explanation> simplest = SimplestOf(question, std::move(found));
  if (!question.is_whole_answer)
    return simplest.empty() ? SimplestOf(question, WithoutAngles(question, right)) : simplest;
  if (!ExplainingOf(question.seen, simplest).empty()) return simplest;
  auto others = ExplainingOf(question.seen, SimplestOf(question, WithoutAngles(question, right)));
  return others.empty() ? simplest : others;
}

}  // namespace sextant::oracle
