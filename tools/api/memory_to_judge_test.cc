#include "tools/api/memory_to_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/api/subjects.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

std::string NoteOn(const std::string& line, const std::string& subject) {
  return MemoryNote(Case::Parse(line), MakeSubject(subject, 1), {});
}

TEST(MemoryNote, IsForLargeCases) {
  EXPECT_EQ(NoteOn("softmax N=100000 M=1024", "fast"), "");
  EXPECT_THAT(NoteOn("softmax N=100000 M=10000", "fast"), HasSubstr("about 11 GiB of memory"));
  EXPECT_THAT(NoteOn("softmax N=150000 M=1024", "recipe:native"), HasSubstr("about 5 GiB"));
  EXPECT_EQ(NoteOn("softmax N=0 M=1024", "recipe:native"), "");
}

}  // namespace
}  // namespace sextant::tools
