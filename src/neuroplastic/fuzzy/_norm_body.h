/* Batch norm, ReLU and dropout of pictures, for one REAL type. Pictures are N rows of R = width x channels numbers,
 * channels fastest; what belongs to a channel comes repeated over a row, so that all loops run along rows. */

/* Rows summed on their own before they join the total: long sums in single precision lose digits. */
#define SUMMED 32

/* Sums over rows first to last of x, or of (x - center)^2 where a center is given. */
CLONES static void NAME(norm_sums_rows)(const REAL *x, const REAL *center, REAL *total, int64_t R, int64_t first,
                                        int64_t last)
{
    for (int64_t begin = 0; begin < R; begin += BLOCK) {
        const int64_t n = MIN(BLOCK, R - begin);
        REAL sum[BLOCK] = {0}, middle[BLOCK] = {0};
        if (center)
            memcpy(middle, center + begin, (size_t)n * sizeof(REAL));
        for (int64_t start = first; start < last; start += SUMMED) {
            REAL part[BLOCK] = {0};
            for (int64_t row = start; row < MIN(start + SUMMED, last); row++) {
                const REAL *value = x + row * R + begin;
                for (int64_t k = 0; k < n; k++) {
                    const REAL difference = value[k] - middle[k];
                    part[k] += center ? difference * difference : difference;
                }
            }
            for (int64_t k = 0; k < BLOCK; k++)
                sum[k] += part[k];
        }
        memcpy(total + begin, sum, (size_t)n * sizeof(REAL));
    }
}

/* Each of the `threads` rows of totals is the sum over its share of the rows of x. */
EXPORT void NAME(norm_sums)(const REAL *x, const REAL *center, REAL *totals, int64_t N, int64_t R, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(norm_sums_rows)(x, center, totals + part * R, R, N * part / threads, N * (part + 1) / threads);
}

/* y = max(0, (x - center) slope + shift), and 0 where a random number below 65536, of this seed and place, is below
 * `dropped`. Four such numbers come of one draw. */
CLONES static void NAME(norm_apply_rows)(const REAL *x, const REAL *center, const REAL *slope, const REAL *shift,
                                         uint64_t seed, int dropped, REAL *y, int64_t R, int64_t first, int64_t last)
{
    const int64_t blocks = (R + BLOCK - 1) / BLOCK;
    for (int64_t row = first; row < last; row++)
        for (int64_t block = 0; block < blocks; block++) {
            const int64_t begin = block * BLOCK, n = MIN(BLOCK, R - begin), at = row * R + begin;
            uint64_t draws[BLOCK / 4];
            uint16_t chance[BLOCK];
            for (int64_t k = 0; k < BLOCK / 4; k++)
                draws[k] = dropped ? random_bits(seed, (row * blocks + block) * (BLOCK / 4) + k) : 0;
            memcpy(chance, draws, sizeof chance);
            for (int64_t k = 0; k < n; k++) {
                const REAL value = (x[at + k] - center[begin + k]) * slope[begin + k] + shift[begin + k];
                y[at + k] = value <= 0 || chance[k] < dropped ? 0 : value; /* NaN stays NaN */
            }
        }
}

EXPORT void NAME(norm_apply)(const REAL *x, const REAL *center, const REAL *slope, const REAL *shift, uint64_t seed,
                             int dropped, REAL *y, int64_t N, int64_t R, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(norm_apply_rows)(x, center, slope, shift, seed, dropped, y, R, N * part / threads,
                              N * (part + 1) / threads);
}

/* Sums over rows of g and of g (x - center), g counted where the output y is above 0. */
CLONES static void NAME(norm_gradient_sums_rows)(const REAL *g, const REAL *y, const REAL *x, const REAL *center,
                                                 REAL *zeroth, REAL *first_order, int64_t R, int64_t first,
                                                 int64_t last)
{
    for (int64_t begin = 0; begin < R; begin += BLOCK) {
        const int64_t n = MIN(BLOCK, R - begin);
        REAL sums[BLOCK] = {0}, products[BLOCK] = {0};
        for (int64_t start = first; start < last; start += SUMMED) {
            REAL sum[BLOCK] = {0}, product[BLOCK] = {0};
            for (int64_t row = start; row < MIN(start + SUMMED, last); row++) {
                const int64_t at = row * R + begin;
                for (int64_t k = 0; k < n; k++) {
                    const REAL passed = y[at + k] <= 0 ? 0 : g[at + k];
                    sum[k] += passed;
                    product[k] += passed * (x[at + k] - center[begin + k]);
                }
            }
            for (int64_t k = 0; k < BLOCK; k++) {
                sums[k] += sum[k];
                products[k] += product[k];
            }
        }
        memcpy(zeroth + begin, sums, (size_t)n * sizeof(REAL));
        memcpy(first_order + begin, products, (size_t)n * sizeof(REAL));
    }
}

EXPORT void NAME(norm_gradient_sums)(const REAL *g, const REAL *y, const REAL *x, const REAL *center, REAL *zeroth,
                                     REAL *first_order, int64_t N, int64_t R, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(norm_gradient_sums_rows)(g, y, x, center, zeroth + part * R, first_order + part * R, R,
                                      N * part / threads, N * (part + 1) / threads);
}

/* dx = g slope + (x - center) lean + shift, g counted where the output y is above 0. */
CLONES static void NAME(norm_gradient_rows)(const REAL *g, const REAL *y, const REAL *x, const REAL *center,
                                            const REAL *slope, const REAL *lean, const REAL *shift, REAL *dx, int64_t R,
                                            int64_t first, int64_t last)
{
    for (int64_t row = first; row < last; row++)
        for (int64_t k = 0; k < R; k++) {
            const int64_t at = row * R + k;
            const REAL passed = y[at] <= 0 ? 0 : g[at];
            dx[at] = passed * slope[k] + (x[at] - center[k]) * lean[k] + shift[k];
        }
}

EXPORT void NAME(norm_gradient)(const REAL *g, const REAL *y, const REAL *x, const REAL *center, const REAL *slope,
                                const REAL *lean, const REAL *shift, REAL *dx, int64_t N, int64_t R, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(norm_gradient_rows)(g, y, x, center, slope, lean, shift, dx, R, N * part / threads,
                                 N * (part + 1) / threads);
}

#undef SUMMED
