#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/rope/measured/frequencies.h"
#include "oracle/rope/measured/frequency_functions.h"
#include "reference/base/error.h"

namespace sextant::oracle {
namespace {

enum FrequencyRank { kFormWithoutNumber, kFormWithUsualNumber, kFormWithAnyNumber, kPairByPair };

class FrequencyNaming {
 public:
  explicit FrequencyNaming(const MeasuredFrequencies& seen)
      : seen_(seen), pairs_(seen.of_pair.size()) {}

  std::vector<FrequencyForm> Run() {
    if (pairs_ == 0 || !IsMoreThanRounding()) return {};
    FormsOfOrder();
    if (seen_.is_configured) FormsOfExponents();
    FormsOfScaling();
    FormOfConstant();
    FormOfOneFrequency();
    FormsOfPlateaus();
    FormsOfTwoRatios();
    FormsOfEveryNth();
    FormOfListedOrder();
    for (FrequencyForm& form : NameFunctionsOfFrequencies(seen_))
      Try(kFormWithUsualNumber, form.name, form.sentence, form.model);
    const bool is_named = !forms_.empty();
    for (FrequencyForm& form : is_named ? std::vector<FrequencyForm>() : ListFewFrequencies(seen_))
      Try(kPairByPair, form.name, form.sentence, form.model);
    return forms_;
  }

 private:
  // True if some ratio differs from 1 by more than rounding can change it.
  bool IsMoreThanRounding() const {
    const long double most = seen_.Coarseness();
    for (size_t k = 0; k < pairs_; ++k) {
      if (!seen_.of_pair[k]) continue;
      if (seen_.right_list.of[k] == 0 ? !seen_.of_pair[k]->Contains(0)
                                      : !seen_.RatioOf(k).Meets({1 - most, 1 + most}))
        return true;
    }
    // It does not make so many frequencies wrong by a simple function, nor one of so many; and it
    // leaves few as near to the right ones as an eighth of its unit.
    constexpr size_t kMany = 8;
    constexpr long double kNear = 0x1p-12L;
    const size_t wrong = CountOf([](const LongRange& ratio) { return !ratio.Contains(1); });
    const size_t right = CountOf([](const LongRange& ratio) {
      return ratio.Contains(1) && ratio.high - ratio.low <= kNear;
    });
    return wrong >= kMany || (wrong > 0 && kMany * wrong <= right);
  }
  template <class Is>
  size_t CountOf(const Is& is) const {  // of the ratios of measured pairs
    size_t count = 0;
    for (size_t k = 0; k < pairs_; ++k)
      count += seen_.of_pair[k] && seen_.right_list.of[k] != 0 && is(seen_.RatioOf(k));
    return count;
  }
  void Try(FrequencyRank rank, std::string name, std::string sentence, const RotaryModel& model) {
    if (rank > best_ || Knows(name) || !seen_.Agrees(seen_.list_of(model)) || !seen_.fits(model))
      return;
    if (rank < best_) forms_.clear();
    best_ = rank;
    forms_.push_back({std::move(name), sentence + seen_.MeasurableText(), model});
  }
  bool Knows(const std::string& name) const {
    return std::ranges::any_of(forms_, [&](const auto& form) { return form.name == name; });
  }

  void TryOrder(FrequencyRank rank, std::string name, std::string sentence,
                const std::function<size_t(size_t k)>& from) {
    RotaryModel model = seen_.right;
    for (size_t k = 0; k < pairs_; ++k) {
      if (seen_.of_pair[k] && !MayBeThatOf(from(k), *seen_.of_pair[k])) return;
    }
    for (size_t k = 0; k < pairs_; ++k) {
      const size_t axis = model.pairs[k].axis;
      model.pairs[k] = seen_.right.pairs[from(k)];
      model.pairs[k].axis = axis;
    }
    Try(rank, std::move(name), std::move(sentence), model);
  }
  bool MayBeThatOf(size_t pair, const LongRange& frequency) const {
    const long double f = seen_.right_list.of[pair];
    const long double error = std::abs(f) * seen_.right_list.relative[pair];
    return frequency.Meets({f - error, f + error});
  }
  void FormsOfOrder() {
    for (const AxisOrder& order : OrdersOf(pairs_, OrdersFor::kFew)) {
      // Pairs of several axes have the same frequencies again: one of them names none.
      if (order.name.starts_with("all_") && seen_.right.pairs[0].k != 0) continue;
      TryOrder(kFormWithoutNumber, "frequency_" + order.name,
               "the frequencies of the pairs are in another order: " + order.text, order.from);
    }
  }
  // Each pair has the frequency of one that was measured; each wrong one can only be that one.
  void FormOfListedOrder() {
    std::vector<size_t> from;
    std::string list;
    for (size_t k = 0; k < pairs_; ++k) {
      std::vector<size_t> like;
      for (size_t other = 0; other < pairs_ && seen_.of_pair[k]; ++other)
        if (MayBeThatOf(other, *seen_.of_pair[k])) like.push_back(other);
      const bool is_right = !seen_.of_pair[k] || std::ranges::find(like, k) != like.end();
      if (!is_right && like.size() != 1) return;
      from.push_back(is_right ? k : like[0]);
      if (k < kListed) list += Phrase(k == 0 ? "" : ", ", from[k]);
    }
    TryOrder(kFormWithAnyNumber, "frequency_order",
             Phrase("the pairs have the frequencies of pairs ", list,
                    pairs_ > kListed ? " ..." : "", " in this order"),
             [&](size_t k) { return from[k]; });
  }
  static constexpr size_t kListed = 16;

