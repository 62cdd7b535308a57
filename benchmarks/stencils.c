// The stencils of cases/stencils.py, as loops (with_c.py). T is the type, N, M, L and STEPS are the sizes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef M
#define M 1
#endif
#ifndef L
#define L 1
#endif
#ifndef STEPS
#define STEPS 1
#endif
#define EACH(i, from, to) for (long i = from; i < to; i++)

void averages(const T *restrict a0, const T *restrict b0, T *restrict a, T *restrict b) {
  memcpy(a, a0, sizeof(T) * N), memcpy(b, b0, sizeof(T) * N);
  EACH(step, 0, STEPS) {
    EACH(i, 1, N - 1) b[i] = (a[i - 1] + a[i] + a[i + 1]) * (T)(1.0 / 3);
    EACH(i, 1, N - 1) a[i] = (b[i - 1] + b[i] + b[i + 1]) * (T)(1.0 / 3);
  }
}

static void five(T (*restrict a)[N], T (*restrict b)[N]) {
  EACH(i, 1, N - 1)
  EACH(j, 1, N - 1) b[i][j] = (T)0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
}

void five_points(const T *restrict a0, const T *restrict b0, T *restrict a, T *restrict b) {
  memcpy(a, a0, sizeof(T) * N * N), memcpy(b, b0, sizeof(T) * N * N);
  EACH(step, 0, STEPS) five((void *)a, (void *)b), five((void *)b, (void *)a);
}

