#include "tools/api/profile.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "oracle/profile/grouping.h"
#include "tools/api/answer_of.h"
#include "tools/api/computed_subject.h"

namespace sextant::tools {
namespace {

using oracle::AnsweredOutput;
using oracle::ErrorSample;
using oracle::ErrorUnit;
using oracle::Grouping;

constexpr size_t kMostWorst = 20;  // elements
constexpr double kNoKey = std::numeric_limits<double>::quiet_NaN();

// A case with its proven values; the permitted errors are those of the first subject's recipe.
struct Proven {
  const Case& c;
  const Tensors& inputs;
  ProvenAndPermitted values;
};

Distributions DistributionsOf(const std::vector<ErrorSample>& samples) {
  Distributions all;
  for (const ErrorUnit unit : oracle::kErrorUnits) {
    std::vector<double> errors;
    for (const ErrorSample& sample : samples) errors.push_back(oracle::In(unit, sample));
    all[static_cast<size_t>(unit)] = oracle::DistributionOf(std::move(errors));
  }
  return all;
}

// Collects the errors of one subject.
class Collector {
 public:
  Collector(const ProfileOptions& options, SubjectProfile& profile)
      : options_(options), profile_(profile), counts_(HistogramLimits().size()) {}

  void Add(const Proven& proven, const AnsweredOutput& output) {
    const TensorSpec& spec = *FindTensor(proven.c.info().signature, output.name);
    const oracle::OutputOf of{proven.c, spec, &proven.inputs};
    const bool by_step = options_.by == "step";
    // Another output may have the groups: the lse of attention has no channels.
    const std::string by = by_step || !oracle::HasGroups(of, options_.by) ? "row" : options_.by;
    const bool is_grouped = by == options_.by;
    const Grouping groups = oracle::GroupsOf(of, by);
    const bool has_map = groups.axis != "pair" && oracle::HasGroups(of, "pair");
    const Grouping pairs = has_map ? oracle::GroupsOf(of, "pair") : Grouping{};
    if (is_grouped) profile_.axis = groups.axis;
    for (size_t i = 0; i < output.samples.size(); ++i) {
      const ErrorSample& sample = output.samples[i];
      if (std::isnan(sample.ulp)) continue;
      const double ulps = std::abs(oracle::In(ErrorUnit::kUlps, sample));
      all_.push_back(sample);
      Count(ulps);
      if (groups.group[i] == Grouping::kNone) continue;
      const double key = is_grouped ? groups.keys[groups.group[i]] : kNoKey;
      if (is_grouped) groups_[key].push_back(sample);
      if (is_grouped && has_map && pairs.group[i] != Grouping::kNone) {
        double& largest = map_[key][pairs.keys[pairs.group[i]]];
        largest = std::max(largest, ulps);
      }
      AddWorst(proven, output, i, key);
    }
  }

  void Finish() {
    profile_.elements = all_.size();
    profile_.errors = DistributionsOf(all_);
    for (const auto& [key, samples] : groups_)
      profile_.groups.push_back({key, samples.size(), DistributionsOf(samples)});
    profile_.histogram = counts_;
    if (!map_.empty()) profile_.map = Map();
  }

 private:
  void Count(double ulps) {
    const std::vector<double> limits = HistogramLimits();
    const auto above = std::ranges::upper_bound(limits, ulps);
    ++counts_[static_cast<size_t>(above - limits.begin()) - 1];
  }

  void AddWorst(const Proven& proven, const AnsweredOutput& output, size_t i, double key) {
    const double ulps = std::abs(oracle::In(ErrorUnit::kUlps, output.samples[i]));
    auto& worst = profile_.worst;
    if (worst.size() == kMostWorst && !(ulps > worst.back().ulps)) return;
    const auto at = std::ranges::upper_bound(worst, ulps, std::greater(), &WorstElement::ulps);
    worst.insert(at, {proven.c.ToString(), IndexText(output.name, output.shape, i), key,
                      output.got[i], output.exact[i], ulps,
                      std::abs(oracle::In(ErrorUnit::kPermitted, output.samples[i]))});
    worst.resize(std::min(worst.size(), kMostWorst));
  }

  ErrorMap Map() const {
    ErrorMap map{profile_.axis, "pair", {}, {}, {}};
    for (const auto& [key, row] : map_) {
      for (const auto& [pair, largest] : row) map.columns.push_back(pair);
    }
    std::ranges::sort(map.columns);
    map.columns.erase(std::ranges::unique(map.columns).begin(), map.columns.end());
    for (const auto& [key, row] : map_) {
      map.rows.push_back(key);
      auto& numbers = map.largest.emplace_back();
      for (const double pair : map.columns)
        numbers.push_back(row.contains(pair) ? row.at(pair) : -1);
    }
    return map;
  }

