/* Included by _kernel.c once per floating type. Each kernel has a serial function over a range of rows, in
 * which the compiler vectorises over rules (or attributes), and an exported one that spreads the ranges over
 * threads. */

/* exp(x) for x <= 0, NaN for NaN: 2^n times a Taylor polynomial on |r| <= ln(2)/2. Branch-free, so loops over it
 * vectorise. */
INLINE REAL NAME(exponential)(REAL x)
{
    x = x < EXP_LOWEST ? EXP_LOWEST : x;
    const REAL n = (x * (REAL)1.44269504088896340736 + ROUNDING_MAGIC) - ROUNDING_MAGIC;
    const REAL r = (x - n * LN2_HIGH) - n * LN2_LOW;
    static const REAL taylor[14] = {1.0,
                                    1.0,
                                    1.0 / 2,
                                    1.0 / 6,
                                    1.0 / 24,
                                    1.0 / 120,
                                    1.0 / 720,
                                    1.0 / 5040,
                                    1.0 / 40320,
                                    1.0 / 362880,
                                    1.0 / 3628800,
                                    1.0 / 39916800,
                                    1.0 / 479001600,
                                    1.0 / 6227020800};
    REAL p = taylor[EXP_DEGREE];
#pragma GCC unroll 16
    for (int k = EXP_DEGREE - 1; k >= 0; k--)
        p = p * r + taylor[k];
    union {
        BITS bits;
        REAL value;
    } scale = {.bits = (BITS)((INTEGER)n + EXPONENT_BIAS) << MANTISSA_BITS};
    return p * scale.value;
}

/* Terms lie in planes far apart, too many streams for the processor to foresee: ask for the same block of the next
 * attribute while this one is worked on. Beyond the end of an array the request is ignored. */
INLINE void NAME(fetch_next_row)(const REAL *block, int64_t U)
{
    for (int64_t k = 0; k < BLOCK; k += 64 / (int64_t)sizeof(REAL))
        __builtin_prefetch(block + U + k, 0, 2);
}

/* A number as it is where it is finite, else NaN. */
INLINE REAL NAME(finite_or_nan)(REAL value) { return value - value == 0 ? value : (REAL)NAN; }

/* Premise selection: the existing term with the greatest logit (plus noise), the lowest index on a tie, and
 * that term's centre and precision, for n rules of one attribute, whose lowest existing term is `lowest`. The centre is
 * NaN where there is no choice: an existing term's score is NaN, the attribute has no term, or the centre is not finite.
 * `at` is the place of the first rule in a term's plane of D x U; `noisy` is a constant at each call. */
INLINE void NAME(select_block)(const REAL *logits, const REAL *noise, const uint8_t *exists, const REAL *centers,
                               const REAL *precisions, uint8_t *chosen, REAL *center, REAL *precision, int64_t T,
                               int64_t plane, int64_t U, int64_t at, const int64_t n, int64_t lowest, const int noisy)
{
    REAL best[BLOCK], c[BLOCK], s[BLOCK];
    INTEGER index[BLOCK];
    for (int64_t t = lowest; t < T; t++) {
        if (t > lowest && !exists[t])
            continue;
        const REAL *logit = logits + t * plane + at, *extra = noisy ? noise + t * plane + at : logit;
        const REAL ct = exists[t] ? NAME(finite_or_nan)(centers[t]) : (REAL)NAN;
        const REAL st = NAME(finite_or_nan)(precisions[t]);
        NAME(fetch_next_row)(logit, U);
        if (noisy)
            NAME(fetch_next_row)(extra, U);
        if (t == lowest)
            for (int64_t k = 0; k < n; k++) {
                best[k] = noisy ? logit[k] + extra[k] : logit[k];
                c[k] = ct;
                s[k] = st;
                index[k] = (INTEGER)t;
            }
        else
            for (int64_t k = 0; k < n; k++) {
                const REAL score = noisy ? logit[k] + extra[k] : logit[k];
                const int better = (score > best[k]) | (score != score); /* and nothing is better than a NaN */
                best[k] = better ? score : best[k];
                c[k] = better ? ct : c[k];
                s[k] = better ? st : s[k];
                index[k] = better ? (INTEGER)t : index[k];
            }
    }
    for (int64_t k = 0; k < n; k++) {
        center[at + k] = best[k] == best[k] ? c[k] : (REAL)NAN;
        precision[at + k] = s[k];
        chosen[at + k] = (uint8_t)index[k];
    }
}

