#include "oracle/rope/measured/rows.h"

#include <algorithm>
#include <cmath>

#include "reference/number/counted/counted.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// `most` of the numbers, evenly spread, with the first and the last.
std::vector<size_t> Spread(const std::vector<size_t>& of, size_t most) {
  std::vector<size_t> chosen;
  const size_t n = std::min(of.size(), most);
  for (size_t i = 0; i < n; ++i) chosen.push_back(of[n == 1 ? 0 : i * (of.size() - 1) / (n - 1)]);
  return chosen;
}

// The numbers below `count` that are not left out; all if all are.
std::vector<size_t> Kept(size_t count, const std::vector<char>& is_left_out) {
  const bool all = std::ranges::find(is_left_out, 0) == is_left_out.end();
  std::vector<size_t> kept;
  for (size_t i = 0; i < count; ++i)
    if (all || !is_left_out[i]) kept.push_back(i);
  return kept;
}

// The heads [H] without elements that are left out, and of these the tokens [B,S].
std::pair<std::vector<size_t>, std::vector<size_t>> Judged(const RotatedTensors& of) {
  const size_t B = of.x.shape[0], H = of.x.shape[1], S = of.x.shape[2], D = of.x.shape[3];
  std::vector<char> no_head(H), no_token(B * S);
  const auto each = [&](auto leave_out) {
    for (size_t i = 0; of.permitted && i < of.permitted->data.size(); ++i)
      if (std::isnan(of.permitted->data[i]))
        leave_out(i / D / S % H, i / D / S / H * S + i / D % S);
  };
  each([&](size_t h, size_t) { no_head[h] = 1; });
  const std::vector<size_t> heads = Kept(H, no_head);
  each([&](size_t h, size_t t) { no_token[t] |= std::ranges::binary_search(heads, h); });
  return {Kept(B * S, no_token), heads};
}

}  // namespace

RotaryRows RowsOf(const RotatedTensors& of, size_t tokens, size_t replicates) {
  const auto& [x, y, permitted, x_has_errors] = of;
  const size_t H = x.shape[1], S = x.shape[2], D = x.shape[3];
  const auto [judged_tokens, judged_heads] = Judged(of);
  RotaryRows rows{.width = D,
                  .x = {},
                  .y = {},
                  .token_of = Spread(judged_tokens, tokens),
                  .heads = Spread(judged_heads, replicates)};
  rows.tokens = rows.token_of.size();
  rows.replicates = rows.heads.size();
  for (const size_t token : rows.token_of) {
    for (const size_t h : rows.heads) {
      const auto at = static_cast<std::ptrdiff_t>(((token / S * H + h) * S + token % S) * D);
      rows.x.insert(rows.x.end(), x.data.begin() + at, x.data.begin() + at + D);
      rows.y.insert(rows.y.end(), y.data.begin() + at, y.data.begin() + at + D);
      if (!permitted || !x_has_errors) continue;
      rows.errors.insert(rows.errors.end(), permitted->data.begin() + at,
                         permitted->data.begin() + at + D);
    }
  }
  return rows;
}

double RotaryRows::ErrorOf(size_t t, size_t n, PairOfChannels written) const {
  double largest = 0;
  for (const size_t channel : {written.first, written.second}) {
    const double error = errors.empty() ? 0 : errors[(t * replicates + n) * width + channel];
    if (std::isfinite(error)) largest = std::max(largest, error);
  }
  return largest;
}

// Channels of the next power of two have at least the errors of smaller ones.
double RotationErrors::Of(double magnitude) {
  if (!(magnitude > 0) || std::isinf(magnitude)) return magnitude == 0 ? 0 : kInfinity;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const auto [at, is_new] = of_exponent_.try_emplace(exponent);
  if (is_new) at->second = Compute(std::ldexp(1.0, exponent));
  return at->second;
}

// As in any_angle.cc: cos and sin of 0.75 radians have the largest ulp of all numbers below 1, and
// 2 x cos(0.75) >= x cos(a) for every angle a.
double RotationErrors::Compute(double magnitude) const {
  const ScopedRecipe scope(recipe_, c_.dtype());
  std::pair<Counted, Counted> cos_sin;
  {
    const ScopedStep at(Step::kTrig);
    cos_sin = CosSin(Counted(0.75));
  }
  cos_sin = TableEntry(cos_sin, Counted(amplitude_));
  Counted sum;
  {
    const ScopedStep at(Step::kRotate);
    const Counted x(2 * magnitude, c_.dtype());
    sum = x * cos_sin.first + x * cos_sin.second;
  }
  const ScopedStore at(c_.dtype());
  const double error = Converted(sum).Permitted();
  return std::isnan(error) ? kInfinity : error;
}

