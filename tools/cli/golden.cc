// sextant golden, sextant inputs, sextant verify
#include <iostream>
#include <memory>
#include <set>

#include "fixtures/store/integrity.h"
#include "fixtures/store/reader.h"
#include "fixtures/store/writer.h"
#include "oracle/subject/printable.h"
#include "reference/prove/prove.h"
#include "tools/api/config_for.h"
#include "tools/api/confirmation.h"
#include "tools/api/difference.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

struct Options {
  std::vector<std::string> cases;
  std::string output;
  ConfigChoice config;
  int threads = 0;
};

// The cases that a file shall hold, none twice: two records with one canonical line would be one
// key with two meanings.
std::vector<Selected> CasesOf(const Options& options) {
  std::vector<Selected> selected = Select({.arguments = options.cases, .config = options.config});
  std::set<std::string> seen;
  for (const Selected& s : selected) {
    const std::string line = s.c.ToString();
    if (!seen.insert(line).second) throw Error("this case is given twice: ", line);
  }
  return selected;
}

std::vector<GoldenTensor> ProveNative(const Case& c, const Tensors& inputs, int threads,
                                      const std::function<void(double)>& progress) {
  return Prove(c, inputs, ParseRecipe("native", c.dtype()),
               {.threads = threads, .progress = progress});
}

int Golden(const Options& options) {
  const std::vector<Selected> selected = CasesOf(options);
  if (selected.empty()) return NothingToDo(kNoCase);
  fixtures::Writer writer(options.output);
  size_t done = 0;
  ProofCount all;
  bool complete = true;
  {
    Progress progress("proving");
    for (const Selected& s : selected) {
      const Tensors inputs = DrawInputs(s.c, NpyReader());
      const auto part = [&](double p) {
        progress((static_cast<double>(done) + p) / static_cast<double>(selected.size()));
      };
      Record record{s.c.ToString(), inputs, ProveNative(s.c, inputs, options.threads, part), {}};
      const ProofCount count = CountProofs(record.golden);
      all.proven += count.proven;
      all.enclosed += count.enclosed;
      all.unspecified += count.unspecified;
      complete = complete && count.IsComplete();
      writer.Append(record);
      part(1);
      ++done;
    }
  }
  writer.Finish();
  std::cout << options.output << ": " << selected.size() << " cases, " << all.proven
            << " elements proven";
  if (all.enclosed > 0)
    std::cout << ", " << all.enclosed << " only enclosed (their radius is stored)";
  if (all.unspecified > 0) std::cout << ", " << all.unspecified << " unspecified";
  std::cout << "\n";
  if (all.elements() == 0) return NothingToDo(kNoElement);
  return complete ? kVerified : kIncomplete;
}

int Inputs(const Options& options) {
  const std::vector<Selected> selected = CasesOf(options);
  if (selected.empty()) return NothingToDo(kNoCase);
  fixtures::Writer writer(options.output);
  for (const Selected& s : selected)
    writer.Append({s.c.ToString(), DrawInputs(s.c, NpyReader()), {}, {}});
  writer.Finish();
  std::cout << options.output << ": " << selected.size() << " cases\n";
  return kVerified;
}

