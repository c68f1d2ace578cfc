#include "oracle/property/property.h"

#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "oracle/property/random_case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostDeclined = 10;  // cases per case that was asked for

struct CouldNotRun {
  std::string message;
};

Response AskSubject(const Subject& subject, const std::string& recipe, const Case& c,
                    const Tensors& inputs) {
  Answer answer = subject.answer(c, inputs);
  if (answer.status == Answer::Status::kUnsupported) throw Declined{answer.message};
  if (answer.status == Answer::Status::kFailed) throw CouldNotRun{answer.message};
  if (const std::string misfit = Misfit(c, answer.outputs); !misfit.empty()) {
    throw CouldNotRun{misfit};
  }
  const Recipe parsed = ParseRecipe(recipe, c.dtype());
  Response response{{}, Permit(c, inputs, parsed), parsed};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(answer.outputs, spec.name, &NamedTensor::name);
    response.outputs.push_back(at == answer.outputs.end() ? NamedTensor() : *at);
  }
  return response;
}

bool SameBits(const Tensors& a, const Tensors& b) {
  const auto same = [](const NamedTensor& x, const NamedTensor& y) {
    const std::vector<double>&p = x.values.data, &q = y.values.data;
    return p.size() == q.size() && std::memcmp(p.data(), q.data(), p.size() * sizeof(double)) == 0;
  };
  return std::ranges::equal(a, b, same);
}

// The same subject, never asked again what it declined: laws draw the same cases, and a subject
// with one form of several declines most of them.
Subject NotAskedTwice(const Subject& subject) {
  struct Asked {
    Tensors inputs;
    Answer answer;
  };
  const auto declined = std::make_shared<std::multimap<std::string, Asked>>();
  Subject same = subject;
  same.answer = [subject, declined](const Case& c, const Tensors& inputs) {
    const std::string line = c.ToString();
    const auto known = declined->equal_range(line);
    for (auto at = known.first; at != known.second; ++at) {
      if (SameBits(at->second.inputs, inputs)) return at->second.answer;
    }
    const Answer answer = subject.answer(c, inputs);
    if (answer.status == Answer::Status::kUnsupported) {
      declined->emplace(line, Asked{inputs, answer});
    }
    return answer;
  };
  return same;
}

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
  PropertyVerdict verdict{
      .name = property.name, .sentence = property.sentence, .counterexample = "", .detail = ""};
  rc::detail::TestParams params;
  params.seed = options.seed;
  params.maxSuccess = options.count;
  params.maxDiscardRatio = 100;
  const size_t most_declined = kMostDeclined * static_cast<size_t>(options.count);
  rc::detail::TestMetadata metadata;
  rc::detail::TestListenerAdapter silent;  // and no word of RapidCheck's own configuration
  metadata.id = property.name;
  std::string last_line, last_detail;
  std::optional<CouldNotRun> broken_down;
  std::optional<Declined> declined;
  const auto result = rc::detail::checkTestable(
      [&] {
        const std::optional<Case> c = space.At(*AnyIndices(space));
        RC_PRE(c.has_value());
        // No use in asking again, nor in shrinking.
        if (broken_down || verdict.declined >= most_declined) return;
        Findings findings;
        try {
          findings = property.check(*c, DrawInputs(*c), ask);
        } catch (const Declined& e) {
          declined = e;
          if (last_line.empty())
            ++verdict.declined;  // else it was drawn to shrink a counterexample
          RC_DISCARD("declined");
        } catch (const CouldNotRun& e) {
          broken_down = e;
          last_line = c->ToString();
        }
        verdict.cases += findings.count() > 0;
        if (findings.Hold()) return;
        last_line = c->ToString();
        last_detail = findings.Worst();
        RC_FAIL("broken");
      },
      metadata, params, silent, std::unordered_map<std::string, rc::detail::Reproduce>());
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
    verdict.detail = declined ? "the subject declined every case: " + declined->message
                              : "the law spoke of no case that was drawn";
  }
  return verdict;
}

}  // namespace

void Findings::Equal(const Measured& a, const Measured& b, const Place& where) {
  const Measured difference = a - b;
  Add(std::abs(difference.value()), difference.error(), where);
}

void Findings::AtMost(const Measured& a, const Measured& b, const Place& where) {
  const Measured excess = a - b;
  Add(excess.value() < 0 ? 0 : excess.value(), excess.error(), where);
}

void Findings::Add(double error, double slack, const Place& where) {
  // What is not a number is worse than anything.
  const bool stays = count_++ > 0 && (std::isnan(error_) || error - slack <= error_ - slack_);
  if (stays) return;
  error_ = error;
  slack_ = slack;
  where_ = IndexText(where.response.outputs[where.output].name, where.response.shape(where.output),
                     where.i);
}

std::string Findings::Worst() const {
  std::ostringstream text;
  text.precision(17);
  text << where_ << ": off by " << error_ << ", rounding explains " << slack_;
  return text.str();
}

std::vector<PropertyVerdict> CheckEach(const std::vector<Property>& properties,
                                       const Operation& operation, const Subject& subject,
                                       const std::string& recipe, const PropertyOptions& options) {
  const CaseSpace space(operation);
  const Subject spared = NotAskedTwice(subject);
  const Ask ask = [&](const Case& c, const Tensors& inputs) {
    return AskSubject(spared, recipe, c, inputs);
  };
  std::vector<PropertyVerdict> verdicts;
  for (const Property& property : properties) {
    if (!options.only.empty() && !options.only.contains(property.name)) continue;
    verdicts.push_back(Check(property, space, ask, options));
  }
  return verdicts;
}

}  // namespace sextant::oracle
