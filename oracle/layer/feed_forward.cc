#include "reference/layer/feed_forward.h"

#include <algorithm>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/feed_forward_properties.h"
#include "oracle/layer/measured/feed_forward.h"
#include "reference/case/intermediate.h"
#include "reference/layer/linear.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// The formula with one mutation.
struct MutatedFeedForward : FeedForward {
  enum class Mutation {
    kNone,
    kActivatedProduct,  // f of the product
    kActivatedBoth,     // both halves are activated
    kNotActivated,      // the product without an activation
    kNoOther,           // f(x gate^T) alone
    kSum,               // the halves are added
  } mutation{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Weights<Real>& gate, const Weights<Real>& up,
                  const Weights<Real>& down, const Tensor<Real>* gate_bias,
                  const Tensor<Real>* up_bias, const Tensor<Real>* down_bias, Tensor<Real>& y,
                  Tensor<Real>& hidden) const {
    Tensor<Real> g(hidden.shape), u(hidden.shape), ones(hidden.shape);
    std::ranges::fill(ones.data, Real(1.0));
    Linear()(x, gate, gate_bias, g);
    Linear()(x, up, up_bias, u);
    g = Stored(std::move(g));
    u = Stored(std::move(u));
    const auto combined = [&](const Tensor<Real>& a, const Tensor<Real>& b, bool product) {
      const ScopedStep at(Step::kGate);
      Tensor<Real> all(a.shape);
      for (size_t i = 0; i < a.data.size(); ++i) {
        all.data[i] = product ? a.data[i] * b.data[i] : a.data[i] + b.data[i];
      }
      return all;
    };
    const auto activated = [&](const Tensor<Real>& of) {
      Tensor<Real> all(of.shape);
      Gated{.kind = kind}(of, ones, all);
      return all;
    };
    hidden = mutation == Mutation::kActivatedProduct ? activated(combined(g, u, true))
             : mutation == Mutation::kActivatedBoth  ? combined(activated(g), activated(u), true)
             : mutation == Mutation::kNotActivated   ? combined(g, u, true)
             : mutation == Mutation::kNoOther        ? activated(g)
             : mutation == Mutation::kSum            ? combined(activated(g), u, false)
                                                     : combined(activated(g), u, true);
    Linear()(Intermediate(hidden), down, down_bias, y);
  }
};

std::vector<Defect> FeedForwardFormulaDefects() {
  using Mutation = MutatedFeedForward::Mutation;
  return MutatedFormulas<MutatedFeedForward>({
      {"product_activated", "the product of both halves is activated", Mutation::kActivatedProduct},
      {"both_activated", "both halves are activated", Mutation::kActivatedBoth},
      {"not_activated", "nothing is activated: a bilinear layer", Mutation::kNotActivated},
      {"up_missing", "up is ignored: an ordinary layer without a gate", Mutation::kNoOther},
      {"halves_added", "the halves are added instead of multiplied", Mutation::kSum},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<FeedForward>() {
  return {.properties = FeedForwardProperties(),
          .defects = Joined<Defect>({FeedForwardFormulaDefects(), FeedForwardDefects()}),
          .measurements = FeedForwardMeasurements()};
}

}  // namespace sextant::oracle
