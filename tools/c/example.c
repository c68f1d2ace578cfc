/* A kernel in C, judged by Sextant:
 *
 * cc -Itools/c tools/c/example.c build/libsextant.so.0 -Wl,-rpath,build -lm -o example && ./example
 */
#include <math.h>
#include <stdio.h>

#include "sextant.h"

enum { N = 3, M = 64 };

static void rms_norm(const float* x, const float* weight, float eps, float* y) {
  for (int n = 0; n < N; ++n, x += M, y += M) {
    float sum = 0;
    for (int i = 0; i < M; ++i) sum += x[i] * x[i];
    const float scale = 1 / sqrtf(sum / M + eps);
    for (int i = 0; i < M; ++i) y[i] = x[i] * scale * weight[i];
  }
}

static DLTensor tensor_of(float* data, int rank, int64_t* shape) {
  const DLTensor tensor = {data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, NULL, 0};
  return tensor;
}

int main(void) {
  float x[N * M], weight[M], y[N * M];
  int64_t matrix[] = {N, M}, vector[] = {M};
  for (int i = 0; i < N * M; ++i) x[i] = sinf((float)i);
  for (int i = 0; i < M; ++i) weight[i] = 1 + 0.01F * (float)i;
  rms_norm(x, weight, 1e-5F, y);

  const DLTensor of_x = tensor_of(x, 2, matrix), of_weight = tensor_of(weight, 1, vector);
  const DLTensor of_y = tensor_of(y, 2, matrix);
  const SextantTensor tensors[] = {{"x", &of_x}, {"weight", &of_weight}, {"y", &of_y}};
  SextantResult* verdict = NULL;
  if (sextant_judge("rms_norm eps=1e-05", tensors, 3, NULL, &verdict) != SEXTANT_OK) {
    fprintf(stderr, "%s\n", sextant_last_error());
    return 2;
  }
  const int status = sextant_status(verdict);
  printf("%s\n", sextant_json(verdict));
  sextant_free(verdict);
  return status;
}
