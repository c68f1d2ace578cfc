#include "oracle/layer/measured/constant.h"

#include <cmath>
#include <numeric>

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

std::string TextWith(int digits, double x) {
  constexpr double kMostPlain = 1e6;
  const bool is_plain = std::abs(x) >= 1 && std::abs(x) < kMostPlain;  // "60", not "6e+01"
  return is_plain ? PrintValue(RoundedToDigits(x, digits)) : TextWithDigits(x, digits);
}

// The indices of at most `count` numbers, in order: half of them those with the largest distances.
std::vector<size_t> WorstAndSpread(const std::vector<double>& distances, size_t count) {
  std::vector<size_t> all(distances.size());
  std::iota(all.begin(), all.end(), size_t{0});
  if (all.size() <= count) return all;
  const auto half = all.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(all.begin(), half, all.end(),
                   [&](size_t a, size_t b) { return distances[a] > distances[b]; });
  std::vector<size_t> chosen(all.begin(), half);
  for (size_t i = 0; i < count / 2; ++i) chosen.push_back(i * distances.size() / (count / 2));
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

}  // namespace

std::vector<Constant> ConstantsIn(const Range& range, const std::vector<Constant>& named) {
  std::vector<Constant> found;
  for (const Constant& one : named) {
    if (!range.Contains(one.value)) continue;
    found.push_back(one);
    found.back().bits = std::log2(static_cast<double>(named.size()));
  }
  if (!found.empty()) return found;
  if (range.Contains(0)) return {{0, "0"}};
  constexpr int kFewDigits = 5, kBitsOfExponent = 4;
  const double middle = range.Middle(), width = range.high - range.low;
  if (range.IsEmpty() || !std::isfinite(width)) return {{middle, TextWith(17, middle), false}};
  const auto is_far_from_ends = [&](double x) { return std::abs(x - middle) <= width / 4; };
  const int digits = FewestDigits(middle, is_far_from_ends);
  const double value = RoundedToDigits(middle, digits);
  const std::string text = TextWith(digits, middle);
  // Neighbouring numbers of d digits are at most 10^(1-d) of themselves apart, so a range that is
  // ten times narrower rarely has one by accident.
  if (digits <= kFewDigits && width <= std::abs(value) * std::pow(10, -digits))
    return {{value, text, true, digits * std::log2(10) + kBitsOfExponent}};
  return {{value, text + " (+- " + TextWith(1, width / 2) + ")", false}};
}

std::string TwoDigits(double x) { return TextWith(2, x); }

std::string TextOf(const std::vector<Constant>& constants) {
  std::string text;
  for (const Constant& one : constants) text += (text.empty() ? "" : " or ") + one.text;
  return text;
}

Samples::Samples(const Observation& seen, size_t output, ErrorBar bar)
    : golden_(&seen.golden[output]), permitted_(&seen.permitted[output]), bar_(bar) {
  const auto at = std::ranges::find(seen.answer, golden_->name, &NamedTensor::name);
  if (at != seen.answer.end()) answer_ = &at->values;
}

Samples Samples::With(ErrorBar bar) const {
  Samples others = *this;
  others.bar_ = bar;
  return others;
}

bool Samples::Has(size_t at) const {
  return std::isfinite(answer_->data[at]) && std::isfinite(golden_->value.data[at]) &&
         std::isfinite(permitted_->error.data[at]);
}

Sample Samples::At(size_t at) const {
  const double y = answer_->data[at], right = golden_->high.data[at];
  double error = permitted_->error.data[at];
  if (bar_ == ErrorBar::kLikely) error = std::min(error, permitted_->likely.data[at]);
  if (bar_ == ErrorBar::kTwicePermitted) error *= 2;
  return {at, y, right, std::max(error, UlpOf(golden_->dtype, y))};
}

double Samples::DistanceOf(size_t at, ErrorBar bar) const {
  const double distance = std::abs(answer_->data[at] - golden_->high.data[at]);
  double error = permitted_->error.data[at];
  if (bar == ErrorBar::kLikely) error = std::min(error, permitted_->likely.data[at]);
  return distance > error && Has(at) ? distance / error : 0;
}

