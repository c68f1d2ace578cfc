#include "reference/case/case.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "reference/base/printable.h"
#include "reference/base/text_file.h"
#include "reference/case/aliases.h"
#include "reference/case/dimensions.h"
#include "reference/case/draw.h"
#include "reference/case/extents.h"
#include "reference/case/operations.h"
#include "reference/case/optional_inputs.h"
#include "reference/case/words_that_read.h"

namespace sextant {
namespace {

constexpr int64_t kLargestTensor = int64_t{1} << 33;  // elements: 64 GiB of doubles
constexpr size_t kLongestFile = size_t{1} << 26;      // bytes of a file of cases: 64 MiB

// The words of a line before its comment. A '#' inside a word does not start a comment.
std::vector<std::string> WordsOfLine(std::string_view line) {
  std::vector<std::string> words;
  std::istringstream in{std::string(line)};
  for (std::string word; in >> word && word[0] != '#';) words.push_back(word);
  return words;
}

// Replaces a dimension in a spec by its extent: "random_positions(V)" becomes
// "random_positions(5)".
std::string WithExtents(const std::string& input, const std::string& spec,
                        const Dimensions& dimensions) {
  const size_t open = spec.find('(');
  if (open == spec.npos || open + 3 != spec.size() || spec.back() != ')') return spec;
  const auto at = dimensions.find(spec.substr(open + 1, 1));
  if (at == dimensions.end()) return spec;
  if (at->second == 0)
    throw Error("dimension ", at->first, " is 0, expected 1 or more for @", input, "=", spec);
  return spec.substr(0, open + 1) + std::to_string(at->second) + ")";
}

int64_t IntegerOf(const std::string& what, const std::string& text) {
  int64_t value = 0;
  try {
    ParseValue(text, value);
  } catch (const Error& e) {
    throw Error(what, ": ", e.what());
  }
  return value;
}

// Parses the word key=text of a case of `operation`, where text must be one of `types`.
DType TypeAmong(std::span<const DType> types, const std::string& operation, const std::string& key,
                const std::string& text) {
  const auto at = std::ranges::find(types, text, NameOf);
  if (at != types.end()) return *at;
  throw Error(operation, ": ", key, ": '", text, "' is not one of:", NamesText(types, NameOf));
}

// An operation without the attribute `with` may have optional inputs, which other words choose.
void RefuseWith(const Operation& operation, const std::string& text) {
  for (const std::string& input : ItemsOf("[" + text + "]")) {
    const std::string words = WordsThatRead(operation, input);
    if (!words.empty())
      throw Error(operation.info().name, " has no with=: it reads ", input, " with ", words);
  }
}

}  // namespace

Case::Case(const Case& other)
    : name_(other.name_),
      operation_(other.operation_->Clone()),
      own_signature_(other.own_signature_),
      dimensions_(other.dimensions_),
      dtype_(other.dtype_),
      dtypes_(other.dtypes_),
      seed_(other.seed_),
      specs_(other.specs_) {}

Case& Case::operator=(const Case& other) { return *this = Case(other); }

Case Case::Parse(std::string_view line) {
  const std::vector<std::string> words = WordsOfLine(InOurWords(line).line);
  if (words.empty()) throw Error("an empty line is no case");
  for (const std::string& word : words) {
    if (Printable(word) != word)
      throw Error("the word ", Quoted(word), " of a case has characters that are not printable");
  }
  Case c;
  c.name_ = words[0];
  c.operation_ = MakeOperationNamed(words[0], line);
  std::set<std::string> given;
  for (size_t i = 1; i < words.size(); ++i) {
    const auto [key, text] = SplitWord(words[i]);
    if (!given.insert(key).second) throw Error(c.name_, ": ", key, "= is given twice");
    c.SetWord(key, text);
  }
  for (const Attribute& attribute : c.operation_->Attributes()) {
    if (!attribute.required || given.contains(attribute.name)) continue;
    throw Error(c.name_, " needs ", attribute.name, "=",
                attribute.values.empty() ? "" : ", one of:" + NamesText(attribute.values));
  }
  c.Bind();
  return c;
}

void Case::SetWord(const std::string& key, const std::string& text) {
  const auto& inputs = info().signature.inputs;
  const auto is_tensor = [](const auto& tensors, const std::string& name) {
    return std::ranges::any_of(tensors, [&](const TensorSpec& t) { return t.name == name; });
  };
  if (key == "dtype") {
    const auto at = std::ranges::find(kTensorTypes, text, NameOf);
    if (!info().bitwise && at != kTensorTypes.end() && std::ranges::count(kFloatTypes, *at) == 0) {
      throw Error(name_, ": dtype=", text, ", expected one of:", NamesText(kFloatTypes, NameOf),
                  ", or dtype.NAME=", text, " for a tensor");
    }
    dtype_ = TypeAmong(info().bitwise ? kTensorTypes : std::span(kFloatTypes), name_, key, text);
  } else if (key == "seed") {
    seed_ = static_cast<uint64_t>(IntegerOf(key, text));
  } else if (key.starts_with("dtype.")) {
    const std::string tensor = key.substr(6);
    if (!is_tensor(inputs, tensor) && !is_tensor(info().signature.outputs, tensor)) {
      throw Error(name_, " has no tensor '", tensor, "'; its signature is ", info().signature_text);
    }
    const Role role = FindTensor(info().signature, tensor)->role;
    if (sextant::DTypeOf(role, dtype_) == DType::kI64)
      throw Error(name_, ": ", tensor, " holds integers: its dtype is i64");
    dtypes_[tensor] = TypeAmong(TypesOf(role), name_, key, text);
  } else if (key[0] == '@') {
    const std::string input = key.substr(1);
    if (!is_tensor(inputs, input)) {
      throw Error(name_, " has no input '", input,
                  "'; it has:", NamesText(inputs, &TensorSpec::name));
    }
    specs_[input] = text;
  } else if (IsDimension(key)) {
    const int64_t extent = IntegerOf("dimension " + key, text);
    if (extent < 0 || extent > kLargestTensor) {
      throw Error("dimension ", key, " is ", extent, ", expected 0 to ", kLargestTensor);
    }
    dimensions_[key] = extent;
  } else {
    if (key == kWith && text.ends_with(','))
      throw Error(name_, ": with=", text, " ends with a comma, expected a name after it");
    if (key == kWith && !Has(*operation_, kWith)) RefuseWith(*operation_, text);
    operation_->Set(key, text);
  }
}

// Puts the names of `with` into the order of the signature. Then chooses the inputs of the case,
// and checks that no word is about an absent one.
void Case::BindInputs() {
  const Signature& declared = info().signature;
  std::vector<std::string> optional;
  for (const TensorSpec& input : declared.inputs) {
    if (input.optional) optional.push_back(input.name);
  }
  if (optional.empty()) return;
  const auto attributes = operation_->Attributes();
  const auto with = std::ranges::find(attributes, kWith, &Attribute::name);
  if (with != attributes.end() && !with->text.empty()) {
    const std::vector<std::string> given = ItemsOf("[" + with->text + "]");
    for (const std::string& name : given) {
      if (std::ranges::count(optional, name) == 0) {
        throw Error(name_, " has no optional input '", name, "'; it has:", NamesText(optional));
      }
      if (std::ranges::count(given, name) > 1) throw Error(name_, ": with= has ", name, " twice");
    }
    std::string ordered;
    for (const std::string& name : optional) {
      if (std::ranges::count(given, name) > 0) ordered += (ordered.empty() ? "" : ",") + name;
    }
    operation_->Set(kWith, ordered);
  }
  Signature present = declared;
  std::erase_if(present.inputs, [&](const TensorSpec& input) {
    return input.optional && !operation_->Reads(input.name);
  });
  const auto check = [&](const std::string& word, const std::string& name) {
    if (FindTensor(present, name)) return;
    throw Error(name_, ": ", word, name, "= is given, but this case has no ", name,
                with == attributes.end() ? "" : "; expected it in with=");
  };
  for (const auto& [input, spec] : specs_) check("@", input);
  for (const auto& [tensor, dtype] : dtypes_) check("dtype.", tensor);
  own_signature_ = present.inputs.size() == declared.inputs.size()
                       ? nullptr
                       : std::make_shared<const Signature>(std::move(present));
}

// Gives every dimension an extent. Then checks the operation's conditions, the sizes of the tensors
// and the specs of the inputs.
void Case::Bind() {
  BindInputs();
  const std::set<std::string> letters = DimensionsOf(*operation_);
  for (const auto& [letter, extent] : dimensions_) {
    if (!letters.contains(letter))
      throw Error(name_, " has no dimension ", letter, "; it has:", NamesText(letters));
  }
  const std::map<std::string, std::string> ambiguous = BindLists(*operation_, specs_, dimensions_);
  BindDefaults(*operation_, letters, dimensions_);
  for (const std::string& letter : letters) {
    if (dimensions_.contains(letter)) continue;
    const auto at = ambiguous.find(letter);
    throw Error(name_, " needs dimension ", letter, "=", at == ambiguous.end() ? "" : at->second);
  }
  for (const Attribute& attribute : operation_->Attributes()) {
    if (attribute.dimension)
      operation_->Set(attribute.name, std::to_string(dimensions_[attribute.name]));
  }
  std::erase_if(dtypes_, [&](const auto& given) {  // said or not, it is the same case
    const TensorSpec& tensor = *FindTensor(signature(), given.first);
    return HasTypesOfCodes(tensor.role) && given.second == sextant::DTypeOf(tensor.role, dtype_);
  });
  operation_->Check();
  operation_->CheckTypes(dtypes_);
  for (const auto* side : {&signature().inputs, &signature().outputs}) {
    for (const TensorSpec& tensor : *side) {
      const size_t count = CountOf(ShapeOf(tensor));
      if (count > static_cast<size_t>(kLargestTensor)) {
        throw Error(name_, ": tensor ", tensor.name, " has ", count, " elements, expected at most ",
                    kLargestTensor);
      }
    }
  }
  for (const TensorSpec& input : signature().inputs) CheckSpec(*this, input);
}

bool Case::Has(const Operation& operation, std::string_view key) {
  return DimensionsOf(operation).contains(std::string(key)) ||
         std::ranges::any_of(operation.Attributes(),
                             [&](const Attribute& a) { return a.name == key; });
}

std::string Case::ToString() const {
  std::string text = name_;
  const auto add = [&text](const std::string& key, const std::string& value) {
    text += " ";
    text += key;
    text += "=";
    text += value;
  };
  for (const Attribute& attribute : operation_->Attributes()) {
    if (!attribute.dimension && !attribute.text.empty()) add(attribute.name, attribute.text);
  }
  for (const auto& [letter, extent] : dimensions_) add(letter, std::to_string(extent));
  add("dtype", std::string(NameOf(dtype_)));
  for (const auto& [tensor, dtype] : dtypes_) add("dtype." + tensor, std::string(NameOf(dtype)));
  add("seed", std::to_string(static_cast<int64_t>(seed_)));
  for (const auto& [input, spec] : specs_) add("@" + input, spec);
  return text;
}

std::string Case::SpecOf(const TensorSpec& input) const {
  if (const auto at = specs_.find(input.name); at != specs_.end()) {
    return WithExtents(input.name, at->second, dimensions_);
  }
  return WithExtents(input.name, std::string(info().DrawOf(input.name)), dimensions_);
}

DType Case::DTypeOf(const TensorSpec& tensor) const {
  if (const auto at = dtypes_.find(tensor.name); at != dtypes_.end()) return at->second;
  return sextant::DTypeOf(tensor.role, dtype_);
}

Shape Case::ShapeOf(const TensorSpec& tensor) const {
  std::set<std::string> named;
  for (const std::string& extent : tensor.extents) named.merge(AttributesIn(extent));
  if (named.empty()) return sextant::ShapeOf(tensor, dimensions_);
  Dimensions sizes = dimensions_;
  for (const Attribute& attribute : operation_->Attributes()) {
    if (named.contains(attribute.name)) sizes[attribute.name] = NumberInExtents(attribute.text);
  }
  return sextant::ShapeOf(tensor, sizes);
}

Case Case::With(std::string_view word) const {
  return With(std::vector<std::string>{std::string(word)});
}

Case Case::With(const std::vector<std::string>& words) const {
  Case changed = *this;
  for (const std::string& word : words) {
    const auto [key, text] = SplitWord(word);
    changed.SetWord(key, text);
  }
  changed.Bind();
  return changed;
}

Case Case::WithDrawnInputs() const {
  Case changed = *this;
  changed.specs_.clear();
  return changed;
}

std::vector<CaseLine> ReadCaseLines(const std::string& path) {
  std::istringstream in(ReadText(path, kLongestFile, "a file of case lines"));
  std::vector<CaseLine> lines;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // written by some editors
    if (number == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (const size_t at = line.find('\0'); at != line.npos)
      throw Error(path, ":", number, ": byte ", at + 1, " is NUL (\\0), expected text in UTF-8");
    if (const size_t at = FirstIllFormed(line); at != line.npos)
      throw Error(path, ":", number, ": byte ", at + 1, " is no printable character of UTF-8");
    if (WordsOfLine(line).empty()) continue;
    std::string why;
    for (size_t hash = line.find('#'); hash != line.npos; hash = line.find('#', hash + 1)) {
      if (hash > 0 && !std::isspace(static_cast<unsigned char>(line[hash - 1]))) continue;
      const size_t start = line.find_first_not_of(" \t", hash + 1);
      if (start != line.npos) why = line.substr(start);
      line.resize(hash);
      break;
    }
    lines.push_back({number, line, why});
  }
  return lines;
}

}  // namespace sextant
