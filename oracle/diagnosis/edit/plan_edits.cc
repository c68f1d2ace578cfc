#include "oracle/diagnosis/edit/plan_edits.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "oracle/diagnosis/edit/likely_numbers.h"
#include "oracle/diagnosis/edit/other_functions.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// What a function of two stages does: @ is the first, # the second.
struct Verb {
  Function function;
  const char *name, *text, *left_out;
};
constexpr Verb kVerbs[] = {
    {Function::kAdd, "added", "# is added to @", "# is not added to @"},
    {Function::kSubtract, "subtracted", "# is subtracted from @", "# is not subtracted from @"},
    {Function::kMultiply, "multiplied", "@ is multiplied by #", "@ is not multiplied by #"},
    {Function::kDivide, "divided", "@ is divided by #", "@ is not divided by #"},
    {Function::kLarger, "as_floor", "# is a lower bound of @", "@ has no lower bound"},
    {Function::kSmaller, "as_limit", "# is an upper bound of @", "@ has no upper bound"},
};
const Verb* VerbOf(Function function) {
  const auto at = std::ranges::find(kVerbs, function, &Verb::function);
  return at == std::end(kVerbs) ? nullptr : at;
}

std::string Filled(std::string text, char sign, const std::string& by) {
  if (const size_t at = text.find(sign); at != std::string::npos) text.replace(at, 1, by);
  return text;
}
std::string Filled(const std::string& text, const std::string& first, const std::string& second) {
  return Filled(Filled(text, '@', first), '#', second);
}

// "the mean square" -> "mean_square"
std::string NameFrom(const std::string& noun) {
  std::string name = noun.starts_with("the ") ? noun.substr(4) : noun;
  std::ranges::replace(name, ' ', '_');
  return name;
}

// A number of a row.
struct Statistic {
  const char *name, *text;
  Function function;
  double (*of)(double) = nullptr;
  bool is_mean = false;
  Stage AddTo(Plan& plan, Stage stage, char axis, Step step) const {
    const Stage terms = of ? plan.Changed(stage, of) : stage;
    const Stage made = plan.Along(axis, "the statistic", step, function, terms);
    if (!is_mean) return made;
    const Stage count = plan.Along(axis, "the count", step, Function::kCount, terms);
    return plan.Of("the mean", step, Function::kDivide, {made, count});
  }
};
double Magnitude(double x) { return std::abs(x); }
constexpr Statistic kMean = {"mean", "the mean of @", Function::kSum, nullptr, true};
constexpr Statistic kStatistics[] = {
    {"largest_magnitude", "the largest magnitude of @", Function::kLargest, Magnitude},
    {"mean_magnitude", "the mean magnitude, the mean of absolute values, of @", Function::kSum,
     Magnitude, true},
    {"sum_of_magnitudes", "the sum of the magnitudes of @", Function::kSum, Magnitude},
    {"largest", "the largest of @", Function::kLargest},
    kMean,
    {"sum", "the sum of @", Function::kSum},
    {"smallest", "the smallest of @, with the other sign", Function::kLargest,
     [](double x) { return -x; }},
};

// Orders, and sums up to each column, are looked for in so many indices.
constexpr size_t kMostOrdered = 4096;

class Editor {
 public:
  Editor(const Plan& plan, std::string_view slices) : plan_(plan), slices_(slices) {
    for (Stage stage = 0; stage < plan_.size(); ++stage)
      (plan_.at(stage).function == Function::kNumber ? numbers_ : stages_).push_back(stage);
  }

  std::vector<PlanEdit> All() && {
    for (const Stage number : numbers_) {
      ChangeNumber(number);
      MakeRelative(number);
    }
    for (const Stage stage : stages_) {
      if (plan_.at(stage).function == Function::kCount) {
        ChangeCount(stage);
        continue;
      }
      ChangeFunction(stage);
      Move(stage);
      if (plan_.at(stage).axis != ' ') ReduceOtherwise(stage);
      ReadOthers(stage);
      Change(stage);
      WithNumber(stage);
      InPart(stage);
      Combine(stage);
      Reorder(stage);
    }
    ComputeTwice();
    ForOneResult();
    std::erase_if(edits_, [](const PlanEdit& edit) { return edit.values.empty(); });  // few columns
    std::ranges::stable_sort(edits_, {}, &PlanEdit::cost);
    return std::move(edits_);
  }

