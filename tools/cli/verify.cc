// sextant verify
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>

#include "fixtures/store/golden_folder.h"
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
#include "tools/api/input_faults.h"
#include "tools/api/memory_of_case.h"
#include "tools/api/proof_count.h"
#include "tools/api/prove_parts.h"
#include "tools/api/shard.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

// The expected `low` of a golden in layout version 1: there it has 33 more bits, which must round
// to the low part of today.
Tensor<double> LowOfLayout1(const GoldenTensor& stored, const GoldenTensor& expected) {
  Tensor<double> low = expected.low;
  for (size_t i = 0; i < low.data.size(); ++i) {
    const double half = UnitOfLow(expected.high.data[i]) / 2;
    if (std::abs(stored.low.data[i] - low.data[i]) <= half) low.data[i] = stored.low.data[i];
  }
  return low;
}

// The values in a file of that type: an element without a value is NaN, if the type has it.
Tensor<double> InFile(DType type, Tensor<double> values) {
  if (!HasNaN(type)) {
    for (double& x : values.data)
      if (std::isnan(x)) x = DecodeBits(type, EncodeBits(type, x));
  }
  return values;
}

// The numbers of a stored tensor at some places.
Tensor<double> ReadRuns(const TensorSource& stored, const std::vector<Run>& runs) {
  Tensor<double> values({0});
  for (const auto& [first, count] : runs) {
    const size_t at = values.data.size();
    values.data.resize(at + count);
    stored.Read(first, std::span(values.data).subspan(at));
  }
  return values;
}

size_t IndexIn(const std::vector<Run>& runs, size_t i) {
  for (const auto& [first, count] : runs) {
    if (i < count) return first + i;
    i -= count;
  }
  throw std::logic_error("an index beyond the runs");
}

// Verifies one record: a case, or a slice of it, part by part.
class RecordVerification {
 public:
  RecordVerification(const fixtures::LargeRecord& record, const ProveOptions& prove,
                     size_t elements, Confirmation& confirmation, ProofCount& count)
      : record_(record),
        c_(Case::Parse(record.case_line)),
        slice_(ParseSlice(c_, record.slice)),
        prove_(prove),
        elements_(elements),
        confirmation_(confirmation),
        count_(count) {}

  const Case& c() const { return c_; }

  // All errors; of each tensor the first one.
  std::vector<std::string> Faults() {
    if (c_.ToString() != record_.case_line)
      faults_.push_back("the case line is not canonical, expected: " + c_.ToString());
    const PartByPart parts(c_);
    const auto of_inputs = InputFaults(record_, c_, parts.inputs().readers());
    faults_.insert(faults_.end(), of_inputs.begin(), of_inputs.end());
    const Recipe recipe = ParseRecipe(record_.recipe, c_.dtype());
    const std::vector<TensorSpec>& outputs = c_.info().signature.outputs;
    if (record_.golden.size() != outputs.size())
      faults_.push_back("the record does not have the outputs of its signature");
    for (const fixtures::GoldenOfFile& stored : record_.golden) CheckHead(stored);
    parts.ForEach(slice_, elements_, prove_, [&](const Slice& part, const InputsOfPart& inputs) {
      const auto golden =
          ProvePart({c_, inputs.tensors(), recipe}, part, {prove_.threads, {}, prove_.engine});
      for (size_t o = 0; o < outputs.size(); ++o) ComparePart(o, golden[o], part);
      count_ += CountProofs(golden);
      std::string fault = confirmation_.FaultOf(c_, part, inputs.tensors(), golden);
      if (!fault.empty() && known_.insert("confirmation").second)
        faults_.push_back(std::move(fault));
    });
    return std::move(faults_);
  }

 private:
  const fixtures::GoldenOfFile* FindGolden(const std::string& name) const {
    const auto at = std::ranges::find(record_.golden, name, &fixtures::GoldenOfFile::name);
    return at == record_.golden.end() ? nullptr : &*at;
  }

  void AddShapeFault(const std::string& path, const Shape& got, const Shape& expected) {
    faults_.push_back(path + " has shape " + ToString(got) + ", expected " + ToString(expected));
  }

  void CheckHead(const fixtures::GoldenOfFile& stored) {
    const std::string path = "golden/" + stored.name;
    const auto& outputs = c_.info().signature.outputs;
    const auto spec = std::ranges::find(outputs, stored.name, &TensorSpec::name);
    if (spec == outputs.end())
      return faults_.push_back(path + " is not an output of the operation");
    if (stored.dtype != c_.DTypeOf(*spec)) faults_.push_back(path + " has the wrong dtype");
    const Shape shape = ShapeIn(c_.ShapeOf(*spec), *spec, slice_);
    if (stored.value->shape() != shape) {
      AddShapeFault(path + "/value", stored.value->shape(), shape);
      known_.insert(path);
    }
  }