void fields(const T *restrict ex0, const T *restrict ey0, const T *restrict hz0, T (*restrict ex)[M],
            T (*restrict ey)[M], T (*restrict hz)[M]) {
  memcpy(ex, ex0, sizeof(T) * N * M), memcpy(ey, ey0, sizeof(T) * N * M), memcpy(hz, hz0, sizeof(T) * N * M);
  EACH(step, 0, STEPS) {
    EACH(j, 0, M) ey[0][j] = (T)0.5 * ey[1][j];
    EACH(i, 1, N) EACH(j, 0, M) ey[i][j] -= (T)0.5 * (hz[i][j] - hz[i - 1][j]);
    EACH(i, 0, N) EACH(j, 1, M) ex[i][j] -= (T)0.5 * (hz[i][j] - hz[i][j - 1]);
    EACH(i, 0, N - 1)
    EACH(j, 0, M - 1) hz[i][j] -= (T)0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

// The Laplacian and the fluxes are recomputed for each point: no temporaries in memory.
void diffusion(const T (*restrict x)[M + 4][L], const T (*restrict c)[M][L], T (*restrict out)[M][L]) {
#define LAP(i, j) (4 * x[i][j][k] - (x[i + 1][j][k] + x[i - 1][j][k] + x[i][j + 1][k] + x[i][j - 1][k]))
#define FLUX(res, delta) ((res) * (delta) > 0 ? 0 : (res))
  EACH(i, 2, N + 2)
  EACH(j, 2, M + 2)
  EACH(k, 0, L) {
    T middle = LAP(i, j), low = LAP(i - 1, j) - middle, high = middle - LAP(i + 1, j);
    T left = LAP(i, j - 1) - middle, right = middle - LAP(i, j + 1);
    low = FLUX(-low, x[i][j][k] - x[i - 1][j][k]), high = FLUX(-high, x[i + 1][j][k] - x[i][j][k]);
    left = FLUX(-left, x[i][j][k] - x[i][j - 1][k]), right = FLUX(-right, x[i][j + 1][k] - x[i][j][k]);
    out[i - 2][j - 2][k] = x[i][j][k] - c[i - 2][j - 2][k] * (high - low + right - left);
  }
}

void rank_two(const T (*restrict a)[N], const T *restrict u1, const T *restrict v1, const T *restrict u2,
              const T *restrict v2, const T *restrict y, const T *restrict z, T (*restrict out)[N], T *restrict x,
              T *restrict w) {
  memset(x, 0, sizeof(T) * N);
  EACH(i, 0, N) EACH(j, 0, N) {
    T value = a[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    out[i][j] = value, x[j] += value * y[i];
  }
  EACH(j, 0, N) x[j] = (T)1.2 * x[j] + z[j];
  EACH(i, 0, N) {
    T sum = 0;
    EACH(j, 0, N) sum += out[i][j] * x[j];
    w[i] = (T)1.5 * sum;
  }
}

void last_axis(const T (*restrict a)[M][L], const T (*restrict b)[L], T (*restrict out)[M][L]) {
  EACH(i, 0, N) EACH(j, 0, M) {
    T sum[L] = {0};
    EACH(s, 0, L) EACH(k, 0, L) sum[k] += a[i][j][s] * b[s][k];
    EACH(k, 0, L) out[i][j][k] = sum[k];
  }
}

// Periodic arrays of N x M x L elements; missing dimensions have one element, whose neighbours are itself.
static void torus(T (*restrict x)[M][L], T (*restrict y)[M][L]) {
  const int dims = 1 + (M > 1) + (L > 1);
  EACH(i, 0, N) {
    long up = i ? i - 1 : N - 1, down = i < N - 1 ? i + 1 : 0;
#if L > 1
    EACH(j, 0, M) {
      const T *restrict h = x[i][j], *restrict u = x[up][j], *restrict d = x[down][j];
      const T *restrict l = x[i][j ? j - 1 : M - 1], *restrict r = x[i][j < M - 1 ? j + 1 : 0];
      T *restrict o = y[i][j];
#define AT(k, before, after) o[k] = h[k] + (T)0.1 * (u[k] + d[k] + l[k] + r[k] + h[before] + h[after] - 2 * dims * h[k])
      EACH(k, 1, L - 1) AT(k, k - 1, k + 1);
      AT(0, L - 1, 1), AT(L - 1, L - 2, 0);
    }
#elif M > 1
    const T *restrict h = &x[i][0][0], *restrict u = &x[up][0][0], *restrict d = &x[down][0][0];
    T *restrict o = &y[i][0][0];
#define AT(k, before, after) o[k] = h[k] + (T)0.1 * (u[k] + d[k] + h[before] + h[after] - 2 * dims * h[k])
    EACH(k, 1, M - 1) AT(k, k - 1, k + 1);
    AT(0, M - 1, 1), AT(M - 1, M - 2, 0);
#endif
  }
#if M == 1
  const T *restrict h = &x[0][0][0];
  T *restrict o = &y[0][0][0];
#define AT(k, before, after) o[k] = h[k] + (T)0.1 * (h[before] + h[after] - 2 * h[k])
  EACH(k, 1, N - 1) AT(k, k - 1, k + 1);
  AT(0, N - 1, 1), AT(N - 1, N - 2, 0);
#endif
}

void periodic(const T *restrict x0, T *restrict x) {
  // Kept between calls. The arrays are not static, because each size compiles all functions, also those with more axes
  // than its case.
  static T (*kept)[M][L];
  const size_t bytes = sizeof(T) * N * M * L;
  if (!kept)
    kept = calloc(1, bytes);
  T (*restrict other)[M][L] = kept;
  memcpy(x, x0, bytes);
  for (long step = 0; step + 2 <= STEPS; step += 2)
    torus((void *)x, other), torus(other, (void *)x);
  if (STEPS % 2)
    torus((void *)x, other), memcpy(x, other, bytes);
}

void gradient(const T (*restrict x)[N], T (*restrict out)[N]) {
  static T (*kept)[N]; // twice the Laplacian, and zeros on the border
  if (!kept)
    kept = calloc(N, sizeof(*kept));
  T (*restrict laps)[N] = kept;
#define TWICE(i, j) 2 * (x[i + 1][j] + x[i - 1][j] + x[i][j + 1] + x[i][j - 1] - 4 * x[i][j])
  EACH(i, 1, N - 1) EACH(j, 1, N - 1) laps[i][j] = TWICE(i, j);
  EACH(i, 0, N) EACH(j, 0, N) {
    T up = i ? laps[i - 1][j] : 0, down = i < N - 1 ? laps[i + 1][j] : 0;
    T left = j ? laps[i][j - 1] : 0, right = j < N - 1 ? laps[i][j + 1] : 0;
    out[i][j] = up + down + left + right - 4 * laps[i][j];
  }
}