  // base^-((2k + shift) / n)
  void FormsOfExponents() {
    const auto R = static_cast<int64_t>(seen_.right.setting.R);
    for (const int64_t shift : {0, -2, 2, -1, 1, -3, 3, -4, 4, -5, 5, -6, 6, -7, 7, -8, 8}) {
      for (int64_t n = 1; n <= 4 * R; ++n) {
        if (n == R ? shift == 0 : std::abs(shift) > 2) continue;
        if (!seen_.MayBeExponent(shift, n)) continue;
        RotaryModel model = seen_.right;
        for (size_t k = 0; k < pairs_; ++k) {
          model.pairs[k].k = 2 * static_cast<int64_t>(k) + shift;
          model.pairs[k].n = n;
        }
        const std::string sum =
            shift == 0 ? "2k" : Phrase("(2k ", shift < 0 ? "- " : "+ ", std::abs(shift), ")");
        const bool is_usual = n == R || 2 * n == R || n == 2 * R || std::abs(n - R) <= 2;
        Try(is_usual ? kFormWithoutNumber : kFormWithUsualNumber, "frequency_exponent",
            Phrase("frequencies are base^-(", sum, "/", n, "), expected base^-(2k/", R, ")"),
            model);
      }
    }
  }
  void FormsOfScaling() {
    if (!seen_.is_configured) return;
    RotaryModel model = seen_.right;
    model.scaling = NoScaling{};
    Try(kFormWithoutNumber, "scaling_missing", "frequencies are not scaled", model);
    for (FrequencyForm& form : NameParameters(seen_)) {
      const bool is_usual = form.sentence.find("+-") == std::string::npos;
      Try(is_usual ? kFormWithUsualNumber : kFormWithAnyNumber, form.name, form.sentence,
          form.model);
    }
    for (FrequencyForm& form : NameRamps(seen_))
      Try(kFormWithUsualNumber, form.name, form.sentence, form.model);
  }