CLONES static void NAME(select_rows)(const REAL *logits, const REAL *noise, const uint8_t *mask,
                                     const REAL *centers, const REAL *precisions, uint8_t *chosen, REAL *center,
                                     REAL *precision, int64_t T, int64_t D, int64_t U, int64_t first, int64_t last)
{
    for (int64_t d = first; d < last; d++) {
        const uint8_t *exists = mask + d * T;
        const REAL *c = centers + d * T, *s = precisions + d * T;
        int64_t lowest = 0;
        while (lowest < T - 1 && !exists[lowest])
            lowest++;
        for (int64_t start = 0; start < U; start += BLOCK) {
            const int64_t n = MIN(BLOCK, U - start), at = d * U + start;
            if (noise)
                NAME(select_block)(logits, noise, exists, c, s, chosen, center, precision, T, D * U, U, at, n, lowest, 1);
            else
                NAME(select_block)(logits, noise, exists, c, s, chosen, center, precision, T, D * U, U, at, n, lowest, 0);
        }
    }
}

EXPORT void NAME(select)(const REAL *logits, const REAL *noise, const uint8_t *mask, const REAL *centers,
                         const REAL *precisions, uint8_t *chosen, REAL *center, REAL *precision, int64_t T, int64_t D,
                         int64_t U, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(select_rows)(logits, noise, mask, centers, precisions, chosen, center, precision, T, D, U,
                          D * part / threads, D * (part + 1) / threads);
}

typedef REAL NAME(vector) __attribute__((vector_size(VECTOR_BYTES)));
#define LANES ((int64_t)(VECTOR_BYTES / sizeof(REAL)))
#define TILE (TILE_VECTORS * LANES)

/* `rows` observations against one tile of rules; a block's sums stay in registers. `rows` is a constant at each call. */
INLINE void NAME(distance_tile)(const REAL *x, const REAL *center, const REAL *precision, int64_t stride, REAL *out,
                                int64_t out_stride, int64_t D, int64_t columns, const int rows)
{
    NAME(vector) total[8][TILE_VECTORS] = {0};
    for (int64_t block = 0; block < D; block += BLOCK) { /* sums of sums: one long sum would lose digits */
        NAME(vector) sum[8][TILE_VECTORS];
        memset(sum, 0, sizeof sum);
        const int64_t end = MIN(block + BLOCK, D);
        for (int64_t d = block; d < end; d++) {
            NAME(vector) c[TILE_VECTORS], s[TILE_VECTORS];
            memcpy(c, center + d * stride, sizeof c);
            memcpy(s, precision + d * stride, sizeof s);
#pragma GCC unroll 8
            for (int b = 0; b < rows; b++) {
                const REAL value = x[b * D + d];
#pragma GCC unroll 2
                for (int v = 0; v < TILE_VECTORS; v++) {
                    const NAME(vector) difference = value - c[v];
                    sum[b][v] += difference * (difference * s[v]);
                }
            }
        }
        for (int b = 0; b < rows; b++)
            for (int v = 0; v < TILE_VECTORS; v++)
                total[b][v] += sum[b][v];
    }
    for (int b = 0; b < rows; b++)
        for (int64_t k = 0; k < columns; k++)
            out[b * out_stride + k] = -((const REAL *)total[b])[k];
}

/* Tiles first..last of the product, rule tile by rule tile, so that a tile's columns stay in cache for all rows. Gives 0,
 * or 1 where memory ran out. */