 private:
  const std::string& Noun(Stage stage) const { return plan_.at(stage).noun; }
  std::string NameOf(Stage stage) const { return NameFrom(Noun(stage)); }
  bool HasAxes(Stage stage, Stage other) const {  // all those of `other`
    const std::string axes = plan_.AxesOf(stage);
    return std::ranges::all_of(plan_.AxesOf(other),
                               [&](char letter) { return axes.find(letter) != std::string::npos; });
  }
  bool IsStacked(char axis) const {
    return std::ranges::any_of(stages_, [&](Stage stage) {
      return plan_.at(stage).function == Function::kStack && plan_.at(stage).axis == axis;
    });
  }
  // A sentence about columns, said of this axis.
  std::string ForAxis(char axis, std::string sentence) const {
    const std::string noun = axis == 'N' ? "row" : IsStacked(axis) ? "part" : "column";
    for (size_t at = 0; (at = sentence.find("column", at)) != std::string::npos; at += noun.size())
      sentence.replace(at, 6, noun);
    return sentence;
  }
  bool IsAcross(char axis) const { return slices_.find(axis) != std::string_view::npos; }
  bool IsResult(Stage stage) const { return std::ranges::count(plan_.results(), stage) > 0; }
  // What changes after all is more likely a change of the result than of a stage in between.
  int CostOfStage(Stage stage) const {
    return IsResult(stage) ? 0 : plan_.at(stage).function == Function::kInput ? 1 : 2;
  }

  PlanEdit& Add(int cost, std::string name, std::string sentence,
                std::function<void(Plan&, double)> edit) {
    edits_.push_back({std::move(name), std::move(sentence), std::move(edit)});
    edits_.back().cost = cost;
    return edits_.back();
  }
  PlanEdit& Add(int cost, std::string name, std::string sentence, std::function<void(Plan&)> edit) {
    return Add(cost, std::move(name), std::move(sentence),
               [edit = std::move(edit)](Plan& plan, double) { edit(plan); });
  }

  // All that reads the stage reads it after the function.
  static void Insert(Plan& plan, Stage stage, Function function, Stage second) {
    plan.Replace(stage,
                 plan.Of(plan.at(stage).noun, plan.at(stage).step, function, {stage, second}));
  }
  static void Insert(Plan& plan, Stage stage, std::function<double(double)> other) {
    plan.Replace(stage, plan.Changed(stage, std::move(other)));
  }

  void ChangeNumber(Stage number) {
    const double right = plan_.at(number).number;
    const auto set = [number](Plan& plan, double x) { plan.Edit(number).number = x; };
    const std::string sentence = Noun(number) + " is #, expected " + PrintValue(right);
    PlanEdit& any = Add(1, NameOf(number) + "_changed", sentence, set);
    any.values = NumbersBeside(right);
    any.right = right;
    if (const auto values = RoundingsOf(right); !values.empty())
      Add(1, NameOf(number) + "_rounded", sentence, set).values = values;
  }

  // The number of terms is another one.
  void ChangeCount(Stage count) {
    const auto right = static_cast<double>(plan_.ExtentOf(plan_.at(count).axis));
    PlanEdit& any =
        Add(1, NameOf(count) + "_changed", Noun(count) + " is #, expected " + PrintValue(right),
            [count](Plan& plan, double x) {
              Node& node = plan.Edit(count);
              node.function = Function::kNumber;
              node.number = x;
              node.axis = ' ';
            });
    any.values = NumbersBeside(right);
    any.right = right;
  }