  static RotaryModel WithFactor(RotaryModel model, size_t begin, size_t end, double factor) {
    for (size_t k = begin; k < end; ++k) model.pairs[k].factor *= factor;
    return model;
  }
  // The ratios that fit all pairs of begin .. end - 1; empty if none is measurable.
  std::optional<LongRange> CommonRatio(size_t begin, size_t end) const {
    std::optional<LongRange> common;
    for (size_t k = begin; k < end; ++k) {
      if (!seen_.of_pair[k] || seen_.right_list.of[k] == 0) continue;
      if (!common) common.emplace();
      common->Intersect(seen_.RatioOf(k));
    }
    return common;
  }
  static std::string FactorText(double factor) {
    if (factor == -1) return " backwards";
    return Phrase(" at ", factor, " of the right frequency");
  }
  static FrequencyRank RankOf(double factor) {
    return factor == 0 || HasFewDigits(factor, 2) || HasFewDigits(1 / factor, 2)
               ? kFormWithUsualNumber
               : kFormWithAnyNumber;
  }
  void FormOfConstant() {
    std::optional<LongRange> common = CommonRatio(0, pairs_);
    // Fast pairs may be too fast to be measured; then the slow ones say it.
    for (size_t begin = 1; begin < pairs_ && common && common->IsEmpty(); ++begin)
      common = CommonRatio(begin, pairs_);
    if (!common || common->IsEmpty()) return;
    for (const LongRange& range : seen_.factors(*common)) {
      const double c = SimplestRatioIn(range);
      Try(c == -1 ? kFormWithoutNumber : RankOf(c),
          c == -1 ? "turns_backwards" : "frequency_factor",
          c == -1 ? std::string("all pairs turn in the other direction")
                  : Phrase("all angles are ", c, " of the right ones") + seen_.ShiftedText(range),
          WithFactor(seen_.right, 0, pairs_, c));
    }
  }
  // All pairs have the same frequency, which is no right one.
  void FormOfOneFrequency() {
    LongRange common;
    for (size_t k = 0; k < pairs_; ++k) {
      if (!seen_.of_pair[k]) return;
      common.Intersect(*seen_.of_pair[k]);
    }
    const long double first = seen_.right_list.of[0];
    if (common.IsEmpty() || pairs_ < 2 || first == 0) return;
    const double c = SimplestRatioIn(Quotient(common, first));
    RotaryModel model = seen_.right;
    for (PairFrequency& pair : model.pairs) {
      const size_t axis = pair.axis;
      pair = seen_.right.pairs[0];
      pair.axis = axis;
      pair.factor *= c;
    }
    Try(RankOf(c), "frequency_of_one_pair",
        Phrase("all pairs have the frequency of pair 0 times ", c), model);
  }
  static std::string TurnText(size_t from, size_t to, double factor) {
    const std::string pairs = to == from + 1 ? Phrase("pair ", from, " turns")
                                             : Phrase("pairs ", from, " to ", to - 1, " turn");
    return pairs + (factor == 0 ? " at frequency 0: not rotated" : FactorText(factor));
  }
  void FormsOfPlateaus() {
    const auto is_wrong = [&](size_t k) {
      return seen_.of_pair[k] && seen_.right_list.of[k] != 0 && !seen_.RatioOf(k).Contains(1);
    };
    size_t first = 0, end = pairs_;
    while (first < pairs_ && !is_wrong(first)) ++first;
    while (end > first && !is_wrong(end - 1)) --end;
    if (first == end || end - first == pairs_) return;
    for (const auto& [from, to] :
         {std::pair(first, pairs_), std::pair(size_t{0}, end), std::pair(first, end)}) {
      const std::optional<LongRange> common = CommonRatio(from, to);
      if (!common || common->IsEmpty()) continue;
      const double c = SimplestRatioIn(*common);
      Try(c == 0 ? kFormWithUsualNumber : RankOf(c),
          c == 0 ? "pairs_stand_still" : "frequency_of_some_pairs", TurnText(from, to, c),
          WithFactor(seen_.right, from, to, c));
    }
  }

  // The first pairs have another wrong ratio than the others.
  void FormsOfTwoRatios() {
    for (size_t middle = 1; middle < pairs_; ++middle) {
      const std::optional<LongRange> lower = CommonRatio(0, middle),
                                     upper = CommonRatio(middle, pairs_);
      if (!lower || !upper || lower->IsEmpty() || upper->IsEmpty()) continue;
      if (lower->Contains(1) || upper->Contains(1) || lower->Meets(*upper)) continue;
      const double a = SimplestRatioIn(*lower), b = SimplestRatioIn(*upper);
      const bool is_still = a == 0 || b == 0;
      const RotaryModel model = WithFactor(seen_.right, 0, middle, a);
      Try(std::max(RankOf(a), RankOf(b)),
          is_still ? "frequency_factor+pairs_stand_still" : "frequency_of_some_pairs",
          TurnText(0, middle, a) + "; " + TurnText(middle, pairs_, b),
          WithFactor(model, middle, pairs_, b));
    }
  }

  // Every n-th pair.
  void FormsOfEveryNth() {
    for (size_t n = 2; n <= 4; ++n) {
      for (size_t r = 0; r < n; ++r) {
        std::optional<LongRange> common;
        RotaryModel model = seen_.right;
        for (size_t k = r; k < pairs_; k += n) {
          if (!seen_.of_pair[k] || seen_.right_list.of[k] == 0) continue;
          if (!common) common.emplace();
          common->Intersect(seen_.RatioOf(k));
        }
        if (!common || common->IsEmpty() || common->Contains(1) || pairs_ <= n) continue;
        const double c = SimplestRatioIn(*common);
        for (size_t k = r; k < pairs_; k += n) model.pairs[k].factor *= c;
        Try(c == 0 ? kFormWithUsualNumber : RankOf(c),
            c == 0 ? "pairs_stand_still" : "frequency_of_some_pairs",
            Phrase("pairs ", r, ", ", r + n, ", ", r + 2 * n, " ... turn",
                   c == 0 ? std::string(" at frequency 0: not rotated") : FactorText(c)),
            model);
      }
    }
  }

  const MeasuredFrequencies& seen_;
  size_t pairs_;
  FrequencyRank best_ = kPairByPair;
  std::vector<FrequencyForm> forms_;
};

}  // namespace

std::vector<FrequencyForm> NameFrequencies(const MeasuredFrequencies& seen) {
  std::vector<FrequencyForm> forms = FrequencyNaming(seen).Run();
  return forms.empty() ? NameTurningPairs(seen) : forms;
}

}  // namespace sextant::oracle
