#include "oracle/property/property.h"

#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>

#include <algorithm>
#include <cmath>
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

// What a recipe permits, computed once for each question: laws draw the same cases, and most begin
// with the same question.
class Permits {
 public:
  explicit Permits(std::string recipe) : recipe_(std::move(recipe)) {}
  Recipe RecipeOf(const Case& c) const { return ParseRecipe(recipe_, c.dtype()); }
  std::vector<PermittedTensor> Of(const Case& c, const Tensors& inputs) {
    const std::string line = c.ToString();
    const auto known = known_.equal_range(line);
    for (auto at = known.first; at != known.second; ++at) {
      if (SameBits(at->second.inputs, inputs)) return at->second.permitted;
    }
    if (known_.size() == kMostKept) known_.clear();
    return known_.emplace(line, Known{inputs, Permit(c, inputs, RecipeOf(c))})->second.permitted;
  }

 private:
  static constexpr size_t kMostKept = 1024;  // of at most some thousand elements each
  struct Known {
    Tensors inputs;
    std::vector<PermittedTensor> permitted;
  };
  std::string recipe_;
  std::multimap<std::string, Known> known_;
};

Response AskSubject(const Subject& subject, Permits& permits, const Case& c,
                    const Tensors& inputs) {
  Answer answer = subject.answer(c, inputs);
  if (answer.status == Answer::Status::kUnsupported) throw Declined{answer.message};
  if (answer.status == Answer::Status::kFailed) throw CouldNotRun{answer.message};
  if (const std::string misfit = Misfit(c, answer.outputs); !misfit.empty()) {
    throw CouldNotRun{misfit};
  }
  Response response{{}, permits.Of(c, inputs), permits.RecipeOf(c)};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(answer.outputs, spec.name, &NamedTensor::name);
    response.outputs.push_back(at == answer.outputs.end() ? NamedTensor() : *at);
  }
  return response;
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

// One law on one subject: what its cases showed.
class Run {
 public:
  Run(const Property& property, const CaseSpace& space, const Ask& ask,
      const PropertyOptions& options)
      : property_(property), space_(space), ask_(ask), options_(options) {}

  PropertyVerdict operator()() {
    rc::detail::TestParams params;
    params.seed = options_.seed;
    params.maxSuccess = options_.count;
    params.maxDiscardRatio = 100;
    rc::detail::TestMetadata metadata;
    rc::detail::TestListenerAdapter silent;  // and no word of RapidCheck's own configuration
    metadata.id = property_.name;
    rc::detail::checkTestable([this] { Try(); }, metadata, params, silent,
                              std::unordered_map<std::string, rc::detail::Reproduce>());
    return Conclude();
  }

 private:
  // Draws a case and looks at what the law finds there; also called to shrink a counterexample.
  void Try() {
    const std::optional<Case> c = space_.At(*AnyIndices(space_));
    RC_PRE(c.has_value());
    if (crash_ || verdict_.declined >= MostDeclined()) return;  // no use in asking again
    Findings findings;
    try {
      findings = property_.check(*c, DrawInputs(*c), ask_);
    } catch (const Declined& e) {
      declined_ = e.message;
      verdict_.declined += !IsBroken();
      RC_DISCARD("declined");
    } catch (const CouldNotRun& e) {
      crash_ = e.message;
      crash_line_ = c->ToString();
      return;
    }
    if (!IsBroken()) {
      ++answered_;
      verdict_.cases += findings.count() > 0;
    }
    if (findings.Hold()) return;
    verdict_.counterexample = c->ToString();
    verdict_.detail = findings.Worst();
    RC_FAIL("broken");
  }

  // A counterexample stays one, whatever happens while it is shrunk.
  PropertyVerdict Conclude() {
    verdict_.name = property_.name;
    verdict_.sentence = property_.sentence;
    if (IsBroken()) {
      verdict_.status = PropertyVerdict::Status::kBroken;
      if (crash_) {
        verdict_.detail += "\n  not shrunk any further: at " + crash_line_ +
                           " the subject could not be run: " + *crash_;
      }
    } else if (crash_) {
      verdict_.status = PropertyVerdict::Status::kCouldNotRun;
      verdict_.counterexample = crash_line_;
      verdict_.detail = *crash_;
    } else if (answered_ < static_cast<size_t>(options_.count) || verdict_.cases == 0) {
      verdict_.status = PropertyVerdict::Status::kDeclined;
      verdict_.detail = Shortfall();
    }
    return std::move(verdict_);
  }

  // Why the law cannot be said to hold although nothing broke it.
  std::string Shortfall() const {
    if (!declined_) {
      return verdict_.cases == 0 ? "the law spoke of no case that was drawn"
                                 : "too few cases exist";
    }
    if (answered_ == 0) return "the subject declined every case: " + *declined_;
    if (verdict_.cases == 0) return "the law spoke of no case that the subject answered";
    return "the subject answered only " + std::to_string(answered_) + " of " +
           std::to_string(options_.count) + " cases and declined " +
           std::to_string(verdict_.declined) + ": " + *declined_;
  }

  bool IsBroken() const { return !verdict_.counterexample.empty(); }
  size_t MostDeclined() const { return kMostDeclined * static_cast<size_t>(options_.count); }

  const Property& property_;
  const CaseSpace& space_;
  const Ask& ask_;
  const PropertyOptions& options_;
  PropertyVerdict verdict_;
  size_t answered_ = 0;
  std::optional<std::string> declined_, crash_;  // why, of the last case declined; of the crash
  std::string crash_line_;
};

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
  Permits permits(recipe);
  const Ask ask = [&](const Case& c, const Tensors& inputs) {
    return AskSubject(spared, permits, c, inputs);
  };
  std::vector<PropertyVerdict> verdicts;
  for (const Property& property : properties) {
    if (!options.only.empty() && !options.only.contains(property.name)) continue;
    verdicts.push_back(Run(property, space, ask, options)());
  }
  return verdicts;
}

}  // namespace sextant::oracle
