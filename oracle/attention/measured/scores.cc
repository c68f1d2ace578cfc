#include "oracle/attention/measured/scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "oracle/attention/measured/attention.h"
#include "oracle/attention/measured/least_squares.h"
#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/diagnosis/measured_number.h"
#include "oracle/property/changed_inputs.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// So many queries of each head are looked at.
constexpr size_t kQueries = 24;
// The most channels whose numbers of times are solved for.
constexpr size_t kMostChannels = 256;

struct Sizes {
  size_t B, H, K, S, T, D;
};

class Products {
 public:
  // By the inputs and the key heads of a model.
  Products(const Observation& seen, const Hypothesis& model, std::vector<size_t> key_heads)
      : n_{ExtentOf(seen.c, "B"), ExtentOf(seen.c, "H"), ExtentOf(seen.c, "K"),
           ExtentOf(seen.c, "S"), ExtentOf(seen.c, "T"), ExtentOf(seen.c, "D")},
        heads_(std::move(key_heads)),
        q_(model.inputs[0].values.data),
        k_(model.inputs[1].values.data),
        scores_(seen.answer[0].values.data),
        errors_(seen.permitted[0].error.data) {}

  const Sizes& sizes() const { return n_; }
  size_t RightHead(size_t h) const { return h * n_.K / n_.H; }
  size_t HeadOf(size_t h) const { return heads_.empty() ? RightHead(h) : heads_[h]; }

  // Calls use(query, key, index) for some queries of the head, with the keys of key head g.
  template <class Use>
  void ForEach(size_t h, size_t g, const Use& use) const {
    const size_t step = std::max<size_t>(1, n_.S / kQueries);
    for (size_t b = 0; b < n_.B; ++b) {
      for (size_t s = 0; s < n_.S; s += step) {
        const size_t row = (b * n_.H + h) * n_.S + s;
        for (size_t t = 0; t < n_.T; ++t) {
          const size_t at = row * n_.T + t;
          if (!std::isfinite(scores_[at]) || !std::isfinite(errors_[at])) continue;
          use(std::span(q_).subspan(row * n_.D, n_.D),
              std::span(k_).subspan(((b * n_.K + g) * n_.T + t) * n_.D, n_.D), at);
        }
      }
    }
  }
  // The cosine of the angle between the answered scores of head h and the products with key head g.
  double LikenessOf(size_t h, size_t g) const {
    double both = 0, of_answer = 0, of_product = 0;
    ForEach(h, g, [&](std::span<const double> q, std::span<const double> k, size_t at) {
      const double product = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
      both += product * scores_[at];
      of_answer += scores_[at] * scores_[at];
      of_product += product * product;
    });
    return of_answer > 0 && of_product > 0 ? std::abs(both) / std::sqrt(of_answer * of_product) : 0;
  }
  // How often each channel counts, times the scale; not solvable: empty.
  std::vector<double> CountsOfChannels(double scale) const {
    LeastSquares squares(n_.D);
    std::vector<double> equation(n_.D);
    size_t equations = 0;
    for (size_t h = 0; h < n_.H; ++h) {
      ForEach(h, HeadOf(h), [&](std::span<const double> q, std::span<const double> k, size_t at) {
        const double unit = errors_[at] > 0 ? errors_[at] : 1;
        for (size_t d = 0; d < n_.D; ++d) equation[d] = q[d] * k[d] * scale / unit;
        squares.Add(equation, scores_[at] / unit);
        ++equations;
      });
    }
    if (equations < 4 * n_.D) return {};
    const auto [x, bar, rms] = squares.Solve();
    constexpr double kDeviations = 6, kWorstBar = 0.1;
    std::vector<double> counts(n_.D, 1);
    for (size_t d = 0; d < n_.D; ++d) {
      if (!(bar[d] * rms < kWorstBar)) continue;
      const double whole = std::round(x[d]);
      // What rounding to bf16 may cause is a precision.
      const double near = std::max(kDeviations * bar[d] * rms,
                                   2 * UnitRoundoffOf(DType::kBF16) * std::max(1.0, whole));
      counts[d] = std::abs(x[d] - whole) <= near ? whole : x[d];
    }
    return counts;
  }

 private:
  const Sizes n_;
  const std::vector<size_t> heads_;  // empty: the right ones
  const std::vector<double>&q_, &k_, &scores_, &errors_;
};

// The key heads whose products, with the inputs of the model, are most like the answered scores.
std::vector<Deviation> HeadsIn(const Observation& seen, const Hypothesis& model,
                               const WithParts& with_parts) {
  const Products products(seen, model, {});
  std::vector<size_t> heads, right, query;
  for (size_t h = 0; h < products.sizes().H; ++h) {
    std::vector<double> likeness;
    for (size_t g = 0; g < products.sizes().K; ++g) likeness.push_back(products.LikenessOf(h, g));
    const auto best = std::ranges::max_element(likeness);
    right.push_back(products.RightHead(h));
    heads.push_back(*best > 0 ? static_cast<size_t>(best - likeness.begin()) : right.back());
    query.push_back(h);
  }
  if (heads == right) return {};
  const auto list = [](const std::vector<size_t>& numbers) {
    std::string text;
    for (const size_t n : numbers) text += " " + std::to_string(n);
    return text;
  };
  const auto changed = [=](const Hypothesis& base) {
    const Tensors& in = base.inputs;
    const auto edit = [&](MeasuredParts& of) {
      of.key_heads = of.value_heads = heads;
      of.inputs = std::make_shared<const Tensors>(Tensors{in[0], in[1], in[1]});
    };
    return std::optional(Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe});
  };
  return {OneOf("heads_read", "heads",
                {{"query heads 0 to " + std::to_string(heads.size() - 1) + " read the key heads" +
                      list(heads) + ", expected" + list(right),
                  changed}})};
}

