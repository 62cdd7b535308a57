/* model, compiled by pycompiler 0.1.0 for this kind of processor: x86_64 AMD EPYC.
 *
 * Arrays are dense and row-major. Arguments and results may lie wherever their element type may, a result in the
 * memory of an argument too. A result is computed in place, without a copy, where it is aligned to MODEL_ALIGNMENT
 * and touches no argument. Results must not overlap each other.
 *
 * All functions may be called by several threads at once. Loops are shared by a pool of threads, which starts with the
 * first one that is long enough: see model_set_num_threads.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Elements of the arrays. */
#define MODEL_X_SIZE 12
#define MODEL_OUT_TOTAL_SIZE 1
#define MODEL_OUT_Y_SIZE 8

/* Bytes, and alignment, of a workspace. */
#define MODEL_WORKSPACE_BYTES 128
#define MODEL_ALIGNMENT 64

/* What a call returns: 0, or a number of which model_error_message says what it means. */
#define MODEL_OK 0

/* Arguments:
 *   x: f32[4,3]
 * Results:
 *   out_total: f32[]
 *   out_y: f32[4,2]
 */
int model(const float *x, float *out_total, float *out_y);

/* The same; temporaries are put into the workspace, which no other call may use meanwhile, and nothing is allocated
 * that grows with the arrays. */
int model_with_workspace(const float *x, float *out_total, float *out_y, void *workspace);

/* What a number that a call returned means; and of which operation of the program, as "cholesky at model.py:12", or ""
 * where it is of none. Neither is to be freed. */
const char *model_error_message(int status);
const char *model_error_place(int status);

/* How many threads share a loop, the calling one among them; before the first call. Otherwise the environment's
 * PYCOMPILER_NUM_THREADS, or as many as there are cores for the process. */
int model_set_num_threads(int count);

#ifdef __cplusplus
}
#endif

#endif
