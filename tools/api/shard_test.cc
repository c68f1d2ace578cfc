#include "tools/api/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "reference/base/error.h"

namespace sextant::tools {
namespace {

TEST(Shard, IsOneOfSeveral) {
  EXPECT_EQ(ShardOf("3/8").index, 2u);
  EXPECT_EQ(ShardOf("3/8").count, 8u);
  EXPECT_EQ(ShardOf("3/8").Text(), "3/8");
  EXPECT_TRUE(ShardOf("").IsAll());
  EXPECT_TRUE(ShardOf("1/1").IsAll());
  for (const char* wrong : {"0/8", "9/8", "1", "/8", "1/", "a/b", "-1/8", "1/8x", "1/0", "1.5/8",
                            "1/99999999999999999999"})
    EXPECT_THROW(ShardOf(wrong), Error) << wrong;
}

TEST(DealtTo, GivesEachPieceToOneShardAndBalancesTheCosts) {
  const std::vector<double> costs = {9, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<size_t> of = DealtTo(costs, 2);
  std::vector<double> load(2);
  for (size_t i = 0; i < costs.size(); ++i) load.at(of[i]) += costs[i];
  EXPECT_EQ(load, (std::vector<double>{9, 9}));
  EXPECT_EQ(DealtTo(costs, 2), of);
  const std::vector<size_t> many = DealtTo({1, 1}, 5);
  EXPECT_NE(many[0], many[1]);
}

TEST(OfferedShard, IsThatOfTheSurroundings) {
  EXPECT_EQ(OfferedShard(), "");
  setenv("SLURM_ARRAY_TASK_ID", "5", 1);
  setenv("SLURM_ARRAY_TASK_MIN", "3", 1);
  setenv("SLURM_ARRAY_TASK_COUNT", "8", 1);
  EXPECT_EQ(OfferedShard(), "this is a task of a Slurm array: --shard 3/8 takes its share");
  unsetenv("SLURM_ARRAY_TASK_ID");
  setenv("JOB_COMPLETION_INDEX", "0", 1);
  EXPECT_EQ(OfferedShard(), "this is a pod of an indexed job: --shard 1/N takes its share");
  setenv("JOB_COMPLETION_INDEX", "x", 1);
  EXPECT_EQ(OfferedShard(), "");
  unsetenv("JOB_COMPLETION_INDEX");
}

}  // namespace
}  // namespace sextant::tools
