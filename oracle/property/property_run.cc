#include "oracle/property/property_run.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <sstream>

#include "oracle/property/random_case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

// Limits per requested case.
constexpr size_t kMostDeclined = 10;     // declined cases
constexpr int64_t kMostDiscarded = 100;  // declined cases and invalid combinations of choices

struct CouldNotRun {
  std::string message;
};

// Cache of the permitted errors of a recipe. Different properties draw the same cases, and most
// start with the same inputs.
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
    return known_.emplace(line, Known{inputs, PermittedErrors({c, inputs, RecipeOf(c)})})
        ->second.permitted;
  }

 private:
  static constexpr size_t kMostKept = 1024;  // entries, each of at most some thousand elements
  struct Known {
    Tensors inputs;
    std::vector<PermittedTensor> permitted;
  };
  std::string recipe_;
  std::multimap<std::string, Known> known_;
};

// Codes are unspecified where the answered scale is 0, or may be any number.
void LeaveOutCodesWithoutScale(const Case& c, Response& response) {
  const auto& specs = c.info().signature.outputs;
  for (size_t o = 1; o < specs.size(); ++o) {
    if (specs[o].role != Role::kCode) continue;
    const std::vector<double>& scales = response.outputs[0].values.data;
    const Shape& codes = response.shape(o);
    // [N,A,G,M] of quantize; of others a scale has the numbers that follow one another.
    const size_t last = codes.empty() ? 0 : codes.back(), groups = response.shape(0).back();
    for (size_t i = 0; last > 0 && i < response.size(o); ++i) {
      const size_t rows = response.size(o) / (scales.size() * last),
                   block = i / (rows * groups * last) * groups + i / last % groups;
      if (scales[block] == 0 || std::isinf(response.permitted[0].error.data[block]))
        response.permitted[o].error.data[i] = kInfinity;
    }
  }
}

Response AskSubject(const Subject& subject, Permits& permits, const Case& c,
                    const Tensors& inputs) {
  Answer answer = subject.answer(c, inputs);
  if (answer.status == Answer::Status::kUnsupported) throw Declined{answer.message};
  if (answer.status == Answer::Status::kFailed) throw CouldNotRun{answer.message};
  if (const std::string mismatch = DescribeMismatch(c, answer.outputs); !mismatch.empty()) {
    throw CouldNotRun{mismatch};
  }
  Response response{{}, permits.Of(c, inputs), permits.RecipeOf(c), c.info().bitwise};
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(answer.outputs, spec.name, &NamedTensor::name);
    response.outputs.push_back(at == answer.outputs.end() ? NamedTensor() : *at);
  }
  LeaveOutCodesWithoutScale(c, response);
  return response;
}

// The same subject with a cache of declined cases. Different properties draw the same cases, and a
// subject that supports one of several variants declines most of them.
Subject WithDeclinedCache(const Subject& subject) {
  struct DeclinedCase {
    Tensors inputs;
    Answer answer;
  };
  const auto declined = std::make_shared<std::multimap<std::string, DeclinedCase>>();
  Subject same = subject;
  same.answer = [subject, declined](const Case& c, const Tensors& inputs) {
    const std::string line = c.ToString();
    const auto known = declined->equal_range(line);
    for (auto at = known.first; at != known.second; ++at) {
      if (SameBits(at->second.inputs, inputs)) return at->second.answer;
    }
    const Answer answer = subject.answer(c, inputs);
    if (answer.status == Answer::Status::kUnsupported) {
      declined->emplace(line, DeclinedCase{inputs, answer});
    }
    return answer;
  };
  return same;
}

rc::Gen<std::vector<size_t>> AnyIndices(const CaseSpace& space) {
  // Shrinking moves every index towards 0, the simplest choice.
  return rc::gen::exec([&space] {
    std::vector<size_t> indices;
    for (const size_t size : space.sizes()) indices.push_back(*rc::gen::inRange<size_t>(0, size));
    return indices;
  });
}

// Checks one property on one subject.
class Run {
 public:
  Run(const Property& property, const CaseSpace& space, const Ask& ask,
      const PropertyOptions& options)
      : property_(property), space_(space), ask_(ask), options_(options) {}