CLONES static int NAME(distance_tiles)(const REAL *x, const REAL *center, const REAL *precision, REAL *out, int64_t B,
                                       int64_t D, int64_t U, int64_t first, int64_t last)
{
    const int64_t row_tiles = (B + 7) / 8;
    REAL *padded = NULL;
    for (int64_t tile = first; tile < last; tile++) {
        const int64_t u = tile / row_tiles * TILE, b = tile % row_tiles * 8;
        const int64_t columns = MIN(TILE, U - u);
        const REAL *c = center + u, *s = precision + u;
        int64_t stride = U;
        if (columns < TILE) { /* the last rules: a copy padded with zeros, read by all row tiles */
            if (!padded) {
                padded = calloc((size_t)(2 * D * TILE), sizeof(REAL));
                if (!padded)
                    return 1;
                for (int64_t d = 0; d < D; d++) {
                    memcpy(padded + d * TILE, c + d * U, (size_t)columns * sizeof(REAL));
                    memcpy(padded + (D + d) * TILE, s + d * U, (size_t)columns * sizeof(REAL));
                }
            }
            c = padded, s = padded + D * TILE, stride = TILE;
        }
        const REAL *rows = x + b * D;
        REAL *target = out + b * U + u;
        int64_t left = MIN(8, B - b);
        if (left == 8) {
            NAME(distance_tile)(rows, c, s, stride, target, U, D, columns, 8);
            continue;
        }
        if (left & 4) {
            NAME(distance_tile)(rows, c, s, stride, target, U, D, columns, 4);
            rows += 4 * D, target += 4 * U;
        }
        if (left & 2) {
            NAME(distance_tile)(rows, c, s, stride, target, U, D, columns, 2);
            rows += 2 * D, target += 2 * U;
        }
        if (left & 1)
            NAME(distance_tile)(rows, c, s, stride, target, U, D, columns, 1);
    }
    free(padded);
    return 0;
}

/* Log-firing (Eq. 6): out[b,u] = -sum_d precision[d,u] * (x[b,d] - center[d,u])^2. Differences are formed before
 * squaring, so narrow sets far from zero lose no digits. Gives 0, or 1 where memory ran out and `out` is not whole. */
EXPORT int NAME(distance)(const REAL *x, const REAL *center, const REAL *precision, REAL *out, int64_t B, int64_t D,
                          int64_t U, int threads)
{
    const int64_t tiles = (B + 7) / 8 * ((U + TILE - 1) / TILE);
    int failed = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(| : failed)
    for (int part = 0; part < threads; part++)
        failed |= NAME(distance_tiles)(x, center, precision, out, B, D, U, tiles * part / threads,
                                       tiles * (part + 1) / threads);
    return failed;
}

/* Everything the gradient kernel reads and writes. */
struct NAME(gradient_task) {
    const REAL *logits, *noise;
    const uint8_t *mask, *chosen;
    const REAL *centers, *precisions, *first, *second, *zeroth;
    REAL rate;
    REAL *grad_logits, *grad_centers, *grad_precisions;
    int64_t T, D, U;
};

