#include "reference/layer/feed_forward.h"

#include <algorithm>

#include "oracle/defect/oracle.h"
#include "oracle/layer/feed_forward_laws.h"
#include "reference/layer/linear.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// The formula with one mistake.
struct Mistaken : FeedForward {
  enum class Mistake {
    kActivatedProduct,  // f of the product
    kActivatedBoth,     // both halves are activated
    kNotActivated,      // the plain product
    kNoOther,           // f(x gate^T) alone
    kSum,               // the halves are added
  } mistake{};

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& gate, const Tensor<Real>& up,
                  const Tensor<Real>& down, Tensor<Real>& y, Tensor<Real>& hidden) const {
    Tensor<Real> g(hidden.shape), u(hidden.shape), ones(hidden.shape);
    std::ranges::fill(ones.data, Real(1.0));
    Linear()(x, gate, g);
    Linear()(x, up, u);
    const auto combined = [&](const Tensor<Real>& a, const Tensor<Real>& b, bool product) {
      const InStep at(Step::kGate);
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
    hidden = mistake == Mistake::kActivatedProduct ? activated(combined(g, u, true))
             : mistake == Mistake::kActivatedBoth  ? combined(activated(g), activated(u), true)
             : mistake == Mistake::kNotActivated   ? combined(g, u, true)
             : mistake == Mistake::kNoOther        ? activated(g)
                                                   : combined(activated(g), u, false);
    Linear()(hidden, down, y);
  }
};

std::vector<Defect> FormulaDefects() {
  using Mistake = Mistaken::Mistake;
  return {
      MutatedFormula<Mistaken>("product_activated", "the product of both halves is activated",
                               Mistake::kActivatedProduct),
      MutatedFormula<Mistaken>("both_activated", "both halves are activated",
                               Mistake::kActivatedBoth),
      MutatedFormula<Mistaken>("not_activated", "the plain product: a bilinear layer",
                               Mistake::kNotActivated),
      MutatedFormula<Mistaken>("other_half_missing", "an ordinary layer without a gate",
                               Mistake::kNoOther),
      MutatedFormula<Mistaken>("halves_added", "the halves are added, not multiplied",
                               Mistake::kSum),
  };
}

}  // namespace

template <>
Oracle MakeOracle<FeedForward>() {
  return {.properties = FeedForwardLaws(),
          .defects = Joined<Defect>({FormulaDefects(), FeedForwardDefects()})};
}

}  // namespace sextant::oracle