  void ComparePart(size_t o, const GoldenTensor& expected, const Slice& part) {
    const TensorSpec& spec = c_.info().signature.outputs[o];
    const std::string path = "golden/" + spec.name;
    const fixtures::GoldenOfFile* const file = FindGolden(spec.name);
    if (!file || known_.contains(path)) return;
    const bool old = record_.layout == fixtures::Layout::k1;
    const Shape& shape = file->value->shape();
    const std::vector<Run> runs = RunsIn(shape, spec, Within(part, slice_));
    const auto read = [&](const std::unique_ptr<fixtures::TensorOfFile>& of) {
      return of ? ReadRuns(*of, runs) : Tensor<double>({expected.value.data.size()});
    };
    const auto compare = [&](const char* name, const Tensor<double>& stored,
                             const Tensor<double>& wanted) {
      Compare(path + "/" + name, shape, stored.data, wanted.data,
              [&runs](size_t i) { return IndexIn(runs, i); });
    };
    GoldenTensor stored;
    stored.low = read(file->low);
    compare("value", read(file->value), InFile(expected.dtype, expected.value));
    compare("high", read(file->high), expected.high);
    compare("low", stored.low, old ? LowOfLayout1(stored, expected) : expected.low);
    if (!old) compare("permitted", read(file->permitted), expected.permitted);
    compare("radius", read(file->radius), expected.radius);
  }

  // Adds the first difference of a tensor.
  void Compare(const std::string& path, const Shape& shape, std::span<const double> stored,
               std::span<const double> expected, const std::function<size_t(size_t)>& index_of) {
    if (known_.contains(path)) return;
    std::string fault = Difference(path, shape, stored, expected, index_of);
    if (fault.empty()) return;
    known_.insert(path);
    faults_.push_back(std::move(fault));
  }

  const fixtures::LargeRecord& record_;
  const Case c_;
  const Slice slice_;
  const ProveOptions& prove_;
  const size_t elements_;  // of a part in work
  Confirmation& confirmation_;
  ProofCount& count_;
  std::vector<std::string> faults_;
  std::set<std::string> known_;  // paths of tensors with a fault
};

// Verifies a golden, one file or a folder of parts, and counts the errors in it.
class Verification {
 public:
  Verification(std::string path, const ProveOptions& prove, double memory, bool confirm_all,
               const Shard& shard)
      : path_(std::move(path)),
        prove_(prove),
        memory_(memory),
        shard_(shard),
        confirmation_(confirm_all, prove.threads) {}

  int operator()() {
    const bool is_folder = fixtures::IsGoldenFolder(path_);
    std::error_code ignored;
    if (!is_folder && std::filesystem::is_directory(path_, ignored))
      throw Error(path_, " is a folder without a golden in parts");
    files_ = is_folder ? fixtures::PartsOfFolder(path_) : std::vector{path_};
    if (is_folder)
      for (const Case& c : fixtures::CasesOfFolder(path_))
        NoteMemory(c, "proving", BytesToProve(c, prove_), memory_);
    const std::vector<size_t> dealt = DealtTo(std::vector<double>(files_.size(), 1), shard_.count);
    {
      Progress progress("proving again");
      for (size_t f = 0; f < files_.size(); ++f) {
        if (is_folder && dealt[f] != shard_.index) continue;
        if (!VerifyFile(files_[f], is_folder ? Shard() : shard_, [&](double done) {
              progress((static_cast<double>(f) + done) / static_cast<double>(files_.size()));
            }))
          return kNonconforming;
      }
    }
    if (wrong_ == 0) return Summary();
    Print(path_, CountText(wrong_, "error"));
    return kNonconforming;
  }

 private:
  static void Print(const std::string& path, const std::string& what) {
    std::cout << Marked(path + ": " + what) << "\n";
  }

  // Verifies the share of its cases. False if it cannot be read to its end.
  bool VerifyFile(const std::string& file, const Shard& shard,
                  const std::function<void(double)>& progress) {
    size_t damages = 0;
    for (const fixtures::Damage& damage : fixtures::CheckDigests(file)) {
      Print(file, damage.path + ": " + damage.what);
      ++damages;
    }
    wrong_ += damages;
    std::vector<fixtures::LargeRecord> records;
    try {
      records = fixtures::ReadLargeRecords(file);
    } catch (const Error& e) {
      if (damages == 0) throw;  // the digests are right, so the file was written with this error
      std::cout << Marked(e.what()) << "\n";
      Print(file, "the file is damaged; reading stopped here");
      return false;
    }
    std::vector<double> costs;
    for (const fixtures::LargeRecord& record : records) {
      costs.push_back(ElementsOf(record));
      if (file == path_) NoteRecord(record);  // those of a folder were noted
    }
    const std::vector<size_t> dealt = DealtTo(costs, shard.count);
    for (size_t i = 0; i < records.size(); ++i) {
      if (dealt[i] != shard.index) continue;
      Verify(file, i, records[i]);
      progress(static_cast<double>(i + 1) / static_cast<double>(records.size()));
    }
    return true;
  }