namespace {

// of_cos c + of_sin s = value, with an error of at most `error`.
struct Equation {
  long double of_cos, of_sin, value, error;
};

std::vector<Equation> EquationsOf(const RotaryRows& rows, size_t token, PairOfChannels read,
                                  PairOfChannels written, const Flow& flow, RotationErrors& errors,
                                  ChannelSums sums) {
  std::vector<Equation> all;
  for (size_t n = 0; n < rows.replicates; ++n) {
    const double *x = rows.RowOfX(token, n), *y = rows.RowOfY(token, n);
    const double u = x[read.first], v = x[read.second];
    const double y_i = y[written.first], y_j = y[written.second];
    if (!std::isfinite(u) || !std::isfinite(v)) continue;  // says nothing
    const bool second_reads = flow.in_place == Flow::InPlace::kSecondReadsFirst;
    const bool first_reads = flow.in_place == Flow::InPlace::kFirstReadsSecond;
    const double left = second_reads ? y_i : u, right = first_reads ? y_j : v;
    // A gain above 1 enlarges the errors too. hypot of double would need glibc 2.35.
    const double norm = static_cast<double>(std::hypot(static_cast<long double>(y_i), y_j));
    const double most = std::max({std::abs(u), std::abs(v), norm / std::sqrt(2.0)});
    const double error = std::max(errors.Of(most), rows.ErrorOf(token, n, written));
    const int sign = flow.SignOfSine(rows.heads[n]);
    if (sums != ChannelSums::kSecond)
      all.push_back({flow.first_cos * u, sign * flow.first_sin * right, y_i, error});
    if (sums != ChannelSums::kFirst)
      all.push_back({flow.second_cos * v, sign * flow.second_sin * left, y_j, error});
  }
  return all;
}

}  // namespace

// The least squares of all equations in c and s.
PairFit FitPair(const RotaryRows& rows, size_t token, PairOfChannels read, PairOfChannels written,
                const Flow& flow, RotationErrors& errors, ChannelSums sums) {
  const auto equations = EquationsOf(rows, token, read, written, flow, errors, sums);
  long double cc = 0, cs = 0, ss = 0;
  for (const Equation& e : equations) {
    cc += e.of_cos * e.of_cos;
    cs += e.of_cos * e.of_sin;
    ss += e.of_sin * e.of_sin;
  }
  const long double determinant = cc * ss - cs * cs;
  const bool both = determinant > 0;
  long double c = 0, s = 0, c_bar = 0, s_bar = 0;
  for (const Equation& e : equations) {
    // The row of the pseudoinverse; of one unknown, if the other is in no equation.
    const long double of_c = both                ? (ss * e.of_cos - cs * e.of_sin) / determinant
                             : cc > 0 && ss == 0 ? e.of_cos / cc
                                                 : 0;
    const long double of_s = both                ? (cc * e.of_sin - cs * e.of_cos) / determinant
                             : ss > 0 && cc == 0 ? e.of_sin / ss
                                                 : 0;
    c += of_c * e.value;
    s += of_s * e.value;
    c_bar += std::abs(of_c) * e.error;
    s_bar += std::abs(of_s) * e.error;
  }
  PairFit fit{{c, s}, both ? static_cast<double>(std::hypot(c_bar, s_bar)) : kInfinity, true};
  if (both || (cc > 0 && ss == 0)) fit.cos_bar = static_cast<double>(c_bar);
  if (both || (ss > 0 && cc == 0)) fit.sin_bar = static_cast<double>(s_bar);
  for (const Equation& e : equations) {
    const long double bar = c_bar * std::abs(e.of_cos) + s_bar * std::abs(e.of_sin);
    const long double off = std::abs(e.value - c * e.of_cos - s * e.of_sin);
    if (!(off <= e.error + bar)) fit.is_rotation = false;
  }
  return fit;
}

}  // namespace sextant::oracle