  // Another function of the same stages, or one of them alone.
  void ChangeFunction(Stage stage) {
    const Node& node = plan_.at(stage);
    const auto set = [stage](Function function) {
      return [=](Plan& plan) { plan.Edit(stage).function = function; };
    };
    if (node.axis == ' ' && node.uses.size() == 1) {
      const std::string& of = Noun(node.uses[0]);
      Add(1, NameOf(stage) + "_missing", Noun(stage) + " is missing: " + of + " is used instead",
          set(Function::kSame));
      for (const auto& [name, text, f] : FunctionsInsteadOf(node.function))
        Add(2, name, Filled(text, '@', of), [stage, f = f, right = node.function](Plan& plan) {
          plan.Edit(stage).function = Function::kOther;
          plan.Edit(stage).other = [f, right](double x) {
            return right == Function::kExp && x == -kInfinity ? 0 : f(x);
          };
        });
    }
    const Verb* const right = VerbOf(node.function);
    if (node.uses.size() != 2 || !right) return;
    const auto [a, b] = std::pair(Noun(node.uses[0]), Noun(node.uses[1]));
    const std::string expected = Filled(right->text, a, b);
    Add(1, NameFrom(b) + "_not_" + right->name, Filled(right->left_out, a, b),
        [stage](Plan& plan) { plan.Replace(stage, plan.at(stage).uses[0]); });
    if (node.uses[0] == node.uses[1]) return;
    Add(2, NameFrom(b) + "_alone", b + " is used instead of " + Noun(stage),
        [stage](Plan& plan) { plan.Replace(stage, plan.at(stage).uses[1]); });
    for (const Verb& verb : kVerbs) {
      if (verb.function == node.function) continue;
      Add(2, NameFrom(b) + "_" + verb.name, Filled(verb.text, a, b) + "; right is: " + expected,
          set(verb.function));
    }
    if (node.function == Function::kSubtract || node.function == Function::kDivide)
      Add(3, NameFrom(b) + "_" + right->name + "_the_other_way",
          Filled(right->text, b, a) + "; right is: " + expected,
          [stage](Plan& plan) { std::swap(plan.Edit(stage).uses[0], plan.Edit(stage).uses[1]); });
    Add(2, NameFrom(b) + "_" + right->name + "_twice", expected + " twice", [stage](Plan& plan) {
      Insert(plan, stage, plan.at(stage).function, plan.at(stage).uses[1]);
    });
  }

  // What a function does with its second stage is done to another stage.
  void Move(Stage stage) {
    const Node& node = plan_.at(stage);
    const Verb* const verb = VerbOf(node.function);
    if (!verb || node.uses.size() != 2 || node.uses[0] == node.uses[1]) return;
    const Stage moved = node.uses[1];
    for (const Stage to : stages_) {
      if (to == stage || to == node.uses[0] || plan_.DependsOn(moved, to) || !HasAxes(to, moved))
        continue;
      Add(3, NameFrom(Noun(moved)) + "_" + verb->name + "_elsewhere",
          Filled(verb->text, Noun(to), Noun(moved)) +
              "; right is: " + Filled(verb->text, Noun(node.uses[0]), Noun(moved)),
          [=, f = node.function](Plan& plan) {
            plan.Replace(stage, plan.at(stage).uses[0]);
            Insert(plan, to, f, moved);
          });
    }
  }