MeasuredParts PartsIn(const Hypothesis& model, const WithParts& with_parts) {
  MeasuredParts parts;
  with_parts(*model.operation, [&](MeasuredParts& of_model) { parts = of_model; });
  return parts;
}

// Keys whose scores are -infinity: those after the one of the query, where the first or the last
// query belongs to the first or the last key.
Deviation MasksIn(const Observation& seen, const WithParts& with_parts) {
  const size_t S = ExtentOf(seen.c, "S"), T = ExtentOf(seen.c, "T");
  const auto shift = static_cast<int64_t>(T) - static_cast<int64_t>(S);
  const auto mask = [&](const std::string& text, int64_t later) {
    const auto edit = [later](MeasuredParts& parts) {
      parts.counts = [later](size_t, size_t, size_t s, size_t t) -> double {
        return static_cast<int64_t>(t) <= static_cast<int64_t>(s) + later;
      };
    };
    return Choice{"scores have a causal mask: those of keys " + text + " are -infinity",
                  [=](const Hypothesis& base) {
                    return std::optional(
                        Hypothesis{with_parts(*base.operation, edit), base.inputs, base.recipe});
                  }};
  };
  std::vector<Choice> masks = {mask("t > s", 0)};
  if (shift != 0)
    masks.push_back(mask(
        "t > s" + std::string(shift < 0 ? " - " : " + ") + std::to_string(std::abs(shift)), shift));
  return OneOf("masked", "mask", masks);
}

std::vector<Deviation> ChannelsIn(const Observation& seen, const Hypothesis& model,
                                  const WithParts& with_parts) {
  const Products products(seen, model, PartsIn(model, with_parts).key_heads);
  const Sizes& n = products.sizes();
  if (n.D < 2 || n.D > kMostChannels) return {};
  const double scale = NumberOf(seen.c, "scale", 1 / std::sqrt(static_cast<double>(n.D)));
  const std::vector<double> counts = products.CountsOfChannels(scale);
  std::vector<size_t> missing, other;
  for (size_t d = 0; d < counts.size(); ++d) {
    if (counts[d] == 1) continue;
    (counts[d] == 0 ? missing : other).push_back(d);
  }
  if (missing.size() + other.size() == 0 || 2 * (missing.size() + other.size()) > n.D + 1)
    return {};
  std::string text;
  if (!missing.empty())
    text = "the products of channels D " + IndicesText(missing, n.D) + " are missing";
  if (!other.empty())
    text += (text.empty() ? "" : "; ") + std::string("those of channels D ") +
            IndicesText(other, n.D) + " count " + TextWithDigits(counts[other[0]], 4) + " times";
  const auto changed = [=](const Hypothesis& base) {
    const auto counted = [&](Tensors inputs) {
      std::vector<double>& q = inputs[0].values.data;
      for (size_t i = 0; i < q.size(); ++i) q[i] *= counts[i % counts.size()];
      return inputs;
    };
    const auto edit = [&](MeasuredParts& parts) {
      if (parts.inputs) parts.inputs = std::make_shared<const Tensors>(counted(*parts.inputs));
    };
    return std::optional(
        Hypothesis{with_parts(*base.operation, edit), counted(base.inputs), base.recipe});
  };
  return {OneOf(other.empty() ? "channels_missing" : "channels_repeated", "channels",
                {{text, changed}})};
}

Deviation MeasuredBy(const std::string& factor,
                     std::function<std::vector<Deviation>(const Hypothesis&)> measured) {
  Deviation deviation;
  deviation.name = deviation.factor = factor;
  deviation.measured = std::move(measured);
  return deviation;
}

}  // namespace

std::vector<Explanation> MeasureProducts(const Observation& seen, const Hypothesis& base,
                                         const WithParts& with_parts) {
  if (seen.answer.empty() || seen.answer[0].values.data.empty()) return {};
  std::vector<Deviation> deviations = AttentionDeviations(seen.c, seen.inputs);
  for (Deviation& heads : HeadsIn(seen, base, with_parts)) deviations.push_back(std::move(heads));
  deviations.push_back(MasksIn(seen, with_parts));
  deviations.push_back(MeasuredBy(
      "heads", [&](const Hypothesis& model) { return HeadsIn(seen, model, with_parts); }));
  deviations.push_back(MeasuredBy(
      "channels", [&](const Hypothesis& model) { return ChannelsIn(seen, model, with_parts); }));
  return FittedTo(seen, base,
                  Joined<Deviation>({AndAttributes(std::move(deviations), seen.c, seen.inputs),
                                     InputChanges(seen.c, seen.inputs)}));
}

}  // namespace sextant::oracle
