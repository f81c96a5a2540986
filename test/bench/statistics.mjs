export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

export const median = (values) => quantile(values, 0.5);

/** Median and quartiles. */
export function spread(values, unit, digits = 1) {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(values, share).toFixed(digits));
  return `${middle} ${unit} (${low} to ${high})`;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
