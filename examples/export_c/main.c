/* Calls the library that export_model.py wrote. It runs without Python and MLIR. */
#include "model.h"

#include <stdio.h>

int main(void) {
  const float points[MODEL_X_SIZE] = {0.5f, 0.0f, 0.0f, -0.4f, 1.5f, 0.0f, -1.0f, 1.1f};
  float outer[MODEL_OUT_SIZE];

  int status = model(points, outer);
  if (status != MODEL_OK) {
    fprintf(stderr, "model: %s %s\n", model_error_message(status), model_error_place(status));
    return 1;
  }
  for (int i = 0; i < MODEL_OUT_SIZE; ++i)
    printf("(%4.1f, %4.1f) is in the %s ring\n", points[2 * i], points[2 * i + 1], outer[i] > 0.5f ? "outer" : "inner");
  return 0;
}
