"""A slow float64 oracle of the method: NumPy, one plain loop per equation, from the mathematics alone.

Letters: B batch, D attributes, T terms, U rules, O outputs, V output terms. Logits and noise are (T, D, U),
sets are (D, T), premises are (U, D). Equation numbers are those of the paper.
"""

import math

import numpy as np


def log_memberships(x, centers, widths):
    """Logarithm of the Gaussian membership, Eq. 2: -(x - c)^2 / (2 sigma^2), as (B, D, T)."""
    B, D = x.shape
    T = centers.shape[1]
    log_mu = np.zeros((B, D, T))
    for b in range(B):
        for i in range(D):
            for j in range(T):
                distance = float(x[b, i]) - float(centers[i, j])
                log_mu[b, i, j] = -(distance**2) / (2.0 * float(widths[i, j]) ** 2)
    return log_mu


def scalar_cardinality(log_mu):
    """S[i, j] = sum over the batch of the memberships (Appendix A)."""
    B, D, T = log_mu.shape
    S = np.zeros((D, T))
    for i in range(D):
        for j in range(T):
            S[i, j] = math.fsum(math.exp(log_mu[b, i, j]) for b in range(B))
    return S


def percentile(values, theta):
    """The theta-th percentile (0 to 100) of a few numbers, linear between order statistics."""
    ordered = sorted(float(value) for value in values)
    position = theta / 100.0 * (len(ordered) - 1)
    below = min(math.floor(position), len(ordered) - 1)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def constrained_mask(log_mu, mask, theta):
    """Terms left for this batch: those not below the theta-th percentile of their attribute (Appendix A)."""
    S = scalar_cardinality(log_mu)
    left = mask.copy()
    if theta == 0.0:
        return left
    for i in range(mask.shape[0]):
        existing = [j for j in range(mask.shape[1]) if mask[i, j]]
        threshold = percentile([S[i, j] for j in existing], theta)
        kept = [j for j in existing if S[i, j] >= threshold]
        for j in existing:
            left[i, j] = j in kept or not kept
    return left


def selected_terms(scores, mask):
    """The existing term of highest score for every rule and attribute, (U, D); a tie goes to the lowest."""
    T, D, U = scores.shape
    terms = np.full((U, D), -1, dtype=np.int64)
    for u in range(U):
        for i in range(D):
            best = -math.inf
            for j in range(T):
                if mask[i, j] and scores[j, i, u] > best:
                    best, terms[u, i] = scores[j, i, u], j
    return terms


def masked_softmax(logits, noise, mask, temperature):
    """Eqs. 8 and 9: softmax over the existing terms of (logits + noise) / tau^2, as (T, D, U)."""
    T, D, U = logits.shape
    phi = np.zeros((T, D, U))
    for i in range(D):
        existing = [j for j in range(T) if mask[i, j]]
        for u in range(U):
            z = {j: (logits[j, i, u] + noise[j, i, u]) / temperature**2 for j in existing}
            top = max(z.values())
            total = math.fsum(math.exp(z[j] - top) for j in existing)
            for j in existing:
                phi[j, i, u] = math.exp(z[j] - top) / total
    return phi


def log_firing(log_mu, terms, reduce="sum", gain=1.0, power=math.inf):
    """Log-firing of each rule of the chosen log-memberships, as (B, U): Eq. 6 (sum) or Eq. 12 (mean), or with a gain.

    "scaled" is gain * sum / sqrt(D), "worst" minus gain times the p-norm of the distances m = -log mu: at an
    infinite power the least log-membership.
    """
    B, D, _ = log_mu.shape
    U = terms.shape[0]
    w = np.zeros((B, U))
    for b in range(B):
        for u in range(U):
            chosen = [log_mu[b, i, terms[u, i]] for i in range(D)]
            if reduce == "worst":
                w[b, u] = -gain * norm([-value for value in chosen], power)
            else:
                scale = {"sum": 1.0, "mean": 1.0 / D, "scaled": gain / math.sqrt(D)}[reduce]
                w[b, u] = scale * math.fsum(chosen)
    return w


def norm(distances, power):
    """(sum m^p)^(1/p) of numbers that are not negative; the greatest where p is infinite."""
    if power == math.inf:
        return max(distances)
    return math.fsum(m**power for m in distances) ** (1.0 / power)


def premise_slopes(log_mu, terms, reduce="sum", gain=1.0, power=math.inf):
    """Derivative of log-firing by each chosen log-membership, (B, D, U): all alike but for "worst".

    There it is gain * (m / n)^(p - 1) with the p-norm n, and 0 where n is 0; at an infinite power the first of the
    greatest distances has all of it.
    """
    B, D, _ = log_mu.shape
    U = terms.shape[0]
    slopes = np.zeros((B, D, U))
    for b in range(B):
        for u in range(U):
            m = [-log_mu[b, i, terms[u, i]] for i in range(D)]
            n = norm(m, power)
            for i in range(D):
                if reduce != "worst":
                    slopes[b, i, u] = {"sum": 1.0, "mean": 1.0 / D, "scaled": gain / math.sqrt(D)}[reduce]
                elif power == math.inf:
                    slopes[b, i, u] = gain if n > 0.0 and i == m.index(n) else 0.0
                elif n > 0.0:
                    slopes[b, i, u] = gain * (m[i] / n) ** (power - 1.0)
    return slopes