  // Other terms are summed; the count of terms follows, or not.
  void ReduceOtherwise(Stage stage) {
    const Node& node = plan_.at(stage);
    const char axis = node.axis;
    const size_t extent = plan_.ExtentOf(axis);
    const std::string all = " of " + std::to_string(extent);
    std::vector<Stage> counts;
    for (const Stage other : stages_)
      if (plan_.at(other).function == Function::kCount && plan_.at(other).uses == node.uses)
        counts.push_back(other);
    const bool is_sum = node.function == Function::kSum;
    const auto add = [&](const std::string& name, const std::string& sentence,
                         std::vector<NamedValue> values, auto spans) {
      for (const bool follows : {false, true}) {
        if (follows && counts.empty()) continue;
        std::vector<Stage> changed = {stage};
        if (follows) changed.insert(changed.end(), counts.begin(), counts.end());
        const std::string rest = counts.empty() ? ""
                                 : follows      ? ", and its mean is over these alone"
                                           : ", but it is divided by the number of all columns";
        Add(follows ? 2 : 3, NameOf(stage) + name, Noun(stage) + ForAxis(axis, sentence + rest),
            [=](Plan& plan, double number) {
              const auto n = static_cast<size_t>(number);
              for (const Stage each : changed) {
                if constexpr (std::is_invocable_v<decltype(spans), size_t, size_t>) {
                  plan.Edit(each).of = [n, spans](size_t j) { return spans(n, j); };
                } else {
                  plan.Edit(each).spans = spans(n);
                }
              }
            })
            .values = values;
      }
    };
    add("_cut", " has only the first # columns" + all, Lengths(extent), [](size_t n) {
      return Spans{{0, n}};
    });
    add("_begins_late", " has only the last # columns" + all, Lengths(extent), [extent](size_t n) {
      return Spans{{extent - n, extent}};
    });
    add("_by_groups", " is that of each group of # columns" + all, Tiles(extent),
        [](size_t n, size_t j) {
          return Spans{{j / n * n, (j / n + 1) * n}};
        });
    add("_by_lanes", " is that of each of # lanes", Tiles(extent), [extent](size_t n, size_t j) {
      return Spans{{j % n, extent, n}};
    });
    add("_of_every_other", " has only one column in #", Listed({2, 3, 4, 8, 16, 32}),
        [extent](size_t n) {
          return Spans{{0, extent, n}};
        });
    for (const size_t lanes : {2, 4, 8, 16, 32}) {
      std::vector<double> lost;
      for (size_t lane = 0; lane < lanes && lanes < extent; ++lane)
        lost.push_back(static_cast<double>(lane));
      add("_without_lane",
          " lacks the columns whose number modulo " + std::to_string(lanes) + " is #", Listed(lost),
          [=](size_t n) {
            Spans spans;
            for (size_t lane = 0; lane < lanes; ++lane)
              if (lane != n) spans.push_back({lane, extent, lanes});
            return spans;
          });
    }
    for (size_t tile = 4; tile < extent && tile <= 256; tile *= 2) {
      std::vector<double> firsts;
      for (size_t first = 0; first < extent && firsts.size() < 16; first += tile)
        firsts.push_back(static_cast<double>(first));
      add("_without_tile", " lacks a tile of " + std::to_string(tile) + " columns, those from # on",
          Listed(firsts), [=](size_t n) {
            return Spans{{0, n}, {n + tile, extent}};
          });
      add("_of_one_tile",
          " has only a tile of " + std::to_string(tile) + " columns, those from # on",
          Listed(firsts), [=](size_t n) {
            return Spans{{n, n + tile}};
          });
    }
    if (extent <= kMostOrdered) {
      add("_up_to_tile", " is that of the columns up to the end of each tile of #", Tiles(extent),
          [](size_t n, size_t j) {
            return Spans{{0, (j / n + 1) * n}};
          });
      add("_up_to_each", " is that of the columns up to each one", {{1, " "}},
          [](size_t, size_t j) {
            return Spans{{0, j + 1}};
          });
    }
    if (!is_sum) {
      Add(2, NameOf(stage) + "_is_first",
          ForAxis(axis, "the first column is taken instead of ") + Noun(stage),
          [stage](Plan& plan) {
            plan.Edit(stage).spans = {{0, 1}};
          });
      Add(2, NameOf(stage) + "_is_sum", "the sum is taken instead of " + Noun(stage),
          [stage](Plan& plan) { plan.Edit(stage).function = Function::kSum; });
    }
    if (is_sum) {
      add("_counts_twice",
          " counts the columns twice in which the last tile of # overlaps with the one before",
          Tiles(extent), [extent](size_t n) {
            return Spans{{0, extent / n * n}, {extent % n == 0 ? extent : extent - n, extent}};
          });
      Add(2, NameOf(stage) + "_is_largest", "the largest term is taken instead of " + Noun(stage),
          [stage](Plan& plan) { plan.Edit(stage).function = Function::kLargest; });
      PadWithZeros(stage);
    }
    AcrossRows(stage, counts);
  }
  void PadWithZeros(Stage sum) {
    const Stage terms = plan_.at(sum).uses[0];
    if (!plan_.DependsOn(terms, 0)) return;
    Add(3, NameOf(sum) + "_has_zeros", Noun(sum) + " has # terms more, those of x = 0",
        [sum, terms](Plan& plan, double count) {
          const Stage term = plan.CopyWith(terms, 0, plan.Number("0", 0));
          Insert(plan, sum, Function::kAdd,
                 plan.Of("the padding", plan.at(sum).step, Function::kMultiply,
                         {term, plan.Number("count", count)}));
        })
        .values = Paddings(plan_.ExtentOf(plan_.at(sum).axis));
  }
  void AcrossRows(Stage stage, const std::vector<Stage>& counts) {
    for (const char other : plan_.AxesOf(stage)) {
      Add(3, NameOf(stage) + "_down_the_columns", Noun(stage) + " runs down the columns",
          [=](Plan& plan) {
            plan.Edit(stage).axis = other;
            for (const Stage count : counts) plan.Edit(count).axis = other;
          })
          .is_across_slices = true;
      const size_t extent = plan_.ExtentOf(other);
      std::vector<double> groups = {static_cast<double>(extent)};
      for (size_t rows = 2; rows < extent && rows <= 64; ++rows)
        groups.push_back(static_cast<double>(rows));
      std::vector<Stage> shared = {stage};
      shared.insert(shared.end(), counts.begin(), counts.end());
      PlanEdit& edit = Add(
          3, NameOf(stage) + "_of_rows", "groups of # rows share " + Noun(stage),
          [=, function = plan_.at(stage).function](Plan& plan, double number) {
            const auto n = static_cast<size_t>(number);
            for (const Stage each : shared) {
              const Stage made =
                  plan.Along(other, plan.at(each).noun, plan.at(each).step, function, each);
              plan.Edit(made).of = [n](size_t j) { return Spans{{j / n * n, (j / n + 1) * n}}; };
              plan.Replace(each, made);
            }
          });
      edit.values = Listed(groups);
      edit.is_across_slices = true;
    }
  }