const std::vector<double>& Samples::RowDistances(size_t width) const {
  const auto [at, is_new] = rows_->distances.try_emplace(width);
  std::vector<double>& of_rows = at->second;
  if (!is_new) return of_rows;
  of_rows.resize(answer_->data.size() / width);
  constexpr size_t kLeast = 64;
  if (width < 2 * kLeast || width % 2 == 1) {
    for (size_t i = 0; i < of_rows.size() * width; ++i)
      of_rows[i / width] = std::max(of_rows[i / width], DistanceOf(i, ErrorBar::kLikely));
    return of_rows;
  }
  const size_t part = width / 2, parts = 2;
  const std::vector<double>& of_parts = RowDistances(part);
  for (size_t i = 0; i < of_rows.size() * parts; ++i)
    of_rows[i / parts] = std::max(of_rows[i / parts], of_parts[i]);
  return of_rows;
}

// Of a large tensor the worst element of each of many blocks.
std::vector<Sample> Samples::Chosen(size_t count) const {
  constexpr size_t kBlocks = size_t{1} << 16;
  const size_t size = answer_->data.size(), width = (size + kBlocks - 1) / kBlocks;
  std::vector<double> distances;
  std::vector<size_t> worst;
  for (size_t first = 0; first < size; first += width) {
    worst.push_back(first);
    distances.push_back(DistanceOf(first, bar_));
    for (size_t i = first + 1; i < std::min(size, first + width); ++i) {
      const double distance = DistanceOf(i, bar_);
      if (distance > distances.back()) distances.back() = distance, worst.back() = i;
    }
  }
  std::vector<Sample> chosen;
  for (const size_t block : WorstAndSpread(distances, count)) {
    if (Has(worst[block])) chosen.push_back(At(worst[block]));
  }
  return chosen;
}

std::vector<size_t> Samples::ChosenRows(size_t count, size_t width) const {
  if (width == 0) return {};
  const auto [at, is_new] = rows_->chosen.try_emplace({count, width});
  if (is_new) at->second = WorstAndSpread(RowDistances(width), count);
  return at->second;
}

void Deviations::Add(const std::string& its_name, const std::string& its_sentence) {
  if (count > 0) name += "+", sentence += "; ";
  name += its_name;
  sentence += its_sentence;
  ++count;
}

void Deviations::Add(const Deviations& others) {
  if (others.count == 0) return;
  Add(others.name, others.sentence);
  count += others.count - 1;
  bits += others.bits;
  adjusted += others.adjusted;
}

void Deviations::Count(const Constant& constant) {
  bits += constant.bits;
  adjusted += !constant.is_known;
}

bool IsEvident(const std::vector<double>& distances, const Deviations& deviations,
               double more_bits) {
  constexpr double kBitsOfAThousand = 10, kBitsOfADeviation = 4;
  return BitsOfEvidence(distances, deviations.adjusted) >=
         kBitsOfAThousand + kBitsOfADeviation * static_cast<double>(deviations.count) +
             deviations.bits + more_bits;
}

double BitsOfEvidence(std::vector<double> distances, size_t fitted) {
  std::erase_if(distances, [](double distance) { return !(distance > 1); });
  std::ranges::sort(distances, std::greater());
  double bits = 0;
  for (size_t i = fitted; i < distances.size(); ++i) bits += std::log2(distances[i]);
  return bits;
}

// A bound of the probability that the product of n of them is at most theirs. Its negative
// logarithm s has a gamma distribution: P <= (e s / n)^n e^-s for s >= n (Chernoff).
double BitsOfUniform(const std::vector<double>& numbers) {
  const auto n = static_cast<double>(numbers.size());
  double s = 0;
  for (const double x : numbers) s -= std::log(std::max(x, 0x1p-20));
  return s <= n ? 0 : (s - n * (1 + std::log(s / n))) / std::log(2);
}

}  // namespace sextant::oracle
