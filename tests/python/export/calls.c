/* Calls exported functions as programs do: from several threads, after fork, and where LAPACK may be missing. Driven by
 * test_shared_objects.py, which says what to do and looks at what is printed. */
#include "decomposed.h"
#include "rows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static float input[ROWS_X_SIZE], expected[ROWS_OUT_0_SIZE];

static void *callRepeatedly(void *unused) {
  float *sums = malloc(sizeof expected), total;
  long failures = 0;
  (void)unused;
  for (int i = 0; i < 20; ++i) {
    memset(sums, 0, sizeof expected);
    if (rows(input, sums, &total) != ROWS_OK || memcmp(sums, expected, sizeof expected) != 0)
      ++failures;
  }
  free(sums);
  return (void *)failures;
}

static int threads(void) {
  pthread_t started[4];
  float total;
  long failures = 0;
  printf("threads %d", rows_set_num_threads(3));
  for (int i = 0; i < ROWS_X_SIZE; ++i)
    input[i] = (float)(i % 13);
  if (rows(input, expected, &total) != ROWS_OK)
    return 1;
  printf(" %d", rows_set_num_threads(2) % 256);
  for (int i = 0; i < 4; ++i)
    pthread_create(&started[i], NULL, callRepeatedly, NULL);
  for (int i = 0; i < 4; ++i) {
    void *failed;
    pthread_join(started[i], &failed);
    failures += (long)failed;
  }
  printf(" %ld\n", failures);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    _exit((int)(long)callRepeatedly(NULL));
  int status;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
  return 0;
}

static int decompose(void) {
  const float a[DECOMPOSED_A_SIZE] = {4, 2, 2, 5};
  float factor[DECOMPOSED_OUT_SIZE] = {0};
  int status = decomposed(a, factor);
  if (status != DECOMPOSED_OK)
    printf("%d: %s\n", status, decomposed_error_message(status));
  else
    printf("%g %g %g %g\n", factor[0], factor[1], factor[2], factor[3]);
  return 0;
}

int main(int argc, char **argv) {
  return argc > 1 && strcmp(argv[1], "threads") == 0 ? threads() : decompose();
}