  // Another stage is read, by all that reads this one or by one of them.
  void ReadOthers(Stage stage) {
    for (Stage other = 0; other < plan_.size(); ++other) {
      if (other == stage || !HasAxes(stage, other)) continue;
      const std::string name = NameOf(other) + "_for_" + NameOf(stage);
      const std::string sentence = Noun(other) + " is used instead of " + Noun(stage);
      // By one reader, and by all: an output that others read stays what it is.
      const auto read = [=](Plan& plan, Stage reader) {
        if (!plan.DependsOn(other, reader))
          std::ranges::replace(plan.Edit(reader).uses, stage, other);
      };
      std::vector<Stage> readers;
      for (const Stage reader : stages_)
        if (std::ranges::count(plan_.at(reader).uses, stage) > 0 && !plan_.DependsOn(other, reader))
          readers.push_back(reader);
      for (const Stage reader : readers)
        Add(4, name, sentence + ", for " + Noun(reader), [=](Plan& plan) { read(plan, reader); });
      if (readers.size() > 1) {
        Add(3, name, sentence, [=](Plan& plan) {
          for (const Stage reader : readers) read(plan, reader);
        });
      } else if (readers.empty() && !plan_.DependsOn(other, stage)) {
        Add(3, name, sentence, [=](Plan& plan) { plan.Replace(stage, other); });
      }
    }
    ReadStatistics(stage);
  }
  // A statistic of a row is used instead of another one.
  void ReadStatistics(Stage stage) {
    const std::string axes = plan_.AxesOf(stage);
    for (const Stage of : stages_) {
      const std::string rows = plan_.AxesOf(of);
      if (rows.size() != axes.size() + 1 || !HasAxes(of, stage) || !plan_.DependsOn(stage, of))
        continue;
      const char axis = *std::ranges::find_if(
          rows, [&](char letter) { return axes.find(letter) == std::string::npos; });
      for (const Statistic& statistic : kStatistics)
        Add(IsResult(stage) ? 3 : 4, std::string(statistic.name) + "_for_" + NameOf(stage),
            Filled(statistic.text, '@', Noun(of)) + " is used instead of " + Noun(stage),
            [=](Plan& plan) {
              plan.Replace(stage, statistic.AddTo(plan, of, axis, plan.at(stage).step));
            });
    }
  }
  // A number is relative to a statistic of each row.
  void MakeRelative(Stage number) {
    for (const Stage of : stages_) {
      const std::string rows = plan_.AxesOf(of);
      const bool precedes = std::ranges::none_of(stages_, [&](Stage reader) {
        return plan_.DependsOn(of, reader) && plan_.DependsOn(reader, number);
      });
      if (rows.size() < 2 || IsAcross(rows.back()) || !precedes) continue;
      for (const Statistic& statistic : kStatistics)
        Add(4, NameOf(number) + "_times_" + statistic.name,
            Noun(number) + " is multiplied by " + Filled(statistic.text, '@', Noun(of)) +
                " in each row",
            [=](Plan& plan) {
              const Stage by = statistic.AddTo(plan, of, rows.back(), Step::kRsqrt);
              Insert(plan, number, Function::kMultiply, by);
            });
    }
  }