/* One attribute d and the n rules from `start`; n is a constant but in the last block. */
INLINE void NAME(gradient_block)(const struct NAME(gradient_task) *task, int64_t d, int64_t start, const int64_t n,
                                 REAL (*weight)[BLOCK], REAL (*choice)[BLOCK], int past_cache)
{
    const int64_t T = task->T, D = task->D, U = task->U;
    const REAL rate = task->rate;
    const REAL *m1 = task->first + d * U + start, *m2 = task->second + d * U + start, *m0 = task->zeroth + start;
    const uint8_t *pick = task->chosen + d * U + start, *exists = task->mask + d * T;
    REAL highest[BLOCK], total[BLOCK] = {0}, mean[BLOCK] = {0};
    REAL of_center[BLOCK] = {0}, of_precision[BLOCK] = {0};
    for (int64_t k = 0; k < BLOCK; k++)
        highest[k] = -INFINITY;
    if (rate > 0)
        for (int64_t t = 0; t < T; t++) {
            if (!exists[t])
                continue;
            const int64_t at = (t * D + d) * U + start;
            const REAL *logits = task->logits + at;
            NAME(fetch_next_row)(logits, U);
            if (task->noise) {
                const REAL *noise = task->noise + at;
                NAME(fetch_next_row)(noise, U);
                for (int64_t k = 0; k < n; k++) {
                    const REAL score = logits[k] + noise[k];
                    weight[t][k] = score;
                    highest[k] = score > highest[k] ? score : highest[k];
                }
            } else
                for (int64_t k = 0; k < n; k++) {
                    weight[t][k] = logits[k];
                    highest[k] = logits[k] > highest[k] ? logits[k] : highest[k];
                }
        }
    for (int64_t t = 0; t < T; t++) {
        if (!exists[t])
            continue;
        REAL *grad = choice[t]; /* of the one-hot choice */
        const REAL c = task->centers[d * T + t], s = task->precisions[d * T + t];
        if (rate > 0)
            for (int64_t k = 0; k < n; k++) {
                const REAL square = m2[k] - c * (2 * m1[k] - c * m0[k]);
                const REAL e = NAME(exponential)((weight[t][k] - highest[k]) * rate);
                grad[k] = -s * square;
                weight[t][k] = e;
                total[k] += e;
                mean[k] += e * grad[k];
            }
        else
            for (int64_t k = 0; k < n; k++)
                grad[k] = -s * (m2[k] - c * (2 * m1[k] - c * m0[k]));
        int users = 0;
        for (int64_t k = 0; k < n; k++)
            users += pick[k] == t;
        if (!users)
            continue;
        for (int64_t k = 0; k < n; k++) {
            const REAL used = pick[k] == t ? (REAL)1 : (REAL)0;
            of_precision[k] = used * (m2[k] - c * (2 * m1[k] - c * m0[k]));
            of_center[k] = used * (m1[k] - c * m0[k]);
        }
        REAL center_sum = 0, precision_sum = 0;
#pragma omp simd reduction(+ : center_sum, precision_sum)
        for (int64_t k = 0; k < n; k++) {
            center_sum += of_center[k];
            precision_sum += of_precision[k];
        }
        task->grad_centers[d * T + t] += 2 * s * center_sum;
        task->grad_precisions[d * T + t] -= precision_sum;
    }
    if (rate > 0)
        for (int64_t k = 0; k < n; k++) {
            mean[k] /= total[k];
            total[k] = rate / total[k];
        }
    for (int64_t t = 0; t < T; t++) {
        REAL *grad = choice[t];
        if (!exists[t])
            memset(grad, 0, sizeof choice[t]);
        else if (rate > 0)
            for (int64_t k = 0; k < n; k++)
                grad[k] = weight[t][k] * total[k] * (grad[k] - mean[k]);
        put(task->grad_logits + (t * D + d) * U + start, grad, (size_t)n * sizeof(REAL), past_cache);
    }
}

CLONES static void NAME(gradient_rows)(const struct NAME(gradient_task) *task, int64_t first_row, int64_t last_row)
{
    REAL weight[256][BLOCK], choice[256][BLOCK];
    const int64_t T = task->T, U = task->U;
    const int past_cache = (uint64_t)(T * task->D * U) * sizeof(REAL) > CACHE_BYTES;
    for (int64_t d = first_row; d < last_row; d++) {
        for (int64_t t = 0; t < T; t++)
            task->grad_centers[d * T + t] = task->grad_precisions[d * T + t] = 0;
        int64_t start = 0;
        for (; start + BLOCK <= U; start += BLOCK)
            NAME(gradient_block)(task, d, start, BLOCK, weight, choice, past_cache);
        if (start < U)
            NAME(gradient_block)(task, d, start, U - start, weight, choice, past_cache);
    }
    settle();
}

/* Gradients of logits, centres and precisions from the moments of the incoming gradient g:
 * first = sum_b g x, second = sum_b g x^2 (each D x U), zeroth = sum_b g (U), x measured from the same origin as
 * the centres. rate is 1/tau^2 for the softmax gradient of STGE, 0 for the identity gradient of STE. */
EXPORT void NAME(gradient)(const REAL *logits, const REAL *noise, const uint8_t *mask, const uint8_t *chosen,
                           const REAL *centers, const REAL *precisions, const REAL *first, const REAL *second,
                           const REAL *zeroth, REAL rate, REAL *grad_logits, REAL *grad_centers,
                           REAL *grad_precisions, int64_t T, int64_t D, int64_t U, int threads)
{
    const struct NAME(gradient_task) task = {logits, noise,  mask, chosen,      centers,      precisions,      first, second,
                                             zeroth, rate, grad_logits, grad_centers, grad_precisions, T,     D, U};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(gradient_rows)(&task, D * part / threads, D * (part + 1) / threads);
}

