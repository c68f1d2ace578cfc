#include "reference/base/text_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::HasSubstr;

class TextFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "text_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string ErrorOf(const std::string& path) const {
    return MessageOf([&] { ReadText(path, 1 << 20, "a text"); });
  }

  std::filesystem::path folder_;
};

TEST_F(TextFileTest, ReadsAFileUpToItsLimit) {
  const std::string path = folder_ / "a", text(1 << 20, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(ReadText(path, 1 << 20, "a text"), text);
  std::ofstream(path, std::ios::app) << "y";
  EXPECT_EQ(ErrorOf(path), path + ": is longer than 1 MiB, expected a text");
  EXPECT_EQ(ErrorOf("/dev/zero"), "/dev/zero: is longer than 1 MiB, expected a text");
  EXPECT_EQ(ReadText("/dev/null", 1, "a text"), "");
}

TEST_F(TextFileTest, SaysWhatCannotBeRead) {
  const std::string path = folder_ / "none";
  EXPECT_EQ(ErrorOf(path), path + ": cannot be read: No such file or directory");
  EXPECT_EQ(ErrorOf(folder_), folder_.string() + ": is a folder, expected a text");
}

// As `<(command)` of a shell makes one.
TEST_F(TextFileTest, ReadsAPipeThatSomebodyWrites) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_EQ(write(ends[1], "late", 4), 4);
    close(ends[1]);
  });
  EXPECT_EQ(ReadText("/dev/fd/" + std::to_string(ends[0]), 100, "a text"), "late");
  writer.join();
  close(ends[0]);
}

TEST_F(TextFileTest, DoesNotWaitForAPipeThatNobodyWrites) {
  const std::string path = folder_ / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(path), path + ": nobody writes into this pipe, expected a text");
}

}  // namespace
}  // namespace sextant
