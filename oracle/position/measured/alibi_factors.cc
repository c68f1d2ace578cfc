#include "oracle/position/measured/alibi_factors.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/position/measured/alibi_distance.h"
#include "oracle/position/measured/slopes_of_biases.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

using Numbers = std::vector<double>;

// Positions of queries or keys.
struct OtherPositions {
  std::vector<NamedFactor> parts;
  Numbers of;
  bool has_number = false;
};

std::vector<OtherPositions> PossiblePositions(const std::string& whose, const Numbers& right,
                                              const Numbers& limits) {
  std::vector<OtherPositions> all = {{{}, right}};
  const auto add = [&](const std::string& name, const std::string& sentence, bool has_number,
                       const std::function<double(double)>& of) {
    OtherPositions one{{{whose + name, sentence}}, {}, has_number};
    for (const double p : right) one.of.push_back(of(p));
    const bool known =
        std::ranges::any_of(all, [&](const OtherPositions& other) { return other.of == one.of; });
    if (!known) all.push_back(std::move(one));
  };
  if (!right.empty())
    add("_counted_from_zero", "positions of " + whose + " are counted from the first one, as 0",
        false, [first = right[0]](double p) { return p - first; });
  for (const double n : limits) {
    for (const auto& [map, name] : {NamedIndexMap(&kClamped, "_clamped"),
                                    {&kWrapped, "_wrapped"},
                                    {&kRoundedDown, "_in_blocks"}})
      add(name, map->Sentence("positions of " + whose, n), true,
          [&](double p) { return map->of(p, n); });
  }
  return all;
}

// A function of query and key by which the slopes are multiplied, up to a factor.
struct Distances {
  std::vector<NamedFactor> parts;
  ByDistance op;
  const Numbers *queries, *keys;
  const DistanceMap* map = nullptr;
  double At(size_t i) const {
    return op.Distance((*queries)[i / keys->size()], (*keys)[i % keys->size()]);
  }
};

class Search {
 public:
  Search(const Observation& seen, const Tensor<double>& answer)
      : seen_(seen),
        biases_(seen, answer),
        slope_(InputNamed(seen.inputs, "slope").data),
        queries_(InputNamed(seen.inputs, "query_position").data),
        keys_(InputNamed(seen.inputs, "key_position").data) {
    CopyAttributes(seen.c, right_);
  }

  std::vector<Explanation> Run() {
    if (biases_.H() == 0 || biases_.PerHead() < kFewest) return {};
    Measure();
    if (!found_.empty()) return std::move(found_);
    biases_.Cut();
    Measure();
    return std::move(found_);
  }

 private:
  // Some 2^17 functions are tried. Of 16 biases of a head at least 7 have different distances, and
  // each of these is near a wrong function, within the 2^-7 of bf16, with a chance of about 2^-6.
  static constexpr size_t kFewest = 16;

  void Measure() {
    for (const NamedSlopes& slopes : MeasuredSlopes(biases_, slope_)) {
      pivot_ = biases_.Pivot();
      ChooseWitnesses();
      ForEachDistance([&](const Distances& one) { Try(slopes, one); });
    }
  }

  // The largest biases and evenly spread ones refute most functions.
  void ChooseWitnesses() {
    constexpr size_t kSpread = 6;
    const size_t n = biases_.PerHead();
    witnesses_.clear();
    for (size_t j = 0; j < kSpread; ++j) witnesses_.push_back(j * (n - 1) / (kSpread - 1));
    size_t largest = 0;
    for (size_t i = 0; i < n; ++i)
      if (!biases_.IsCut(pivot_, i) &&
          std::abs(biases_.At(pivot_, i)) > std::abs(biases_.At(pivot_, largest)))
        largest = i;
    witnesses_.insert(witnesses_.begin(), largest);
  }

  Numbers Limits() const {
    double farthest = 0;
    for (const double p : queries_) farthest = std::max(farthest, std::abs(p));
    for (const double p : keys_) farthest = std::max(farthest, std::abs(p));
    return LimitsUpTo(farthest);
  }

  // All functions, with at most one number that is a limit.
  void ForEachDistance(const std::function<void(const Distances&)>& visit) {
    const Numbers limits = Limits(), none;
    const auto queries = right_.op().form == AlibiForm::kKey
                             ? std::vector(1, OtherPositions{{}, queries_})
                             : PossiblePositions("queries", queries_, limits);
    const auto keys = PossiblePositions("keys", keys_, limits);
    for (const OtherPositions& q : queries) {
      for (const OtherPositions& k : keys) {
        if (q.has_number && k.has_number) continue;
        std::vector<NamedFactor> parts = q.parts;
        parts.insert(parts.end(), k.parts.begin(), k.parts.end());
        const bool has_number = q.has_number || k.has_number;
        ForEachMap({parts, {}, &q.of, &k.of}, has_number ? none : limits, visit);
      }
    }
  }
  void ForEachMap(const Distances& start, const Numbers& limits,
                  const std::function<void(const Distances&)>& visit) {
    ForEachShift(start, nullptr, 1, visit);
    for (const DistanceMap& map : DistanceMaps(limits))
      for (const double number : map.numbers) ForEachShift(start, &map, number, visit);
  }
  void ForEachShift(Distances one, const DistanceMap* map, double number,
                    const std::function<void(const Distances&)>& visit) {
    constexpr double kMostAdded = 16;
    one.op.form = right_.op().form;
    one.op.map = map ? map->map : nullptr;
    one.op.number = number;
    one.map = map;
    for (double added = -kMostAdded; added <= kMostAdded; ++added) {
      one.op.added = added;
      visit(one);
    }
  }

