#include "tools/host/subject_library.h"

#include <dlfcn.h>

#include <cstddef>
#include <exception>

#include "reference/base/error.h"
#include "reference/base/printable.h"
#include "tools/c/struct_size.h"

namespace sextant::tools {
namespace {

constexpr char kSymbol[] = "sextant_subject";
constexpr size_t kMostNames = 1000;

std::string DlError() {
  const char* why = dlerror();
  return why ? Printable(why) : "unknown error";
}

std::string TextOf(const char* text, const char* member) {
  if (!text) throw Error("the member ", member, " is a null pointer");
  return text;
}

std::vector<std::string> NamesIn(const char* const* list, const char* member) {
  std::vector<std::string> names;
  for (; *list; ++list) {
    if (names.size() == kMostNames) {
      throw Error("the member ", member, " has more than ", kMostNames,
                  " names, expected a null pointer after the last one");
    }
    names.push_back(*list);
  }
  return names;
}

std::vector<std::string> OperationsOf(const char* const* list) {
  if (!list) throw Error("the member operations is a null pointer");
  std::vector<std::string> names = NamesIn(list, "operations");
  if (names.empty()) throw Error("the member operations has no name");
  return names;
}

const SextantSubject* SubjectOf(void* library) {
  const auto define = reinterpret_cast<decltype(&sextant_subject)>(dlsym(library, kSymbol));
  if (!define) throw Error("it has no function ", kSymbol, ": ", DlError());
  const SextantSubject* subject = nullptr;
  try {
    subject = define(SEXTANT_SUBJECT_ABI);
  } catch (const std::exception& e) {
    throw Error(kSymbol, " threw an exception: ", Printable(e.what()));
  } catch (...) {
    throw Error(kSymbol, " threw an exception that is not a std::exception");
  }
  if (subject) return subject;
  throw Error(kSymbol, "(", SEXTANT_SUBJECT_ABI,
              ") returned a null pointer: the library does not have version ", SEXTANT_SUBJECT_ABI,
              " of the interface (sextant_subject.h)");
}

}  // namespace

LoadedSubject LoadSubject(const std::string& path) {
  // Lazy binding would end the process at the first call of an undefined function.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Error("the library cannot be loaded: ", DlError());
  try {
    const SextantSubject subject =
        KnownMembers(*SubjectOf(library), "the subject", "SextantSubject",
                     offsetof(SextantSubject, bitwise));  // libraries before it was added
    if (!subject.answer) throw Error("the member answer is a null pointer");
    return {.name = TextOf(subject.name, "name"),
            .version = TextOf(subject.version, "version"),
            .recipe = TextOf(subject.recipe, "recipe"),
            .operations = OperationsOf(subject.operations),
            .bitwise =
                subject.bitwise ? NamesIn(subject.bitwise, "bitwise") : std::vector<std::string>(),
            .answer = subject.answer};
  } catch (const Error& e) {
    throw Error(path, ": ", e.what());
  }
}

}  // namespace sextant::tools