  // A function is applied, after the stage.
  void Change(Stage stage) {
    const int cost = 5 + CostOfStage(stage);
    for (const auto& [name, text, f] : FunctionsAfterwards())
      Add(cost, NameOf(stage) + "_" + name, Filled(text, '@', Noun(stage)),
          [stage, f = f](Plan& plan) { Insert(plan, stage, f); });
    for (const char axis : plan_.AxesOf(stage)) {
      if (IsAcross(axis) || plan_.AxesOf(stage).size() < 2) continue;
      Add(cost, NameOf(stage) + "_averaged",
          ForAxis(axis, "the mean of " + Noun(stage) + " is used for all columns"),
          [=](Plan& plan) {
            plan.Replace(stage, kMean.AddTo(plan, stage, axis, plan.at(stage).step));
          });
      for (const Function function : {Function::kSubtract, Function::kDivide}) {
        const bool subtracts = function == Function::kSubtract;
        Add(cost, NameOf(stage) + (subtracts ? "_mean_subtracted" : "_mean_divided"),
            subtracts ? "the mean of " + Noun(stage) + " is subtracted from it"
                      : Noun(stage) + " is divided by its mean",
            [=](Plan& plan) {
              Insert(plan, stage, function, kMean.AddTo(plan, stage, axis, Step::kCenter));
            });
      }
    }
  }
  void WithNumber(Stage stage) {
    const int cost = 5 + CostOfStage(stage);
    const std::string& noun = Noun(stage);
    const auto with = [stage](Function function, double sign = 1) {
      return [=](Plan& plan, double x) {
        Insert(plan, stage, function, plan.Number("a number", sign * x));
      };
    };
    PlanEdit& factor = Add(cost - 1, NameOf(stage) + "_multiplied", noun + " is multiplied by #",
                           with(Function::kMultiply));
    factor.values = Factors();
    factor.right = 1;
    for (const double sign : {1, -1}) {
      PlanEdit& added = Add(cost, NameOf(stage) + (sign > 0 ? "_increased" : "_decreased"),
                            sign > 0 ? "# is added to " + noun : "# is subtracted from " + noun,
                            with(Function::kAdd, sign));
      added.values = Summands();
      added.right = 0x1p-60;
    }
    const auto limited = [&](const std::string& sentence, std::function<void(Plan&, double)> edit) {
      PlanEdit& limit = Add(cost, NameOf(stage) + "_limited", noun + sentence, std::move(edit));
      limit.values = Limits();
      limit.right = kInfinity;
      limit.stage = stage;
    };
    limited(" is at most #", with(Function::kSmaller));
    limited(" is at least -#", with(Function::kLarger, -1));
    limited(" is limited to # and -#", [stage](Plan& plan, double limit) {
      Insert(plan, stage,
             [limit](double x) { return std::clamp(x, -std::abs(limit), std::abs(limit)); });
    });
    std::vector<NamedValue> floors = Summands();
    floors.insert(floors.begin(), {0, "0"});
    Add(cost, NameOf(stage) + "_has_floor", noun + " is at least #", with(Function::kLarger))
        .values = floors;
    PlanEdit& dropped =
        Add(cost, NameOf(stage) + "_small_are_0", noun + " is 0 where its magnitude is below #",
            [stage](Plan& plan, double least) {
              Insert(plan, stage, [least](double x) { return std::abs(x) < least ? 0 : x; });
            });
    dropped.values = FlushedBelow();
    dropped.stage = stage;
    dropped.is_threshold = true;
    if (plan_.at(stage).function == Function::kInput)
      Add(cost, NameOf(stage) + "_mask_changed", "-infinity in " + noun + " is read as #",
          [stage](Plan& plan, double mask) {
            Insert(plan, stage, [mask](double x) { return std::isinf(x) && x < 0 ? mask : x; });
          })
          .values = Listed({0, -1e4, -1e9, -65504, -3e4, -1000, -100, -50, -10, -1});
  }

  // A number instead of a stage beyond some columns, or before them.
  void InPart(Stage stage) {
    const std::string axes = plan_.AxesOf(stage);
    const char axis = axes.empty() ? ' ' : axes.back();
    const bool is_stacked = IsStacked(axis);
    if (axis == ' ' || IsAcross(axis)) return;
    if (plan_.at(stage).function != Function::kInput && !is_stacked) return;
    const bool is_factor = std::ranges::any_of(stages_, [&](Stage reader) {
      const auto& [function, uses] = std::tie(plan_.at(reader).function, plan_.at(reader).uses);
      return function == Function::kMultiply && uses.size() == 2 && uses[1] == stage;
    });
    for (const double value : {0, 1}) {
      if (!is_stacked && value != (is_factor ? 1 : 0)) continue;
      for (const bool is_last : {true, false}) AddInPart(stage, axis, value, is_last);
    }
  }
  void AddInPart(Stage stage, char axis, double value, bool is_last) {
    const size_t extent = plan_.ExtentOf(axis);
    const std::string place =
        IsStacked(axis) && extent == 2
            ? std::string(" in the ") + (is_last ? "second" : "first") + " column"
            : std::string(" in all but the ") + (is_last ? "first" : "last") + " # columns of " +
                  std::to_string(extent);
    const std::string text = Noun(stage) + " is " + PrintValue(value) + place;
    Add(4, NameOf(stage) + "_constant_in_part", ForAxis(axis, text),
        [=](Plan& plan, double number) {
          const auto n = static_cast<size_t>(number);
          const Stage made = plan.Reordered(stage, axis, [](size_t i) { return i; });
          plan.Edit(made).chosen = [=](size_t i) { return is_last ? i < n : i + n >= extent; };
          plan.Edit(made).number = value;
          plan.Replace(stage, made);
        })
        .values = Lengths(extent);
  }

