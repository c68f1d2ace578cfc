#include "oracle/property.h"

#include <rapidcheck.h>

#include <cmath>
#include <sstream>

#include "oracle/oracle.h"
#include "oracle/random_case.h"
#include "reference/draw.h"

namespace sextant::oracle {
namespace {

struct CouldNotRun {
  std::string message;
};

Response AskSubject(const Subject& subject, const std::string& recipe, const Case& c, const Tensors& inputs) {
  Answer answer = subject.answer(c, inputs);
  if (answer.status == Answer::Status::kUnsupported) throw Declined{answer.message};
  if (answer.status == Answer::Status::kFailed) throw CouldNotRun{answer.message};
  if (const std::string misfit = Misfit(c, answer.outputs); !misfit.empty()) throw CouldNotRun{misfit};
  Response response{{}, Permit(c, inputs, ParseRecipe(recipe, c.dtype()))};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    response.outputs.push_back(Find(answer.outputs, spec.name));
  }
  return response;
}

bool Holds(const Residual& residual) { return residual.error <= residual.slack; }

rc::Gen<std::vector<size_t>> AnyIndices(const CaseSpace& space) {
  // One word per place, reduced to its number of choices: 0 is simplest and where shrinking goes.
  return rc::gen::exec([&space] {
    std::vector<size_t> indices;
    for (const size_t size : space.sizes()) indices.push_back(*rc::gen::inRange<size_t>(0, size));
    return indices;
  });
}

PropertyVerdict Check(const Property& property, const CaseSpace& space, const Ask& ask,
                      const PropertyOptions& options) {
  PropertyVerdict verdict{.name = property.name, .sentence = property.sentence, .counterexample = "", .detail = ""};
  rc::detail::TestParams params;
  params.seed = options.seed;
  params.maxSuccess = options.count;
  params.maxDiscardRatio = 100;
  rc::detail::TestMetadata metadata;
  metadata.id = property.name;
  std::string last_line, last_detail;
  std::optional<CouldNotRun> broken_down;
  size_t declined = 0;
  const auto result = rc::detail::checkTestable(
      [&] {
        const std::optional<Case> c = space.At(*AnyIndices(space));
        RC_PRE(c.has_value());
        if (broken_down) return;  // no use in asking again, nor in shrinking
        try {
          const Residual residual = property.check(*c, DrawInputs(*c), ask);
          ++verdict.cases;
          if (Holds(residual)) return;
          std::ostringstream detail;
          detail.precision(17);
          detail << residual.where << ": off by " << residual.error << ", rounding explains " << residual.slack;
          last_line = c->ToString();
          last_detail = detail.str();
          RC_FAIL("broken");
        } catch (const Declined&) {
          ++declined;
          return;
        } catch (const CouldNotRun& e) {
          broken_down = e;
          last_line = c->ToString();
        }
      },
      metadata, params);
  if (broken_down) {
    verdict.status = PropertyVerdict::Status::kCouldNotRun;
    verdict.counterexample = last_line;
    verdict.detail = broken_down->message;
  } else if (result.template is<rc::detail::FailureResult>()) {
    verdict.status = PropertyVerdict::Status::kBroken;
    verdict.counterexample = last_line;
    verdict.detail = last_detail;
  } else if (verdict.cases == 0) {
    verdict.status = PropertyVerdict::Status::kDeclined;
    verdict.detail = declined > 0 ? "the subject declined every case" : "no case could be drawn";
  }
  return verdict;
}

}  // namespace

void Worsen(Residual& worst, const Residual& other) {
  // A NaN error is the worst of all and must stay.
  if (std::isnan(worst.error - worst.slack)) return;
  if (!(other.error - other.slack <= worst.error - worst.slack) || worst.where.empty()) worst = other;
}

std::vector<PropertyVerdict> CheckProperties(const Operation& operation, const Subject& subject,
                                             const std::string& recipe, const PropertyOptions& options) {
  const CaseSpace space(operation);
  const Ask ask = [&](const Case& c, const Tensors& inputs) { return AskSubject(subject, recipe, c, inputs); };
  std::vector<PropertyVerdict> verdicts;
  for (const Property& property : OracleOf(operation.info().name).properties) {
    verdicts.push_back(Check(property, space, ask, options));
  }
  return verdicts;
}

}  // namespace sextant::oracle
