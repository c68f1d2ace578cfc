// Runs ONNX node tests by ONNX Runtime, for onnx_node_tests.py:
//   node onnx_node_tests.js FOLDER
// FOLDER/tests.json is a list of {model, inputs: {name: {type, dims, file}}, output: file}, with
// paths in FOLDER. Writes each output, and a list of {type, dims} or {error} to FOLDER/results.json.
'use strict';

const fs = require('fs');
const path = require('path');
const onnxruntime = require('onnxruntime-node');

onnxruntime.env.logLevel = 'fatal';
const folder = process.argv[2];
const arrays = {float32: Float32Array, float16: Uint16Array, bool: Uint8Array};

function readTensor({type, dims, file}) {
  const bytes = fs.readFileSync(path.join(folder, file));
  const aligned = new Uint8Array(bytes).buffer;
  return new onnxruntime.Tensor(type, new arrays[type](aligned), dims);
}

async function run(test) {
  const session = await onnxruntime.InferenceSession.create(path.join(folder, test.model));
  const inputs = Object.entries(test.inputs).map(([name, tensor]) => [name, readTensor(tensor)]);
  const output = Object.values(await session.run(Object.fromEntries(inputs)))[0];
  const {buffer, byteOffset, byteLength} = output.data;
  fs.writeFileSync(path.join(folder, test.output), Buffer.from(buffer, byteOffset, byteLength));
  await session.release();
  return {type: output.type, dims: output.dims};
}

async function main() {
  const results = [];
  for (const test of JSON.parse(fs.readFileSync(path.join(folder, 'tests.json')))) {
    results.push(await run(test).catch(error => ({error: error.message})));
  }
  fs.writeFileSync(path.join(folder, 'results.json'), JSON.stringify(results));
}

main();
