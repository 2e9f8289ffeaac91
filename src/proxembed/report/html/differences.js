/* What differs between rows inside and outside a selection, as proxembed.measures.selections has it. */
const differences = (() => {
  "use strict";
  /* erfc(z) for z >= 0, to a relative error of 1.2e-7 (Numerical Recipes). */
  const erfc = (z) => {
    const t = 1 / (1 + z / 2), c = [0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368, -1.26551223];
    return t * Math.exp(-z * z + c.reduce((sum, each) => sum * t + each, 0));
  };

  let logs = new Float64Array(1);
  const factorial = (n) => {
    if (n >= logs.length) {
      const known = logs.length, more = new Float64Array(2 * n + 2);
      more.set(logs);
      for (let i = known; i < more.length; i++) more[i] = more[i - 1] + Math.log(i);
      logs = more;
    }
    return logs[n];
  };
  const choose = (n, k) => factorial(n) - factorial(k) - factorial(n - k);

  /* Fisher's exact test: a of m rows inside and b of k rows outside have it. */
  const fisher = (a, b, m, k) => {
    const both = a + b, log = (x) => choose(m, x) + choose(k, both - x) - choose(m + k, both), own = log(a) + 1e-7;
    let p = 0;
    for (let x = Math.max(0, both - k); x <= Math.min(m, both); x++) if (log(x) <= own) p += Math.exp(log(x));
    return Math.min(1, p);
  };

  /* Of a column by the rows that have each of its values in ascending order; null where a side has none. */
  const compare = (inside, outside) => {
    let m = 0, k = 0, U = 0, ties = 0, values = 0;
    for (let i = 0; i < inside.length; i++) {
      const a = inside[i], b = outside[i], t = a + b;
      U += a * (k + b / 2);
      m += a;
      k += b;
      ties += t * t * t - t;
      if (t) values++;
    }
    if (!m || !k) return null;
    const n = m + k, effect = (2 * U) / (m * k) - 1;
    if (values === 2) {
      let high = inside.length - 1;
      while (!(inside[high] + outside[high])) high--;
      return { effect, p: fisher(inside[high], outside[high], m, k) };
    }
    const deviation = Math.sqrt(((m * k) / 12) * (n + 1 - ties / (n * (n - 1))));
    const z = deviation > 0 ? Math.max(0, Math.abs(U - (m * k) / 2) - 0.5) / deviation : 0;
    return { effect, p: z > 0 ? erfc(z / Math.SQRT2) : 1 };
  };

  /* Holm's rule. */
  const holm = (p) => {
    const order = p.map((_, i) => i).sort((i, j) => p[i] - p[j]), out = new Array(p.length);
    let most = 0;
    order.forEach((i, place) => { out[i] = most = Math.min(1, Math.max(most, p[i] * (p.length - place))); });
    return out;
  };

  return { compare, holm };
})();