  PropertyVerdict operator()() {
    const rc::Gen<std::vector<size_t>> cases = AnyIndices(space_);
    rc::Random random(options_.seed);
    int64_t held = 0, discarded = 0, in_a_row = 0;
    while (held < options_.count && discarded < MostDiscarded()) {
      // Larger cases come later, and where small ones do not go together.
      const int64_t size =
          rc::kNominalSize * held / std::max(1, options_.count - 1) + in_a_row / 10;
      const auto drawn =
          cases(random.split(), static_cast<int>(std::min<int64_t>(size, rc::kNominalSize)));
      const Outcome outcome = Try(drawn.value());
      if (outcome == Outcome::kBroken) Shrink(drawn);
      if (outcome == Outcome::kBroken || crash_ || verdict_.declined >= MostDeclined()) break;
      const bool is_discarded = outcome == Outcome::kDiscarded;
      ++(is_discarded ? discarded : held);
      in_a_row = is_discarded ? in_a_row + 1 : 0;
    }
    return Conclude();
  }

 private:
  enum class Outcome { kHeld, kDiscarded, kBroken };  // discarded: invalid, declined or crashed

  // Checks the property in one case.
  Outcome Try(const std::vector<size_t>& indices) {
    const std::optional<Case> c = space_.At(indices);
    if (!c) return Outcome::kDiscarded;
    Comparisons comparisons;
    try {
      comparisons = property_.check(*c, DrawInputs(*c), ask_);
    } catch (const Declined& e) {
      declined_ = e.message;
      verdict_.declined += !IsBroken();
      return Outcome::kDiscarded;
    } catch (const CouldNotRun& e) {
      crash_ = e.message;
      crash_line_ = c->ToString();
      return Outcome::kDiscarded;
    } catch (const Error& e) {  // a mistake of the property, not of the subject
      crash_ = std::string("the property cannot be computed: ") + e.what();
      crash_line_ = c->ToString();
      return Outcome::kDiscarded;
    }
    if (!IsBroken()) {
      ++answered_;
      verdict_.cases += comparisons.count() > 0;
    }
    if (comparisons.Hold()) return Outcome::kHeld;
    verdict_.counterexample = c->ToString();
    verdict_.detail = comparisons.Worst();
    return Outcome::kBroken;
  }

  // Replaces the counterexample by a simpler one as long as there is one.
  void Shrink(rc::Shrinkable<std::vector<size_t>> broken) {
    auto simpler = broken.shrinks();
    while (const auto next = simpler.next()) {
      const bool breaks = Try(next->value()) == Outcome::kBroken;
      if (crash_) return;
      if (breaks) simpler = next->shrinks();
    }
  }

  // If the subject crashes during shrinking, the last counterexample stays valid.
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

  // The reason why the property does not count as holding, although no case broke it.
  std::string Shortfall() const {
    if (!declined_) {
      return verdict_.cases == 0 ? "the property does not apply to any random case"
                                 : "too few random cases are valid";
    }
    if (answered_ == 0) return "the subject declined every case: " + *declined_;
    if (verdict_.cases == 0)
      return "the property does not apply to any case that the subject answered";
    return "the subject answered only " + std::to_string(answered_) + " of " +
           std::to_string(options_.count) + " cases and declined " +
           std::to_string(verdict_.declined) + ": " + *declined_;
  }

  bool IsBroken() const { return !verdict_.counterexample.empty(); }
  size_t MostDeclined() const { return kMostDeclined * static_cast<size_t>(options_.count); }
  int64_t MostDiscarded() const { return kMostDiscarded * options_.count; }

  const Property& property_;
  const CaseSpace& space_;
  const Ask& ask_;
  const PropertyOptions& options_;
  PropertyVerdict verdict_;
  size_t answered_ = 0;
  std::optional<std::string> declined_, crash_;  // messages of the last decline, of the crash
  std::string crash_line_;
};

}  // namespace

std::vector<PropertyVerdict> CheckEach(const std::vector<Property>& properties,
                                       const Operation& operation, const Subject& subject,
                                       const std::string& recipe, const PropertyOptions& options) {
  const CaseSpace space(operation);
  const Subject cached = WithDeclinedCache(subject);
  Permits permits(recipe);
  const Ask ask = [&](const Case& c, const Tensors& inputs) {
    return AskSubject(cached, permits, c, inputs);
  };
  std::vector<PropertyVerdict> verdicts;
  for (const Property& property : properties) {
    if (!options.only.empty() && !options.only.contains(property.name)) continue;
    verdicts.push_back(Run(property, space, ask, options)());
  }
  return verdicts;
}

}  // namespace sextant::oracle
