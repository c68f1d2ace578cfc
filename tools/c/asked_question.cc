#include "tools/c/asked_question.h"

#include <exception>
#include <optional>

#include "reference/base/error.h"
#include "reference/base/hash.h"
#include "reference/base/json.h"
#include "reference/base/printable.h"
#include "reference/base/value_text.h"
#include "tools/c/scoped_floating_point.h"

namespace sextant::tools {
namespace {

constexpr int kMaxDepth = 3;  // outputs, output, shape

uint64_t HashOf(std::span<const char> bytes) { return HashOfData({bytes.data(), bytes.size()}); }

const std::string& WordIn(const Metadata& words, const char* key) {
  const auto at = words.find(key);
  if (at == words.end()) throw Error("the question has no '", key, "'");
  return at->second;
}

DType DTypeNamed(std::string_view capitals) {
  for (const DType dtype : kDTypes) {
    if (SafetensorsName(dtype) == capitals) return dtype;
  }
  throw Error("the question has an output of dtype ", Quoted(capitals));
}

void RequirePointers(std::initializer_list<const void*> pointers) {
  for (const void* pointer : pointers) {
    if (!pointer) throw Error("a function of the question was called with a null pointer");
  }
}

}  // namespace

// The functions of the table. Nothing is thrown into the library.
struct AskedQuestion::Functions {
  // Runs `work` on the question; keeps the message of an error and returns `failed`.
  template <class Result, class Work>
  static Result Guarded(const SextantQuestion* self, Result failed, const Work& work) noexcept {
    AskedQuestion& question = *static_cast<const Table*>(self)->owner;
    const std::lock_guard lock(question.mutex_);
    try {
      return work(question);
    } catch (const std::exception& e) {
      question.Misused(e.what());
      return failed;
    }
  }

  // Reads an attribute with `read`, and stores it with `store` if it is set.
  template <class Value, class Store>
  static int Get(const SextantQuestion* self, const char* name, Value* value,
                 const AskedAttribute* (AskedAttributes::*read)(std::string_view),
                 const Store& store) {
    return Guarded(self, int{SEXTANT_WRONG}, [&](AskedQuestion& question) -> int {
      RequirePointers({name, value});
      const AskedAttribute* attribute = (question.attributes_.*read)(name);
      if (!attribute) return SEXTANT_UNSET;
      store(*attribute);
      return SEXTANT_SET;
    });
  }

  static int Type(const SextantQuestion* self, const char* name) {
    return Guarded(self, int{SEXTANT_NO_ATTRIBUTE}, [&](AskedQuestion& question) {
      RequirePointers({name});
      return question.attributes_.TypeOf(name);
    });
  }
  static int Number(const SextantQuestion* self, const char* name, double* value) {
    return Get(self, name, value, &AskedAttributes::Number,
               [&](const AskedAttribute& a) { *value = a.value.get<double>(); });
  }
  static int Integer(const SextantQuestion* self, const char* name, int64_t* value) {
    return Get(self, name, value, &AskedAttributes::Integer,
               [&](const AskedAttribute& a) {  // 4.0 is one, too (IsInteger)
                 *value = a.value.is_number_integer() ? a.value.get<int64_t>()
                                                      : static_cast<int64_t>(a.value.get<double>());
               });
  }
  static int Boolean(const SextantQuestion* self, const char* name, int* value) {
    return Get(self, name, value, &AskedAttributes::Boolean,
               [&](const AskedAttribute& a) { *value = a.value.get<bool>() ? 1 : 0; });
  }
  static int Text(const SextantQuestion* self, const char* name, const char** value) {
    return Get(self, name, value, &AskedAttributes::Text, [&](const AskedAttribute& a) {
      *value = a.value.get_ref<const std::string&>().c_str();
    });
  }
  static int List(const SextantQuestion* self, const char* name, const double** values,
                  size_t* count) {
    return Get(self, name, values, &AskedAttributes::List, [&](const AskedAttribute& a) {
      RequirePointers({count});
      *values = a.list.data();
      *count = a.list.size();
    });
  }

