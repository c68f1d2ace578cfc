#include "oracle/subject/exec_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "oracle/subject/misbehaving_child_test.h"

namespace sextant::oracle {
namespace {

TEST(SlowExecClient, SaysHello) {
  ExecClient client(Program("hello(name='na\\x1bme')\nread()"), kPatient);
  EXPECT_EQ(client.hello().name, "na?me");
  EXPECT_EQ(client.hello().version, "0.1");
  EXPECT_EQ(client.hello().recipe, "native");
  EXPECT_EQ(client.hello().operations, (std::vector<std::string>{"op", "other"}));
}

// Starting a program may take longer than a case.
TEST(SlowExecClient, WaitsForHelloLongerThanForACase) {
  ExecClient client(Program("time.sleep(0.5)\nhello()\nread()"), kShort);
  EXPECT_EQ(client.hello().name, "child");
}

TEST(SlowExecClient, RefusesAnUnknownRecipe) {
  ExecClient client(Program("hello(recipe='nativ')\nread()"), kPatient);
  EXPECT_THAT([&] { client.hello(); },
              testing::Throws<Failure>(testing::Field(
                  &Failure::why, testing::HasSubstr("recipe is 'nativ': there is no recipe"))));
}

TEST(SlowExecClient, SendsAllKeysOfTheProtocol) {
  ExecClient client(Program(R"(
hello()
words = read()
print(json.dumps(words, sort_keys=True), file=sys.stderr)
)"),
                    kPatient);
  try {
    AnswerOf(client);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(
        failure.stderr_lines,
        R"({"attributes": "{\"M\":2}", "case": "op M=2 dtype=f32 seed=1", "dtype": "f32", )"
        R"("id": "2", "operation": "op", "outputs": "{\"y\":{\"dtype\":\"F32\",\"shape\":[2]}}", )"
        R"("sextant": "2"})");
  }
}

TEST(SlowExecClient, AsksOneChildManyTimes) {
  ExecClient client(Program("hello()\nwhile True: say(good(read(), os.getpid()))"), kPatient);
  const std::vector<double> first = AnswerOf(client);
  EXPECT_EQ(first[1], 2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(AnswerOf(client), first);
}

TEST(SlowExecClient, CarriesUnsupportedErrorAndMessage) {
  ExecClient client(Program(R"(
hello()
say(message({'id': read()['id'], 'status': 'unsupported', 'message': 'only\x07bf16'}))
say(message({'id': read()['id'], 'status': 'error'}))
)"),
                    kPatient);
  const Reply first = client.Ask(AskForY()), second = client.Ask(AskForY());
  EXPECT_EQ(first.status, Reply::Status::kUnsupported);
  EXPECT_EQ(first.message, "only?bf16");
  EXPECT_EQ(second.status, Reply::Status::kError);
  EXPECT_EQ(second.message, "");
}

// Only stderr output since the question belongs to the error.
TEST(SlowExecClient, ReturnsStderrOfTheQuestionThatFailed) {
  ExecClient client(Program(R"(
hello()
for line in 'early', 'Traceback\x07\nKeyError: 1':
    words = read()
    print(line, file=sys.stderr, flush=True)
    say(message({'id': words['id'], 'status': 'error'}))
say(message({'id': read()['id'], 'status': 'error'}))
)"),
                    kPatient);
  EXPECT_EQ(client.Ask(AskForY()).stderr_lines, "early");
  EXPECT_EQ(client.Ask(AskForY()).stderr_lines, "Traceback?\n| KeyError: 1");
  EXPECT_EQ(client.Ask(AskForY()).stderr_lines, "");
}

TEST(SlowExecClient, AcceptsNaNAndInfinity) {
  ExecClient client(Program("hello()\nsay(good(read(), float('nan'), float('inf')))"), kPatient);
  const std::vector<double> y = AnswerOf(client);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isinf(y[1]));
}

TEST(SlowExecClient, ServesSeveralThreads) {
  const std::string program = Program("hello()\nwhile True: say(good(read(), os.getpid()))");
  std::vector<std::vector<double>> answers(4);
  std::vector<std::thread> threads;
  for (std::vector<double>& mine : answers) {
    threads.emplace_back([&mine, &program] {
      ExecClient client(program, kPatient);
      mine = AnswerOf(client);
      for (int i = 0; i < 20; ++i) EXPECT_EQ(AnswerOf(client), mine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::vector<double>>(answers.begin(), answers.end()).size(), 4u);
}

TEST(SlowExecClient, LetsAChildExitByItself) {
  const std::string mark = FreshFile(".left");
  {
    ExecClient client(Program("hello()\nsys.stdin.buffer.read()\nopen('" + mark + "', 'w')"),
                      kPatient);
    client.hello();
  }
  EXPECT_TRUE(std::filesystem::exists(mark));
}

}  // namespace
}  // namespace sextant::oracle