  void NoteRecord(const fixtures::LargeRecord& record) const {
    std::optional<Case> c;
    try {
      c = Case::Parse(record.case_line);
    } catch (const Error&) {
      return;  // a fault of the record
    }
    NoteMemory(*c, "proving", BytesToProve(*c, prove_), memory_);
  }

  static double ElementsOf(const fixtures::LargeRecord& record) {
    double elements = 1;
    for (const fixtures::GoldenOfFile& golden : record.golden)
      elements += static_cast<double>(CountOf(golden.value->shape()));
    return elements;
  }

  void Verify(const std::string& file, size_t index, const fixtures::LargeRecord& record) {
    lines_.insert(record.case_line);
    if (!record.slice.empty() && files_.size() == 1 && files_[0] == path_) slice_ = record.slice;
    is_old_ = is_old_ || record.layout == fixtures::Layout::k1;
    for (const std::string& fault : FaultsOf(record)) {
      Print(file, "case " + std::to_string(index) + " (" + record.case_line +
                      (record.slice.empty() ? "" : ", " + record.slice) + "): " + fault);
      ++wrong_;
    }
  }

  std::vector<std::string> FaultsOf(const fixtures::LargeRecord& record) {
    try {
      // The stored numbers take as much memory as the proven ones.
      RecordVerification verification(record, prove_, ElementsIn(memory_) / 2, confirmation_,
                                      count_);
      return WithinMemory(verification.c(), [&] { return verification.Faults(); });
    } catch (const OutOfMemory&) {
      throw;  // says nothing about the file
    } catch (const Error& e) {
      return {e.what()};
    }
  }

  int Summary() const {
    std::cout << Marked(path_) << ": " << CountText(lines_.size(), "case");
    if (files_.size() > 1) std::cout << " in " << CountText(files_.size(), "part");
    if (!shard_.IsAll()) std::cout << " (the share " << shard_.Text() << ")";
    if (!slice_.empty()) std::cout << " (only the slice " << slice_ << ")";
    std::cout << ", digests right, ";
    if (count_.enclosed > 0) {
      std::cout << "every value proven again except " << count_.enclosed
                << ", which are only enclosed";
    } else {
      std::cout << "every value proven again";
    }
    if (is_old_)
      std::cout << "; layout version 1: permitted errors were derived in another way and are not "
                   "compared";
    std::cout << "; " << confirmation_.Summary() << "\n";
    if (!slice_.empty()) return kIncomplete;
    if (count_.elements() == 0 && !shard_.IsAll()) return kVerified;  // more shards than parts
    if (count_.elements() == 0)
      return NothingToDo(lines_.empty() ? "the file has no case" : kNoElement);
    return count_.enclosed > 0 ? kIncomplete : kVerified;
  }

  std::string path_;
  std::vector<std::string> files_;
  ProveOptions prove_;
  const double memory_;  // MiB; 0: the usual
  const Shard shard_;
  Confirmation confirmation_;
  ProofCount count_;
  std::set<std::string> lines_;  // of the cases
  std::string slice_;            // of a part that is verified alone
  bool is_old_ = false;
  size_t wrong_ = 0;
};

}  // namespace

Action BindVerify(CLI::App& app) {
  const auto path = std::make_shared<std::string>();
  const auto prove = std::make_shared<ProveOptions>();
  const auto confirm_all = std::make_shared<bool>(false);
  const auto memory = std::make_shared<double>(0);
  const auto shard = std::make_shared<std::string>();
  AddOption(app, "file", *path, "a golden file, or a folder of parts", {.required = true});
  AddFlag(app, "--confirm", *confirm_all,
          "evaluate every element with Boost.Multiprecision, not only a sample");
  AddMemory(app, *memory);
  AddShard(app, *shard);
  AddProof(app, *prove);
  return [path, prove, memory, confirm_all, shard] {
    NoteShard(*shard);
    return Verification(*path, *prove, *memory, *confirm_all, ShardOf(*shard))();
  };
}

}  // namespace sextant::tools