  static const DLTensor* InputOf(const SextantQuestion* self, const char* name) {
    return Guarded(self, static_cast<DLTensor*>(nullptr), [&](AskedQuestion& question) {
      RequirePointers({name});
      const auto at = question.inputs_.find(name);
      if (at == question.inputs_.end()) {
        if (question.absent_.contains(name)) return static_cast<DLTensor*>(nullptr);
        throw Error("there is no input ", Quoted(name), "; there are:",
                    NamesText(question.inputs_, [](const auto& input) { return input.first; }));
      }
      at->second.read = true;
      return at->second.tensor->dl();
    });
  }
  static DLTensor* OutputOf(const SextantQuestion* self, const char* name) {
    return Guarded(self, static_cast<DLTensor*>(nullptr), [&](AskedQuestion& question) {
      Output& output = question.OutputNamed(name);
      if (!output.tensor) {
        output.tensor = std::make_unique<GuardedTensor>(output.dtype, output.shape, question.fill_,
                                                        std::move(output.former));
      }
      return output.tensor->dl();
    });
  }
  static int Answered(const SextantQuestion* self, const char* name) {
    return Guarded(self, int{SEXTANT_WRONG}, [&](AskedQuestion& question) {
      Output& output = question.OutputNamed(name);
      if (!output.tensor) throw Error("output ", name, " is answered, but was not asked for");
      output.answered = true;
      return 0;
    });
  }
  static const char* JsonOf(const SextantQuestion* self) {
    return Guarded(self, static_cast<const char*>(nullptr), [](AskedQuestion& question) {
      question.attributes_.ReadAll();
      return question.json_.c_str();
    });
  }
  static int Fail(const SextantQuestion* self, int status, const char* message) {
    return Guarded(self, status, [&](AskedQuestion& question) {
      RequirePointers({message});
      question.message_ = message;
      return status;
    });
  }
};

AskedQuestion::AskedQuestion(const SafetensorsHeader& header,
                             const std::function<void(std::span<char>)>& read,
                             AskedQuestion* former) try
    : words_(header.metadata), attributes_(WordIn(words_, "attributes")) {
  Json json = {{"operation", WordIn(words_, "operation")},
               {"case", WordIn(words_, "case")},
               {"dtype", WordIn(words_, "dtype")},
               {"attributes", ParseJson(WordIn(words_, "attributes"), kMaxDepth)},
               {"inputs", Json::object()},
               {"outputs", ParseJson(WordIn(words_, "outputs"), kMaxDepth)}};
  if (const auto said = words_.find("said"); said != words_.end())
    json["said"] = ParseJson(said->second, 1);
  if (const auto absent = words_.find("absent"); absent != words_.end()) {
    json["absent"] = ParseJson(absent->second, 1);
    absent_ = json["absent"].get<std::set<std::string>>();
  }
  bool in_same_memory = false;
  if (const auto memory = words_.find("memory"); memory != words_.end()) {
    const Json how = ParseJson(memory->second, 1);
    in_same_memory = how.at("same").get<bool>();
    fill_ = how.at("fill").get<unsigned char>();
  }
  // The tensor of that name of the question before, whose memory is taken.
  const auto taken = [&](auto AskedQuestion::*tensors, const std::string& name) {
    if (!former || !in_same_memory) return std::unique_ptr<GuardedTensor>();
    const auto at = (former->*tensors).find(name);
    return at == (former->*tensors).end() ? nullptr : std::move(at->second.tensor);
  };
  for (const SafetensorsHeader::Entry& entry : header.entries) {
    json["inputs"][entry.name] = {{"dtype", entry.dtype}, {"shape", entry.shape}};
    auto tensor =
        std::make_unique<GuardedTensor>(DTypeNamed(entry.dtype), entry.shape, std::nullopt,
                                        taken(&AskedQuestion::inputs_, entry.name));
    read(tensor->bytes());
    const uint64_t hash = HashOf(tensor->bytes());
    inputs_[entry.name] = {.tensor = std::move(tensor), .hash = hash};
  }
  for (const auto& [name, output] : json["outputs"].items()) {
    outputs_[name] = {.dtype = DTypeNamed(output.at("dtype").get<std::string>()),
                      .shape = output.at("shape").get<Shape>(),
                      .optional = output.contains("optional"),
                      .former = taken(&AskedQuestion::outputs_, name)};
  }
  json_ = PrintJson(json);
  static_cast<SextantQuestion&>(table_) = {.struct_size = sizeof(SextantQuestion),
                                           .operation = WordIn(words_, "operation").c_str(),
                                           .case_line = WordIn(words_, "case").c_str(),
                                           .dtype = WordIn(words_, "dtype").c_str(),
                                           .type = Functions::Type,
                                           .number = Functions::Number,
                                           .integer = Functions::Integer,
                                           .boolean = Functions::Boolean,
                                           .text = Functions::Text,
                                           .list = Functions::List,
                                           .input = Functions::InputOf,
                                           .output = Functions::OutputOf,
                                           .answered = Functions::Answered,
                                           .fail = Functions::Fail,
                                           .json = Functions::JsonOf};
  table_.owner = this;
} catch (const Json::exception& e) {
  throw Error("the question has a wrong JSON document: ", e.what());
}

HostReply AskedQuestion::Ask(const std::function<int(const SextantQuestion*)>& answer) {
  std::optional<std::string> thrown;
  int status = SEXTANT_ANSWER_ERROR;
  try {
    status = answer(&table_);
  } catch (const std::exception& e) {
    thrown = std::string("answer threw an exception: ") + e.what();
  } catch (...) {
    thrown = "answer threw an exception that is not a std::exception";
  }
  const ScopedFloatingPoint standard;
  if (const std::string damage = Damage(); !damage.empty()) return {"error", damage};
  if (thrown) return {"error", *thrown};
  return Checked(status);
}

HostReply AskedQuestion::Checked(int status) {
  if (!misuse_.empty()) return {"error", misuse_};
  if (status == SEXTANT_ANSWER_UNSUPPORTED) return {"unsupported", message_};
  if (status == SEXTANT_ANSWER_ERROR) return {"error", message_};
  if (status != SEXTANT_ANSWER_OK) {
    return {"error", "answer returned " + std::to_string(status) +
                         ", expected 0 (ok), 1 (unsupported) or 2 (error)"};
  }
  if (const auto unread = Unread(); !unread.empty())
    return {"unsupported", "answer did not read:" + NamesText(unread)};
  HostReply reply{"ok", message_};
  for (auto& [name, output] : outputs_) {
    if (output.tensor && fill_) output.hash = HashOf(output.tensor->bytes());
    if (output.tensor && (output.answered || !output.optional)) {
      reply.outputs.emplace_back(name, output.tensor.get());
    } else if (!output.optional) {
      return {"error", "answer did not ask for the output " + name};
    }
  }
  return reply;
}

// The first tensor whose guards were changed; empty if there is none.
std::string AskedQuestion::Damage() const {
  const auto damaged = [](const std::string& what, const GuardedTensor* tensor) {
    const std::string where = tensor ? tensor->Damage() : "";
    return where.empty() ? "" : "answer wrote outside of the memory of " + what + ": " + where;
  };
  std::string why;
  for (const auto& [name, output] : outputs_) {
    if (why.empty()) why = damaged("output " + name, output.tensor.get());
  }
  for (const auto& [name, input] : inputs_) {
    if (why.empty()) why = damaged("input " + name, input.tensor.get());
    if (why.empty() && input.tensor && HashOf(input.tensor->bytes()) != input.hash)
      why = "answer changed the input " + name;
  }
  return why;
}

std::string AskedQuestion::WrittenLate() const {
  std::string why = Damage();
  for (const auto& [name, output] : outputs_) {
    if (why.empty() && output.tensor && output.hash &&
        HashOf(output.tensor->bytes()) != output.hash)
      why = "answer changed the output " + name;
  }
  return why.empty() ? "" : why + ", after it had returned";
}

std::vector<std::string> AskedQuestion::Unread() const {
  std::vector<std::string> names = attributes_.Unread();
  for (const auto& [name, input] : inputs_) {
    if (!input.read) names.push_back(name);
  }
  return names;
}

void AskedQuestion::Misused(const std::string& why) {
  if (misuse_.empty()) misuse_ = why;
}

AskedQuestion::Output& AskedQuestion::OutputNamed(const char* name) {
  RequirePointers({name});
  const auto at = outputs_.find(name);
  if (at != outputs_.end()) return at->second;
  throw Error("there is no output ", Quoted(name),
              "; there are:", NamesText(outputs_, [](const auto& output) { return output.first; }));
}

}  // namespace sextant::tools