// Everything that is wrong with one record.
std::vector<std::string> Faults(const fixtures::StoredRecord& record, int threads,
                                Confirmation& confirmation) {
  std::vector<std::string> faults;
  const auto compare = [&](const std::string& path, const Tensor<double>& stored,
                           const Tensor<double>& right) {
    if (std::string fault = Difference(path, stored, right); !fault.empty())
      faults.push_back(std::move(fault));
  };
  const Case c = Case::Parse(record.case_line);
  if (c.ToString() != record.case_line)
    faults.push_back("its case line is not canonical, expected: " + c.ToString());
  const Tensors inputs = DrawInputs(c, NpyReader());
  if (record.inputs.size() != inputs.size())
    faults.push_back("it does not hold the inputs of its signature");
  for (const NamedTensor& stored : record.inputs) {
    const NamedTensor& right = Find(inputs, stored.name);
    if (stored.dtype != right.dtype)
      faults.push_back("inputs/" + stored.name + " has the wrong dtype");
    compare("inputs/" + stored.name, stored.values, right.values);
  }
  const auto golden = Prove(c, inputs, ParseRecipe(record.recipe, c.dtype()), {.threads = threads});
  if (record.golden.size() != golden.size())
    faults.push_back("it does not hold the outputs of its signature");
  for (const GoldenTensor& stored : record.golden) {
    const auto at = std::ranges::find(golden, stored.name, &GoldenTensor::name);
    if (at == golden.end()) {
      faults.push_back("golden/" + stored.name + " is no output of it");
      continue;
    }
    if (stored.dtype != at->dtype)
      faults.push_back("golden/" + stored.name + " has the wrong dtype");
    compare("golden/" + stored.name + "/value", stored.value, at->value);
    compare("golden/" + stored.name + "/high", stored.high, at->high);
    compare("golden/" + stored.name + "/low", stored.low, at->low);
    compare("golden/" + stored.name + "/permitted", stored.permitted, at->permitted);
    compare("golden/" + stored.name + "/radius", stored.radius, at->radius);
  }
  if (std::string fault = confirmation.FaultOf(c, inputs, golden); !fault.empty())
    faults.push_back(std::move(fault));
  return faults;
}

int Verify(const std::string& path, int threads, bool confirm_all) {
  size_t wrong = 0;
  const auto tell = [&](const std::string& what) {
    std::cout << oracle::Printable(path + ": " + what) << "\n";
  };
  for (const fixtures::Damage& damage : fixtures::CheckDigests(path)) {
    tell(damage.path + ": " + damage.what);
    ++wrong;
  }
  Confirmation confirmation(confirm_all, threads);
  std::vector<fixtures::StoredRecord> records;
  try {
    records = fixtures::ReadRecords(path);
  } catch (const Error& e) {
    if (wrong == 0) throw;  // the digests are right, so it was written so
    std::cout << oracle::Printable(e.what()) << "\n";
    tell("damaged; it was not read any further");
    return kNonconforming;
  }
  {
    Progress progress("proving again");
    for (size_t i = 0; i < records.size(); ++i) {
      std::vector<std::string> faults;
      try {
        faults = Faults(records[i], threads, confirmation);
      } catch (const Error& e) {
        faults = {e.what()};
      }
      for (const std::string& fault : faults) {
        tell("case " + std::to_string(i) + " (" + records[i].case_line + "): " + fault);
      }
      wrong += faults.size();
      progress(static_cast<double>(i + 1) / static_cast<double>(records.size()));
    }
  }
  if (wrong > 0) {
    tell(std::to_string(wrong) + " things are wrong");
    return kNonconforming;
  }
  size_t enclosed = 0, elements = 0;
  for (const Record& record : records) {
    const ProofCount count = CountProofs(record.golden);
    enclosed += count.enclosed;
    elements += count.elements();
  }
  std::cout << path << ": " << records.size() << " cases, digests right, ";
  if (enclosed > 0) {
    std::cout << "every value proven again but " << enclosed << ", which are only enclosed";
  } else {
    std::cout << "every value proven again";
  }
  std::cout << "; " << confirmation.Told() << "\n";
  if (elements == 0) return NothingToDo(records.empty() ? "it has no case" : kNoElement);
  return enclosed > 0 ? kIncomplete : kVerified;
}

}  // namespace

Action BindGolden(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("cases", options->cases, "files of cases, or case lines")->required();
  AddStore(app, options->output, "the file to write")->required();
  AddConfig(app, options->config);
  AddThreads(app, options->threads);
  return [options] { return Golden(*options); };
}

Action BindInputs(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("cases", options->cases, "files of cases, or case lines")->required();
  AddStore(app, options->output, "the file to write")->required();
  AddConfig(app, options->config);
  return [options] { return Inputs(*options); };
}

Action BindVerify(CLI::App& app) {
  const auto path = std::make_shared<std::string>();
  const auto threads = std::make_shared<int>(0);
  const auto confirm_all = std::make_shared<bool>(false);
  app.add_option("file", *path, "a golden file")->required();
  app.add_flag("--confirm", *confirm_all,
               "evaluate every element with Boost.Multiprecision too, not only a share of them");
  AddThreads(app, *threads);
  return [path, threads, confirm_all] { return Verify(*path, *threads, *confirm_all); };
}

}  // namespace sextant::tools