  // The factor of all biases that the function leaves, at some of them.
  LongRange FactorOf(const NamedSlopes& slopes, const Distances& distances, LongRange common,
                     size_t i) const {
    if (biases_.IsCut(pivot_, i)) return common;
    const double right = -slopes.of[pivot_] * distances.At(i);
    const LongRange got = biases_.RangeOf(pivot_, i);
    if (right == 0) return got.Contains(0) ? common : LongRange{1, 0};
    common.Intersect(Quotient(got, right));
    return common;
  }

  void Try(const NamedSlopes& slopes, const Distances& distances) {
    LongRange factor;
    for (const size_t i : witnesses_) {
      factor = FactorOf(slopes, distances, factor, i);
      if (factor.IsEmpty()) return;
    }
    for (size_t i = 0; i < biases_.PerHead(); ++i) {
      factor = FactorOf(slopes, distances, factor, i);
      if (factor.IsEmpty()) return;
    }
    if (std::isinf(factor.high - factor.low) || factor.Contains(0)) return;
    const double times = factor.Contains(1) ? 1 : SimplestRatioIn(factor);
    const std::vector<NamedFactor> parts = PartsOf(slopes, distances, times);
    if (parts.empty() || (!found_.empty() && parts.size() > fewest_)) return;
    if (found_.empty() || parts.size() < fewest_) found_.clear();
    constexpr size_t kMostSaid = 3;  // of equally simple ones, with different names
    fewest_ = parts.size();
    Explanation one = ExplanationOf(slopes, distances, times, parts);
    const bool is_known = std::ranges::find(found_, one.name, &Explanation::name) != found_.end();
    if (!is_known && found_.size() < kMostSaid) found_.push_back(std::move(one));
  }

  std::vector<NamedFactor> PartsOf(const NamedSlopes& slopes, const Distances& distances,
                                   double times) const {
    std::vector<NamedFactor> parts = slopes.parts;
    parts.insert(parts.end(), distances.parts.begin(), distances.parts.end());
    const ByDistance& op = distances.op;
    if (op.added != 0)
      parts.push_back({"distance_shifted",
                       Phrase("positions are off by ", std::abs(op.added), ": every distance has ",
                              op.added, " added, as if queries were ", std::abs(op.added),
                              op.added > 0 ? " later" : " earlier")});
    if (op.map) parts.push_back({distances.map->name, op.map->Sentence("distances", op.number)});
    if (times < 0) parts.push_back({"sign", "the sign of every bias is wrong"});
    if (std::abs(times) != 1)
      parts.push_back(
          {"bias_multiplied",
           Phrase("every slope, and so every bias, is multiplied by ", std::abs(times))});
    if (biases_.cuts())
      parts.push_back({"bias_clamped", Phrase("biases below ", biases_.least(), " are clamped to ",
                                              biases_.least())});
    return parts;
  }

  Explanation ExplanationOf(const NamedSlopes& slopes, const Distances& distances, double times,
                            const std::vector<NamedFactor>& parts) const {
    std::string name, sentence;
    for (const NamedFactor& part : parts) {
      name += (name.empty() ? "" : "+") + part.name;
      sentence += (sentence.empty() ? "" : "; ") + part.sentence;
    }
    Tensors inputs = seen_.inputs;
    Numbers& slope = InputNamed(inputs, "slope").data;
    for (size_t h = 0; h < slope.size(); ++h) slope[h] = slopes.of[h] * times;
    InputNamed(inputs, "query_position").data = *distances.queries;
    InputNamed(inputs, "key_position").data = *distances.keys;
    ByDistance op = distances.op;
    if (biases_.cuts()) op.least = biases_.least();
    return {name,
            sentence,
            {std::make_shared<Wrapped<ByDistance, false>>(op), std::move(inputs), seen_.recipe}};
  }

  const Observation& seen_;
  MeasuredBiases biases_;
  Wrapped<Alibi, false> right_;
  Numbers slope_, queries_, keys_;
  size_t pivot_ = 0, fewest_ = 0;
  std::vector<size_t> witnesses_;
  std::vector<Explanation> found_;
};

}  // namespace

std::string SlopeFormula::Text() const {
  return Phrase("2^-(", largest, " (h + ", first, ") / H)");
}

std::vector<Explanation> MeasureFactorsOfBias(const Observation& seen) {
  const auto at = std::ranges::find(seen.answer, seen.golden[0].name, &NamedTensor::name);
  if (seen.how.is_second || at == seen.answer.end() || at->values.data.empty()) return {};
  return Search(seen, at->values).Run();
}

}  // namespace sextant::oracle
