// sextant verify
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "fixtures/store/integrity.h"
#include "fixtures/store/reader.h"
#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/case/out_of_memory.h"
#include "reference/number/exact/interval.h"
#include "reference/prove/prove.h"
#include "tools/api/confirmation.h"
#include "tools/api/difference.h"
#include "tools/api/exit_status.h"
#include "tools/api/proof_count.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

// The expected `low` of a golden in layout version 1: there it has 33 more bits, which must round
// to the low part of today.
Tensor<double> LowOfLayout1(const GoldenTensor& stored, const GoldenTensor& expected) {
  Tensor<double> low = expected.low;
  if (stored.low.shape != low.shape) return low;
  for (size_t i = 0; i < low.data.size(); ++i) {
    const double half = UnitOfLow(expected.high.data[i]) / 2;
    if (std::abs(stored.low.data[i] - low.data[i]) <= half) low.data[i] = stored.low.data[i];
  }
  return low;
}

// Adds the difference of two tensors to `faults`, if there is one.
void CompareWithStored(const std::string& path, const Tensor<double>& stored,
                       const Tensor<double>& expected, std::vector<std::string>& faults) {
  if (std::string fault = Difference(path, stored, expected); !fault.empty())
    faults.push_back(std::move(fault));
}

// The values in a file of that type: an element without a value is NaN, if the type has it.
Tensor<double> InFile(DType type, Tensor<double> values) {
  if (!HasNaN(type)) {
    for (double& x : values.data)
      if (std::isnan(x)) x = DecodeBits(type, EncodeBits(type, x));
  }
  return values;
}

void CompareGolden(const GoldenTensor& stored, const GoldenTensor& expected,
                   fixtures::Layout layout, std::vector<std::string>& faults) {
  const std::string path = "golden/" + stored.name;
  const bool old = layout == fixtures::Layout::k1;
  if (stored.dtype != expected.dtype) faults.push_back(path + " has the wrong dtype");
  CompareWithStored(path + "/value", stored.value, InFile(expected.dtype, expected.value), faults);
  CompareWithStored(path + "/high", stored.high, expected.high, faults);
  CompareWithStored(path + "/low", stored.low, old ? LowOfLayout1(stored, expected) : expected.low,
                    faults);
  if (!old) CompareWithStored(path + "/permitted", stored.permitted, expected.permitted, faults);
  CompareWithStored(path + "/radius", stored.radius, expected.radius, faults);
}

// All errors in one record, of which `c` is the case.
std::vector<std::string> Faults(const Case& c, const fixtures::StoredRecord& record,
                                const ProveOptions& prove, Confirmation& confirmation) {
  std::vector<std::string> faults;
  if (c.ToString() != record.case_line)
    faults.push_back("the case line is not canonical, expected: " + c.ToString());
  const Tensors inputs = DrawInputs(c, NpyReader());
  if (record.inputs.size() != inputs.size())
    faults.push_back("the record does not have the inputs of its signature");
  for (const NamedTensor& stored : record.inputs) {
    const NamedTensor& drawn = Find(inputs, stored.name);
    if (stored.dtype != drawn.dtype)
      faults.push_back("inputs/" + stored.name + " has the wrong dtype");
    CompareWithStored("inputs/" + stored.name, stored.values, drawn.values, faults);
  }
  const auto golden = Prove({c, inputs, ParseRecipe(record.recipe, c.dtype())}, prove);
  if (record.golden.size() != golden.size())
    faults.push_back("the record does not have the outputs of its signature");
  for (const GoldenTensor& stored : record.golden) {
    const auto at = std::ranges::find(golden, stored.name, &GoldenTensor::name);
    if (at == golden.end()) {
      faults.push_back("golden/" + stored.name + " is not an output of the operation");
      continue;
    }
    CompareGolden(stored, *at, record.layout, faults);
  }
  if (std::string fault = confirmation.FaultOf(c, inputs, golden); !fault.empty())
    faults.push_back(std::move(fault));
  return faults;
}

// Verifies one file and counts the errors in it.
class Verification {
 public:
  Verification(std::string path, const ProveOptions& prove, bool confirm_all)
      : path_(std::move(path)), prove_(prove), confirmation_(confirm_all, prove.threads) {}

  int operator()() {
    for (const fixtures::Damage& damage : fixtures::CheckDigests(path_)) {
      Print(damage.path + ": " + damage.what);
      ++wrong_;
    }
    try {
      records_ = fixtures::ReadRecords(path_);
    } catch (const Error& e) {
      if (wrong_ == 0) throw;  // the digests are right, so the file was written with this error
      std::cout << Marked(e.what()) << "\n";
      Print("the file is damaged; reading stopped here");
      return kNonconforming;
    }
    ProveAgain();
    if (wrong_ == 0) return Summary();
    Print(std::to_string(wrong_) + (wrong_ == 1 ? " error" : " errors"));
    return kNonconforming;
  }

 private:
  void Print(const std::string& what) const { std::cout << Marked(path_ + ": " + what) << "\n"; }

  std::vector<std::string> FaultsOf(const fixtures::StoredRecord& record) {
    try {
      const Case c = Case::Parse(record.case_line);
      return WithinMemory(c, [&] { return Faults(c, record, prove_, confirmation_); });
    } catch (const OutOfMemory&) {
      throw;  // says nothing about the file
    } catch (const Error& e) {
      return {e.what()};
    }
  }

  void ProveAgain() {
    Progress progress("proving again");
    for (size_t i = 0; i < records_.size(); ++i) {
      const std::vector<std::string> faults = FaultsOf(records_[i]);
      for (const std::string& fault : faults) {
        Print("case " + std::to_string(i) + " (" + records_[i].case_line + "): " + fault);
      }
      wrong_ += faults.size();
      progress(static_cast<double>(i + 1) / static_cast<double>(records_.size()));
    }
  }

  int Summary() const {
    size_t enclosed = 0, elements = 0;
    for (const Record& record : records_) {
      const ProofCount count = CountProofs(record.golden);
      enclosed += count.enclosed;
      elements += count.elements();
    }
    std::cout << Marked(path_) << ": " << CountText(records_.size(), "case") << ", digests right, ";
    if (enclosed > 0) {
      std::cout << "every value proven again except " << enclosed << ", which are only enclosed";
    } else {
      std::cout << "every value proven again";
    }
    if (!records_.empty() && records_[0].layout == fixtures::Layout::k1)
      std::cout << "; layout version 1: permitted errors were derived in another way and are not "
                   "compared";
    std::cout << "; " << confirmation_.Summary() << "\n";
    if (elements == 0) return NothingToDo(records_.empty() ? "the file has no case" : kNoElement);
    return enclosed > 0 ? kIncomplete : kVerified;
  }

  std::string path_;
  ProveOptions prove_;
  Confirmation confirmation_;
  std::vector<fixtures::StoredRecord> records_;
  size_t wrong_ = 0;
};

}  // namespace

Action BindVerify(CLI::App& app) {
  const auto path = std::make_shared<std::string>();
  const auto prove = std::make_shared<ProveOptions>();
  const auto confirm_all = std::make_shared<bool>(false);
  AddOption(app, "file", *path, "a golden file", {.required = true});
  AddFlag(app, "--confirm", *confirm_all,
          "evaluate every element with Boost.Multiprecision, not only a sample");
  AddProof(app, *prove);
  return [path, prove, confirm_all] { return Verification(*path, *prove, *confirm_all)(); };
}

}  // namespace sextant::tools