/* Values that no term covers: count, mean and sum of squared deviations of {x[b,d] : min_t distance > limit}
 * for every attribute, by Welford's updates. Sets come term-major (T x D). */
CLONES static void NAME(uncovered_columns)(const REAL *x, const REAL *centers, const REAL *precisions,
                                           const uint8_t *mask, REAL limit, REAL *count, REAL *mean, REAL *m2,
                                           int64_t B, int64_t D, int64_t T, int64_t first, int64_t last)
{
    for (int64_t start = first; start < last; start += BLOCK) {
        const int64_t n = MIN(BLOCK, last - start);
        REAL counts[BLOCK] = {0}, means[BLOCK] = {0}, squares[BLOCK] = {0};
        for (int64_t b = 0; b < B; b++) {
            const REAL *value = x + b * D + start;
            REAL nearest[BLOCK];
            for (int64_t k = 0; k < BLOCK; k++)
                nearest[k] = INFINITY;
            for (int64_t t = 0; t < T; t++) {
                const int64_t at = t * D + start;
                for (int64_t k = 0; k < n; k++) {
                    const REAL difference = value[k] - centers[at + k];
                    const REAL distance = mask[at + k] ? difference * difference * precisions[at + k] : INFINITY;
                    nearest[k] = distance < nearest[k] ? distance : nearest[k];
                }
            }
            for (int64_t k = 0; k < n; k++) {
                const REAL fails = nearest[k] > limit ? (REAL)1 : (REAL)0;
                counts[k] += fails;
                const REAL delta = fails * (value[k] - means[k]);
                means[k] += delta / (counts[k] > 1 ? counts[k] : 1);
                squares[k] += delta * (value[k] - means[k]);
            }
        }
        memcpy(count + start, counts, (size_t)n * sizeof(REAL));
        memcpy(mean + start, means, (size_t)n * sizeof(REAL));
        memcpy(m2 + start, squares, (size_t)n * sizeof(REAL));
    }
}

EXPORT void NAME(uncovered)(const REAL *x, const REAL *centers, const REAL *precisions, const uint8_t *mask,
                            REAL limit, REAL *count, REAL *mean, REAL *m2, int64_t B, int64_t D, int64_t T,
                            int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(uncovered_columns)(x, centers, precisions, mask, limit, count, mean, m2, B, D, T, D * part / threads,
                                D * (part + 1) / threads);
}

/* 1.5-entmax of each row, whose greatest entry is 0: out = (x/2 - tau)_+^2 with tau such that the row sums to 1.
 * The sum is convex and falling in tau and at least 1 at tau = -1, so Newton's steps from there never overshoot. A NaN
 * in a row passes the comparison with 0, reaches tau and thereby the whole row. */
CLONES static void NAME(entmax15_rows)(const REAL *x, REAL *out, int64_t U, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        const REAL *row = x + b * U;
        REAL tau = -1;
        for (int step = 0; step < 64; step++) {
            REAL linear = 0, squares = 0;
#pragma omp simd reduction(+ : linear, squares)
            for (int64_t u = 0; u < U; u++) {
                const REAL excess = row[u] * (REAL)0.5 - tau;
                const REAL part = 0 > excess ? 0 : excess;
                linear += part;
                squares += part * part;
            }
            const REAL next = tau + (squares - 1) / (2 * linear);
            if (next <= tau)
                break;
            tau = next;
            if (next != next)
                break;
        }
        for (int64_t u = 0; u < U; u++) {
            const REAL excess = row[u] * (REAL)0.5 - tau;
            const REAL part = 0 > excess ? 0 : excess;
            out[b * U + u] = part * part;
        }
    }
}

EXPORT void NAME(entmax15)(const REAL *x, REAL *out, int64_t B, int64_t U, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        NAME(entmax15_rows)(x, out, U, B * part / threads, B * (part + 1) / threads);
}

#undef LANES
#undef TILE