def log_firing_gradients(
    x,
    centers,
    widths,
    logits,
    noise,
    mask,
    upstream,
    estimator,
    temperature,
    reduce="sum",
    gain=1.0,
    power=math.inf,
):
    """Straight-through gradients (Eq. 10) of sum(upstream * log_firing) by logits, sets, inputs and log gain.

    The gradient by the one-hot entry I[i, j, u] is a_j = sum_b upstream[b, u] slope[b, i, u] log mu[b, i, j]. STE hands
    a_j to the logit unchanged; STGE sends it through the softmax: phi_j (a_j - sum_k phi_k a_k) / tau^2.
    """
    B, D = x.shape
    T, _, U = logits.shape
    log_mu = log_memberships(x, centers, widths)
    terms = selected_terms(logits + noise, mask)
    phi = masked_softmax(logits, noise, mask, temperature)
    slopes = premise_slopes(log_mu, terms, reduce, gain, power)
    by_logits, by_x = np.zeros((T, D, U)), np.zeros((B, D))
    by_centers, by_widths = np.zeros((D, T)), np.zeros((D, T))
    for i in range(D):
        for u in range(U):
            a = np.zeros(T)
            for j in range(T):
                if mask[i, j]:
                    a[j] = math.fsum(upstream[b, u] * slopes[b, i, u] * log_mu[b, i, j] for b in range(B))
            expected = math.fsum(phi[j, i, u] * a[j] for j in range(T))
            for j in range(T):
                through_softmax = phi[j, i, u] * (a[j] - expected) / temperature**2
                by_logits[j, i, u] = a[j] if estimator == "ste" else through_softmax
            chosen = terms[u, i]
            width = widths[i, chosen]
            for b in range(B):
                g, distance = slopes[b, i, u] * upstream[b, u], x[b, i] - centers[i, chosen]
                by_centers[i, chosen] += g * distance / width**2
                by_widths[i, chosen] += g * distance**2 / width**3
                by_x[b, i] -= g * distance / width**2
    by_log_gain = np.sum(upstream * log_firing(log_mu, terms, reduce, gain, power))
    sets = {"logits": by_logits, "centers": by_centers, "widths": by_widths, "x": by_x}
    return sets | ({"log_gain": by_log_gain} if reduce in ("scaled", "worst") else {})


def layer_norm(w, kappa, beta, eps=1e-5):
    """Eqs. 13 to 15 over the rules, biased variance; eps because tied rules would give 0/0."""
    B, U = w.shape
    normed = np.zeros((B, U))
    for b in range(B):
        mean = math.fsum(w[b, u] for u in range(U)) / U
        variance = math.fsum((w[b, u] - mean) ** 2 for u in range(U)) / U
        for u in range(U):
            normed[b, u] = (w[b, u] - mean) / math.sqrt(variance + eps) * kappa[u] + beta[u]
    return normed


def certain(w, raw, form):
    """Certainty factors: "log" adds log sigmoid(raw) per rule, "tanh" multiplies by tanh(raw)."""
    B, U = w.shape
    result = np.zeros((B, U))
    for b in range(B):
        for u in range(U):
            if form == "log":
                result[b, u] = w[b, u] + math.log(1.0 / (1.0 + math.exp(-raw[u])))
            else:
                result[b, u] = w[b, u] * math.tanh(raw[u])
    return result


def entmax(w, alpha):
    """alpha-entmax over the rules for any alpha in [1, 2], by bisection of the normalising constant.

    p_u = [1 + (alpha - 1)(w_u - lam)]_+ ^ (1 / (alpha - 1)), which is exp(w_u - lam), softmax, at alpha = 1.
    With the largest w at 0, lam = 0 gives a sum of at least 1; the lam where the largest p is 1/U, at most 1.
    """
    B, U = w.shape
    p = np.zeros((B, U))
    for b in range(B):
        z = [float(w[b, u]) - float(np.max(w[b])) for u in range(U)]
        low = 0.0
        high = math.log(U) if alpha == 1.0 else (1.0 - U ** (1.0 - alpha)) / (alpha - 1.0)
        for _ in range(200):
            middle = 0.5 * (low + high)
            if math.fsum(deformed_exponential(z_u - middle, alpha) for z_u in z) >= 1.0:
                low = middle
            else:
                high = middle
        for u in range(U):
            p[b, u] = deformed_exponential(z[u] - 0.5 * (low + high), alpha)
    return p


