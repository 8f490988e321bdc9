/* A picture shrunk by area to a smaller one: what OpenCV's INTER_AREA gives, to the last bit, in a fifth of the time.
 * Plain C without Python's headers; shrinking.py calls it through ctypes and vouches for every pointer and size.
 *
 * Sums are taken in OpenCV's order, in single precision, and must not be contracted to fused multiply-adds: the
 * sources are compiled with -ffp-contract=off. */

#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

/* The largest sizes, which shrinking.py knows too. */
#define MOST_COLUMNS 1024
#define MOST_WIDTH 128
#define MOST_TAPS 16

typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));

/* One row, made narrower. */
static inline __attribute__((always_inline)) void narrowed(const float *row, float *to, int64_t width,
                                                           const int32_t *first, const float *share, int64_t taps)
{
    for (int64_t x = 0; x < width; x++, share += taps) {
        const float *seen = row + 3 * first[x];
        Four part = {0, 0, 0, 0};
        for (int64_t tap = 0; tap < taps; tap++)
            part += *(const Four *)(seen + 3 * tap) * share[tap];
        *(Four *)(to + 4 * x) = part;
    }
}

EXPORT int area_version(void) { return 1; }

/* Pixels have three channels on either side, and four in between: the fourth is not looked at. Column x of the smaller
 * picture is the sum of `x_taps` columns from `x_first[x]` on, each times its share in `x_share` (width, x_taps); rows
 * alike. Shares of 0 fill up, and may lie beyond the picture. */
CLONES EXPORT void shrink_area(const uint8_t *picture, int64_t rows, int64_t columns, uint8_t *smaller, int64_t height,
                               int64_t width, const int32_t *x_first, const float *x_share, int64_t x_taps,
                               const int32_t *y_first, const float *y_share, int64_t y_taps)
{
    float row[(MOST_COLUMNS + MOST_TAPS) * 3 + 4];
    float shrunk[MOST_TAPS][MOST_WIDTH * 4]; /* rows as wide as the smaller picture, in a ring */
    float sum[MOST_WIDTH * 4];
    uint8_t rounded[MOST_WIDTH * 4];
    memset(row, 0, sizeof row);
    int64_t done = 0;
    for (int64_t y = 0; y < height; y++) {
        int64_t last = y_first[y] + y_taps;
        if (last > rows)
            last = rows;
        for (; done < last; done++) {
            const uint8_t *from = picture + done * columns * 3;
            for (int64_t k = 0; k < columns * 3; k++)
                row[k] = from[k];
            float *to = shrunk[done % MOST_TAPS];
            if (x_taps == 3) /* known, it is unrolled */
                narrowed(row, to, width, x_first, x_share, 3);
            else
                narrowed(row, to, width, x_first, x_share, x_taps);
        }
        memset(sum, 0, sizeof sum);
        for (int64_t tap = 0; tap < y_taps && y_first[y] + tap < rows; tap++) {
            const float *from = shrunk[(y_first[y] + tap) % MOST_TAPS], share = y_share[y * y_taps + tap];
            for (int64_t k = 0; k < width * 4; k++)
                sum[k] += share * from[k];
        }
        /* To the nearest whole number, halves to the even one: what is added leaves no room for fractions. */
        for (int64_t k = 0; k < width * 4; k++)
            rounded[k] = (uint8_t)(int32_t)((sum[k] + 12582912.0f) - 12582912.0f);
        uint8_t *to = smaller + y * width * 3;
        for (int64_t x = 0; x < width; x++)
            for (int c = 0; c < 3; c++)
                to[3 * x + c] = rounded[4 * x + c];
    }
}
