#include "tools/api/memory_of_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/api/subjects.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;

std::string NoteOn(const std::string& line, const std::string& subject) {
  const Case c = Case::Parse(line);
  return MemoryNote(c, "judging", BytesToJudge(c, MakeSubject(subject, 1), {}), 0);
}

TEST(MemoryNote, IsForLargeCases) {
  EXPECT_EQ(NoteOn("softmax N=100000 M=1024", "fast"), "");
  EXPECT_THAT(NoteOn("softmax N=100000 M=10000", "fast"), HasSubstr("about 11 GiB of memory"));
  EXPECT_THAT(NoteOn("softmax N=150000 M=1024", "recipe:native"), HasSubstr("about 5 GiB"));
  EXPECT_EQ(NoteOn("softmax N=0 M=1024", "recipe:native"), "");
}

TEST(MemoryNote, RefusesMoreThanALimit) {
  const Case block = Case::Parse("decoder_block pairing=half H=16 S=64 M=1024 D=64 F=4096");
  EXPECT_EQ(MemoryNote(block, "proving", BytesToProve(block, {}), 300), "");
  EXPECT_THAT([&] { MemoryNote(block, "proving", BytesToProve(block, {}), 200); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(HasSubstr(block.ToString() + ": proving it takes about 2"),
                                 HasSubstr(" MiB of memory, more than --memory 200"))));
}

// Of a case that can be cut only what every slice reads is in memory.
TEST(BytesToProve, AreThoseOfSharedInputs) {
  EXPECT_EQ(BytesToProve(Case::Parse("rope_table R=128 S=1048576"), {}), 64 * 12);
  EXPECT_EQ(BytesToProve(Case::Parse("softmax N=1000000 M=4096"), {}), 0);
  EXPECT_GT(BytesToProve(Case::Parse("softmax N=1000000 M=4096"), {}, true), 0x1p38);
  const double weights = 4096.0 * 4096;
  EXPECT_LT(BytesToProve(Case::Parse("linear M=4096 N=64 F=4096 dtype=bf16"), {}), weights);
  EXPECT_EQ(BytesToProve(Case::Parse("rms_norm N=8 M=4096 dtype=bf16"), {}), 4096 * 12)
      << "the weight is f32";
}

// Slices of one key head, or of all queries of it, read its keys.
TEST(BytesToProve, AreThoseOfKeys) {
  const auto bytes = [](const std::string& line, int threads) {
    return BytesToProve(Case::Parse(line), {.threads = threads});
  };
  const std::string one = "attention H=8 K=1 S=1 T=32768 D=128";
  EXPECT_GT(bytes(one, 1), 2 * 32768 * 128 * 64.0);
  EXPECT_EQ(bytes(one, 2), bytes(one, 1)) << "one slice";
  EXPECT_EQ(bytes("attention H=8 K=1 S=64 T=32768 D=128", 2), 2 * bytes(one, 1));
}

}  // namespace
}  // namespace sextant::tools
