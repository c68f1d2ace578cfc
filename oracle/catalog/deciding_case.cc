#include "oracle/catalog/deciding_case.h"

#include <algorithm>
#include <optional>

#include "reference/base/error.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostElements = 4096;  // of a case that is evaluated

size_t ElementsOf(const Case& c) {
  size_t count = 0;
  const Signature& signature = c.signature();
  for (const auto* tensors : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      count = std::max(count, CountOf(c.ShapeOf(tensor)));
    }
  }
  return count;
}

// The case with another extent; its inputs are drawn if those of the case do not fit.
std::optional<Case> Changed(const Case& c, const std::string& word) {
  for (const Case& from : {c, c.WithDrawnInputs()}) {
    try {
      Case changed = from.With(word);
      if (ElementsOf(changed) > kMostElements) return std::nullopt;
      return changed;
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

// True if no answer can be taken for both: one that is a prediction is off by at most its permitted
// error, and so is the prediction itself (oracle/diagnosis/prediction.h); both again for the other.
bool Differ(const Tensors& a, const Tensors& b, const std::vector<PermittedTensor>& permitted) {
  for (size_t o = 0; o < a.size(); ++o) {
    for (size_t i = 0; i < a[o].values.data.size(); ++i) {
      const double bound = 4 * permitted[o].error.data[i];
      if (std::abs(a[o].values.data[i] - b[o].values.data[i]) > bound) return true;
    }
  }
  return false;
}

// How many different answers the defects predict; 0 if one of them does not apply to the case.
size_t CountAnswers(const Case& c, const Recipe& recipe,
                    const std::vector<const Defect*>& defects) {
  const Tensors inputs = DrawInputs(c);
  const auto permitted = PermittedErrors({c, inputs, recipe});
  std::vector<Tensors> answers;
  for (const Defect* defect : defects) {
    const auto h = defect->hypothesis(c, inputs, recipe);
    if (!h) return 0;
    Tensors answer = EvaluateByRecipe({c, h->inputs, h->recipe, *h->operation});
    if (std::ranges::all_of(answers,
                            [&](const Tensors& a) { return Differ(a, answer, permitted); }))
      answers.push_back(std::move(answer));
  }
  return answers.size();
}

}  // namespace

Decision DecidingWord(const Case& c, const Recipe& recipe,
                      const std::vector<const Defect*>& defects) {
  Decision best;
  const Tensors none;
  const ScopedTrace untraced(none);  // the answer is to another case
  for (const auto& [letter, extent] : c.dimensions()) {
    for (const auto other : {extent + 1, 2 * extent, 4 * extent}) {
      const std::string word = letter + "=" + std::to_string(other);
      const auto changed = other > extent ? Changed(c, word) : std::nullopt;
      const size_t answers = changed ? CountAnswers(*changed, recipe, defects) : 0;
      if (answers > best.answers) best = {word, answers};
    }
  }
  return best;
}

}  // namespace sextant::oracle
