// Writes cases as ONNX node tests, in the layout of the tests of onnx's operators:
//   FOLDER/test_rms_norm_0000/model.onnx                       a graph of one node
//   FOLDER/test_rms_norm_0000/test_data_set_0/input_0.pb ...   its inputs, in order
//   FOLDER/test_rms_norm_0000/test_data_set_0/output_0.pb      the proven output
// The tests are numbered in the order of the cases. The model's metadata have the case line.
#pragma once

#include <memory>
#include <string>

#include "fixtures/store/record_file.h"

namespace sextant::tools {

// True for "onnx:FOLDER".
bool IsOnnxFolder(const std::string& path);

// Throws Error if the folder exists and is not empty. It appears complete or not at all.
std::unique_ptr<fixtures::RecordFile> CreateOnnxFolder(const std::string& path);

}  // namespace sextant::tools