def deformed_exponential(t, alpha):
    """[1 + (alpha - 1) t]_+ ^ (1 / (alpha - 1)), and exp(t) at alpha = 1."""
    if alpha == 1.0:
        return math.exp(t)
    inner = (alpha - 1.0) * t
    return 0.0 if inner <= -1.0 else math.exp(math.log1p(inner) / (alpha - 1.0))


def fitting_penalty(firing, worst):
    """Mean over rows of sum_u f_u max(0, -log 2 - w_u), w the log-membership of the worst premise of each rule."""
    return float(
        np.mean(
            [
                sum(f * max(0.0, -np.log(2) - w) for f, w in zip(row, low, strict=True))
                for row, low in zip(firing, worst, strict=True)
            ]
        )
    )


def balance_penalty(firing):
    """KL divergence of the mean firing f over the batch from the uniform one: sum_u f_u log(U f_u)."""
    B, U = firing.shape
    mean = [math.fsum(firing[b, u] for b in range(B)) / B for u in range(U)]
    return math.fsum(f * math.log(U * f) for f in mean if f > 0.0)


def affine_decisions(x, weight, bias):
    """g_u(x) = W_u x + b_u with weight (U, O, D) and bias (U, O), as (B, U, O)."""
    B, D = x.shape
    U, n_out, _ = weight.shape
    g = np.zeros((B, U, n_out))
    for b in range(B):
        for u in range(U):
            for o in range(n_out):
                g[b, u, o] = math.fsum(weight[u, o, i] * x[b, i] for i in range(D)) + bias[u, o]
    return g


def constant_decisions(x, bias):
    """g_u(x) = b_u: the zero-order form."""
    B, (U, n_out) = x.shape[0], bias.shape
    g = np.zeros((B, U, n_out))
    for b in range(B):
        for u in range(U):
            for o in range(n_out):
                g[b, u, o] = bias[u, o]
    return g


def low_rank_decisions(x, projection, weight, bias):
    """g_u(x) = W_u (P^T x) + b_u with projection P (D, R) and weight (U, O, R)."""
    B, D = x.shape
    R = projection.shape[1]
    projected = np.zeros((B, R))
    for b in range(B):
        for r in range(R):
            projected[b, r] = math.fsum(projection[i, r] * x[b, i] for i in range(D))
    return affine_decisions(projected, weight, bias)


def firing_weighted_sum(firing, decisions):
    """The output of the network, step 8: y[b, o] = sum_u firing[b, u] g[b, u, o]."""
    B, U, n_out = decisions.shape
    y = np.zeros((B, n_out))
    for b in range(B):
        for o in range(n_out):
            y[b, o] = math.fsum(firing[b, u] * decisions[b, u, o] for u in range(U))
    return y


def mamdani_height(firing, conclusions, output_centers):
    """Height method: y_o = sum_u f_u c[o, v(u, o)] (the firing sums to 1)."""
    B, U = firing.shape
    n_out = output_centers.shape[0]
    y = np.zeros((B, n_out))
    for b in range(B):
        for o in range(n_out):
            y[b, o] = math.fsum(firing[b, u] * output_centers[o, conclusions[u, o]] for u in range(U))
    return y


def mamdani_area(firing, conclusions, output_centers, output_widths):
    """Centre of area, product implication, sum aggregation: a set's area is f * sigma * sqrt(2 pi)."""
    B, U = firing.shape
    n_out = output_centers.shape[0]
    y = np.zeros((B, n_out))
    for b in range(B):
        for o in range(n_out):
            area = [firing[b, u] * output_widths[o, conclusions[u, o]] for u in range(U)]
            moment = math.fsum(area[u] * output_centers[o, conclusions[u, o]] for u in range(U))
            y[b, o] = moment / math.fsum(area)
    return y


def incomplete(x, centers, widths, mask, epsilon):
    """Where observations fail epsilon-completeness: max_j mu[b, i, j] < epsilon, as (B, D)."""
    log_mu = log_memberships(x, centers, widths)
    B, D, T = log_mu.shape
    fails = np.zeros((B, D), dtype=bool)
    for b in range(B):
        for i in range(D):
            best = max(math.exp(log_mu[b, i, j]) for j in range(T) if mask[i, j])
            fails[b, i] = best < epsilon
    return fails


def welford_merge(count, mean, m2, values):
    """One attribute's running statistics after more values: count, mean, sum of squared deviations (Chan)."""
    n = len(values)
    if n == 0:
        return count, mean, m2
    batch_mean = math.fsum(values) / n
    batch_m2 = math.fsum((value - batch_mean) ** 2 for value in values)
    delta, total = batch_mean - mean, count + n
    return total, mean + delta * n / total, m2 + batch_m2 + delta**2 * count * n / total