  const ProfileOptions& options_;
  SubjectProfile& profile_;
  std::vector<ErrorSample> all_;
  std::map<double, std::vector<ErrorSample>> groups_;
  std::map<double, std::map<double, double>> map_;
  std::vector<size_t> counts_;
};

SubjectProfile ProfileOne(const std::deque<Proven>& proven, const oracle::Subject& subject,
                          const ProfileOptions& options) {
  SubjectProfile profile{subject.name, options.recipe.empty() ? subject.recipe : options.recipe};
  profile.has_command = HasCommandName(subject);
  profile.has_own_recipe = profile.recipe == subject.recipe;
  Collector collector(options, profile);
  for (const Proven& one : proven) {
    if (options.prove.progress) options.prove.progress(0);  // it may end the call
    const oracle::Answer answer = AnswerOf(subject, one.c, one.inputs);
    if (answer.status != oracle::Answer::Status::kAnswered) {
      profile.not_answered.push_back(one.c.ToString() + ": " + answer.message);
      profile.could_not_run += answer.status == oracle::Answer::Status::kFailed;
      continue;
    }
    ++profile.answered;
    const auto permitted = PermittedErrors(
        {one.c, one.inputs, ParseRecipe(profile.recipe, one.c.dtype())}, options.prove);
    for (const auto& output : oracle::ErrorsOf(one.values.golden, permitted, answer.outputs))
      collector.Add(one, output);
  }
  collector.Finish();
  if (options.worst_questions > 0 && !proven.empty()) {
    profile.found = oracle::FindWorst(proven.front().c, subject,
                                      {.recipe = profile.recipe,
                                       .questions = options.worst_questions,
                                       .seed = options.seed,
                                       .prove = options.prove});
  }
  return profile;
}

// True if an output of the case has the groups.
bool HasGroups(const AskedCase& asked, const std::string& by) {
  return std::ranges::any_of(asked.c.info().signature.outputs, [&](const TensorSpec& output) {
    return oracle::HasGroups({asked.c, output, &asked.inputs}, by);
  });
}

// The usual groups of the first case, if all have them.
std::string UsualGroups(const std::vector<AskedCase>& asked) {
  const auto& [c, inputs] = asked.front();
  const std::string by = oracle::UsualGroups({c, c.info().signature.outputs.front(), &inputs});
  const bool all_have =
      std::ranges::all_of(asked, [&](const AskedCase& one) { return HasGroups(one, by); });
  return all_have ? by : "row";
}

// Throws Error if a case has no such groups.
void RequireGroups(const std::vector<AskedCase>& asked, const std::string& by) {
  for (const AskedCase& one : asked) {
    const TensorSpec& first = one.c.info().signature.outputs.front();
    if (by != "step" && !HasGroups(one, by)) oracle::GroupsOf({one.c, first, &one.inputs}, by);
  }
}

}  // namespace

std::vector<double> HistogramLimits() {
  std::vector<double> limits = {0, 0.125, 0.25, 0.375};
  for (double octave = 0.5; octave <= 0x1p24; octave *= 2) {
    limits.push_back(octave);
    limits.push_back(1.5 * octave);
  }
  return limits;
}

std::vector<double> HonestShares() {
  const std::vector<double> limits = HistogramLimits();
  std::vector<double> shares;
  for (size_t i = 0; i < limits.size(); ++i) {
    const double high = i + 1 < limits.size() ? limits[i + 1] : kInfinity;
    shares.push_back(2 * std::max(0.0, std::min(high, 0.5) - limits[i]));
  }
  return shares;
}

Profile ProfileOf(const std::vector<AskedCase>& asked, const std::vector<oracle::Subject>& subjects,
                  ProfileOptions options) {
  if (options.by.empty()) options.by = UsualGroups(asked);
  RequireGroups(asked, options.by);
  Profile profile{{}, options.by};
  const ScopedBudget within(options.budget);
  profile.below = options.below;
  std::deque<Proven> proven;
  const std::string first = options.recipe.empty() ? subjects.front().recipe : options.recipe;
  for (const auto& [c, inputs] : asked) {
    profile.cases.push_back(c.ToString());
    const Recipe recipe = ParseRecipe(first, c.dtype());
    if (const auto sample = SampleIn(c))
      profile.left_out += sample->all_elements - sample->elements;
    proven.push_back({c, inputs, ProveAndPermit({c, inputs, recipe}, options.prove)});
  }
  std::vector<oracle::ProvenCase> cases;
  for (const Proven& one : proven)
    cases.push_back({one.c, one.inputs, one.values.golden, one.values.permitted, options.budget});
  for (const oracle::Subject& subject : subjects) {
    SubjectProfile& own = profile.subjects.emplace_back(ProfileOne(proven, subject, options));
    if (own.answered > 0) own.steps = oracle::StepCostsOf(cases, own.recipe, options.prove.threads);
  }
  if (options.below > 0)
    profile.cheapest = oracle::CheapestBelow(options.below, cases, options.prove.threads);
  return profile;
}

}  // namespace sextant::tools
