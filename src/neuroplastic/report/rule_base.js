"use strict";
// A rule base, as its JSON says it, computed as the package does: rows are in the table's own units. Needs no page.
const RuleBase = (() => {
  const LAYER_NORM_EPS = 1e-5;
  const NEAR_SOFTMAX = 1e-8;
  const HALVINGS = 200;

  const sum = (values) => values.reduce((total, value) => total + value, 0);

  // What each rule's premises amount to: their log-memberships summed, or the worst of them.
  function logFiring(base, row) {
    const { reduce, gain = 1 } = base.firing;
    const shares = {
      sum: 1,
      mean: 1 / base.inputs.length,
      scaled: gain / Math.sqrt(base.inputs.length),
      worst: gain,
    };
    return base.premises.map((premises) => {
      let total = 0;
      premises.forEach((term, input) => {
        if (term < 0) return; // the rule ignores it
        const { center, width } = base.inputs[input].terms[term];
        const away = (row[input] - center) / width;
        const found = -0.5 * away * away;
        total = reduce === "worst" ? Math.min(total, found) : total + found;
      });
      return total * shares[reduce];
    });
  }

  function layerNorm(values, gain, shift) {
    const mean = sum(values) / values.length;
    const variance = sum(values.map((value) => (value - mean) ** 2)) / values.length;
    const scale = 1 / Math.sqrt(variance + LAYER_NORM_EPS);
    return values.map((value, rule) => (value - mean) * scale * gain[rule] + shift[rule]);
  }

  function withCertainty(values, certainty, form) {
    if (form === "tanh") return values.map((value, rule) => value * Math.tanh(certainty[rule]));
    // log sigmoid(c), with no exponential of what is large
    const log = certainty.map((c) => Math.min(c, 0) - Math.log1p(Math.exp(-Math.abs(c))));
    return values.map((value, rule) => value + log[rule]);
  }

  function softmax(values) {
    const most = Math.max(...values);
    const powers = values.map((value) => Math.exp(value - most));
    const total = sum(powers);
    return powers.map((power) => power / total);
  }

  // Shares max(0, (alpha - 1) z - tau) ** (1 / (alpha - 1)), tau such that they add up to 1: found by halving.
  function entmax(values, alpha) {
    if (alpha - 1 < NEAR_SOFTMAX) return softmax(values);
    const most = Math.max(...values);
    const scaled = values.map((value) => (alpha - 1) * (value - most));
    const shares = (tau) => scaled.map((z) => Math.max(0, z - tau) ** (1 / (alpha - 1)));
    let low = -1; // the greatest alone then has a share of 1
    let high = 0;
    for (let k = 0; k < HALVINGS && high - low > 0; k += 1) {
      const middle = (low + high) / 2;
      if (middle <= low || middle >= high) break;
      if (sum(shares(middle)) >= 1) low = middle;
      else high = middle;
    }
    const found = shares(low);
    const total = sum(found);
    return found.map((share) => share / total);
  }

  function firing(base, row) {
    let levels = logFiring(base, row);
    if (base.firing.layer_norm) levels = layerNorm(levels, base.gain, base.shift);
    if (base.firing.certainty) levels = withCertainty(levels, base.certainty, base.firing.certainty);
    return entmax(levels, base.firing.alpha);
  }

  // {firing, outputs}: how strongly each rule fires, and the average of what they say, weighted by that.
  function evaluate(base, row) {
    const levels = firing(base, row);
    const { weight, bias } = base.consequents;
    const outputs = base.outputs.map((_, output) =>
      sum(
        levels.map((level, rule) => {
          if (level === 0) return 0;
          const slope = weight ? sum(weight[rule][output].map((w, input) => w * row[input])) : 0;
          return level * (bias[rule][output] + slope);
        }),
      ),
    );
    return { firing: levels, outputs };
  }

  return { evaluate, softmax };
})();
