/* The rule part of a neuro-fuzzy network, fused: each function makes one pass over memory where eager
 * PyTorch makes a dozen. Plain C without Python's headers; backends/compiled.py calls it through ctypes and vouches for
 * every pointer and size: nothing is checked here.
 *
 * NaN is never lost on the way: comparisons are so written that a NaN comes out where one went in.
 *
 * Letters as everywhere: B batch, D attributes, T terms of an attribute, U rules. Matrices are row-major.
 * The mathematics is in _kernel_body.h (and _norm_body.h, for the picture encoder in front), compiled once for float
 * and once for double. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One binary serves old and new processors: the best variant is chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* backends/library.py opens only a library that was built from sources of its own number: raise both together, whenever
 * a function changes what it takes, gives or promises. */
#define VERSION 2
EXPORT int kernel_version(void) { return VERSION; }

/* Rules are worked on in blocks that stay in the first-level cache. */
#define BLOCK 64
/* Bytes of one vector, and vectors of one column tile of the distance product. */
#define VECTOR_BYTES 64
#define TILE_VECTORS 2

/* Results larger than this are written past the cache: nothing of them would stay there, and a plain write would
 * first read what it overwrites. */
#define CACHE_BYTES (16u << 20)

#if defined(__SSE2__)
#include <emmintrin.h>
INLINE void put(void *to, const void *from, size_t bytes, int past_cache)
{
    if (!past_cache || (((uintptr_t)to | bytes) & 15)) {
        memcpy(to, from, bytes);
        return;
    }
    for (size_t k = 0; k < bytes; k += 16)
        _mm_stream_si128((__m128i *)((char *)to + k), _mm_loadu_si128((const __m128i *)((const char *)from + k)));
}
/* Makes what was put visible to the other threads. */
INLINE void settle(void) { _mm_sfence(); }
#else
INLINE void settle(void) {}
INLINE void put(void *to, const void *from, size_t bytes, int past_cache)
{
    (void)past_cache;
    memcpy(to, from, bytes);
}
#endif

/* 64 random bits that are a function of seed and position alone (SplitMix64). */
INLINE uint64_t random_bits(uint64_t seed, int64_t position)
{
    uint64_t z = seed + (uint64_t)(position + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform numbers in (0, 1), so made that the same noise appears on every device and a slot's noise does not depend
 * on which other slots are in use. 23 bits: (k + 0.5) / 2^23 is exact in float and never 0 or 1. */
CLONES static void uniform_range(uint64_t seed, float *out, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        out[i] = ((float)(int32_t)(random_bits(seed, i) >> 41) + 0.5f) * 0x1p-23f;
}

EXPORT void uniform_float(uint64_t seed, float *out, int64_t count, int threads)
{
    const int64_t piece = (count + threads - 1) / threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int part = 0; part < threads; part++)
        uniform_range(seed, out, MIN(part * piece, count), MIN((part + 1) * piece, count));
}

#define REAL float
#define INTEGER int32_t
#define BITS uint32_t
#define NAME(f) f##_float
#define MANTISSA_BITS 23
#define EXPONENT_BIAS 127
#define EXP_LOWEST (-87.0f)
#define EXP_DEGREE 6
#define ROUNDING_MAGIC 12582912.0f /* 1.5 * 2^23 */
#define LN2_HIGH 0.693359375f
#define LN2_LOW (-2.12194440e-4f)
#include "_kernel_body.h"
#include "_norm_body.h"
#undef REAL
#undef INTEGER
#undef BITS
#undef NAME
#undef MANTISSA_BITS
#undef EXPONENT_BIAS
#undef EXP_LOWEST
#undef EXP_DEGREE
#undef ROUNDING_MAGIC
#undef LN2_HIGH
#undef LN2_LOW

#define REAL double
#define INTEGER int64_t
#define BITS uint64_t
#define NAME(f) f##_double
#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1023
#define EXP_LOWEST (-708.0)
#define EXP_DEGREE 13
#define ROUNDING_MAGIC 6755399441055744.0 /* 1.5 * 2^52 */
#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#include "_kernel_body.h"
#include "_norm_body.h"