  void Combine(Stage stage) {
    for (Stage other = 0; other < plan_.size(); ++other) {
      if (other == stage || plan_.DependsOn(other, stage) || !HasAxes(stage, other)) continue;
      const bool is_number = plan_.at(other).function == Function::kNumber;
      for (const Verb& verb : std::span(kVerbs).first(4))
        Add(is_number ? 4 : 8 + CostOfStage(stage), NameOf(other) + "_" + verb.name + "_too",
            Filled(verb.text, Noun(stage), Noun(other)) + ", too",
            [=, f = verb.function](Plan& plan) { Insert(plan, stage, f, other); });
    }
  }

  void Reorder(Stage stage) {
    for (const char axis : plan_.AxesOf(stage)) {
      if (plan_.ExtentOf(axis) > kMostOrdered) continue;
      if (IsStacked(axis) && plan_.ExtentOf(axis) == 2) {
        Add(2, NameOf(stage) + "_exchanged", Noun(stage) + " of each part is that of the other",
            [=](Plan& plan) {
              plan.Replace(stage, plan.Reordered(stage, axis, [](size_t i) { return 1 - i; }));
            });
        continue;
      }
      for (const AxisOrder& order : OrdersOf(plan_.ExtentOf(axis), OrdersFor::kColumns))
        Add(5 + CostOfStage(stage), NameOf(stage) + "_" + order.name,
            Noun(stage) + ForAxis(axis, " is that of other columns: ") + order.text,
            [=, from = order.from](Plan& plan) {
              plan.Replace(stage, plan.Reordered(stage, axis, from));
            })
            .is_across_slices = IsAcross(axis);
    }
  }

  void ComputeTwice() {
    if (plan_.AxesOf(plan_.results()[0]) != plan_.AxesOf(0)) return;
    Add(3, "applied_twice", "the operation is applied twice: to x, and to y", [](Plan& plan) {
      const Stage y = plan.results()[0];
      plan.Replace(y, plan.CopyWith(y, 0, y, true));
    });
  }

  // What changes several results changes one of them alone.
  void ForOneResult() {
    const std::vector<Stage>& right = plan_.results();
    const size_t count = right.size() > 1 ? edits_.size() : 0;
    for (size_t i = 0; i < count; ++i) {
      if (edits_[i].values.empty()) continue;
      Plan edited = plan_;
      edits_[i].edit(edited, edits_[i].values[0].value);
      std::vector<size_t> changed;
      for (size_t r = 0; r < right.size(); ++r)
        if (edited.results()[r] != right[r] || edited.IsEdited(right[r])) changed.push_back(r);
      if (changed.size() < 2) continue;
      for (const size_t kept : changed) {
        PlanEdit alone = edits_[i];
        alone.name += "_for_" + NameOf(right[kept]);
        alone.sentence += ", for " + Noun(right[kept]) + " alone";
        ++alone.cost;
        alone.edit = [=, all = edits_[i].edit](Plan& plan, double number) {
          const Plan before = plan;
          all(plan, number);
          for (const size_t r : changed)
            if (r != kept) plan.TakeResult(r, before);
        };
        edits_.push_back(std::move(alone));
      }
    }
  }

  const Plan& plan_;
  const std::string_view slices_;
  std::vector<Stage> numbers_, stages_;
  std::vector<PlanEdit> edits_;
};

}  // namespace

std::vector<PlanEdit> EditsOf(const Plan& plan, std::string_view slices) {
  return Editor(plan, slices).All();
}

}  // namespace sextant::oracle
