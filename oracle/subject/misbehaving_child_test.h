// For tests: children that are small Python programs. Most of them violate the protocol. They share
// no protocol code with Sextant and use only Python's standard library.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "oracle/subject/exec_client.h"

namespace sextant::oracle {

inline constexpr double kPatient = 30;  // seconds; no test waits that long
inline constexpr double kShort = 0.1;   // seconds, for tests that reach the time limit

inline constexpr char kPreamble[] = R"(
import json, os, signal, struct, subprocess, sys, time
def read():  # a request's metadata
    size = sys.stdin.buffer.read(8)
    if len(size) < 8: sys.exit(0)
    header = json.loads(sys.stdin.buffer.read(struct.unpack('<Q', size)[0]))
    words = header.pop('__metadata__')
    sys.stdin.buffer.read(max([t['data_offsets'][1] for t in header.values()], default=0))
    return words
def say(message):
    while message: message = message[os.write(1, message):]
def message(words, body=b'', **tensors):
    header = json.dumps({'__metadata__': words, **tensors}).encode()
    return struct.pack('<Q', len(header)) + header + body
def hello(**words):
    say(message(dict({'id': read()['id'], 'status': 'ok', 'sextant': '2', 'name': 'child',
                      'version': '0.1', 'recipe': 'native', 'operations': '["op", "other"]'}, **words)))
def tensor(dtype='F32', shape=[2], size=8):
    return {'dtype': dtype, 'shape': shape, 'data_offsets': [0, size]}
def good(words, a=1, b=2):
    return message({'id': words['id'], 'status': 'ok'}, struct.pack('<2f', a, b), y=tensor())
)";

// A file name that only this test uses. The file does not exist yet; at the end it is removed.
inline std::string FreshFile(const std::string& ending) {
  static struct Files {
    std::vector<std::string> paths;
    ~Files() {
      std::error_code ignored;
      for (const std::string& path : paths) std::filesystem::remove(path, ignored);
    }
  } made;
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  made.paths.push_back(testing::TempDir() + info->test_suite_name() + "." + info->name() + "." +
                       std::to_string(getpid()) + "." + std::to_string(made.paths.size()) + ending);
  return made.paths.back();
}

// Writes the preamble and `body` to a Python file and returns the command that runs it.
inline std::string Program(const std::string& body) {
  const std::string path = FreshFile(".py");
  std::ofstream(path) << kPreamble << body;
  return "exec /usr/bin/python3 -I -S '" + path + "'";
}

inline Question AskForY(size_t input_elements = 1) {
  return {.operation = "op",
          .case_line = "op M=2 dtype=f32 seed=1",
          .attributes_json = R"({"M":2})",
          .inputs = {{"x", DType::kF32, Tensor<double>({input_elements})}},
          .expected = {{"y", DType::kF32, {2}}}};
}

inline std::vector<double> AnswerOf(ExecClient& client) {
  return client.Ask(AskForY()).outputs.at(0).values.data;
}

}  // namespace sextant::oracle
