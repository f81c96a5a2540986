import { labelValues, type LabelValues } from '../metrics/family.js';

/** A token with series of its own. */
export interface FlowToken {
  readonly contract: string;
  readonly denom: string;
}

/** What the tokens are called that have no series of their own. */
const OTHER = 'other';

/**
 * The tokens in the order in which they were first seen, which is the order of the columns of the counters. Column 0 is for tokens
 * above the limit, for the life of the process: a counter that moves to another series would count twice.
 */
export type FlowTokens = readonly FlowToken[];

export const NO_TOKENS: FlowTokens = [{ contract: OTHER, denom: OTHER }];

/** Adds the tokens that are new, and the denoms of those that had none. */
export function addTokens(
  tokens: FlowTokens,
  contracts: Iterable<string>,
  denoms: ReadonlyMap<string, string>,
  maxSeries: number,
): FlowTokens {
  const added = tokens.map((token) =>
    token.denom === '' && denoms.has(token.contract) ? { ...token, denom: denoms.get(token.contract) ?? '' } : token,
  );
  const known = new Set(tokens.map(({ contract }) => contract));
  for (const source of [contracts, denoms.keys()]) {
    for (const contract of source) {
      if (added.length >= maxSeries) return added;
      if (known.has(contract)) continue;
      known.add(contract);
      added.push({ contract, denom: denoms.get(contract) ?? '' });
    }
  }
  return added;
}

/** The column of each contract; 0 for one without series of its own. */
export function columnOf(tokens: FlowTokens): (contract: string) => number {
  const columns = new Map(tokens.map(({ contract }, column) => [contract, column]));
  return (contract) => columns.get(contract) ?? 0;
}

/** The values of one series of each token, by column. */
export interface TokenColumn {
  /** Besides those of the token. */
  readonly labels: LabelValues;
  readonly valueOf: (column: number) => number;
}

/**
 * The samples of all tokens. Those above the limit are one series with the sum, whose labels are all `other`; it is there once it has
 * counted. A family has at most `maxSeries` series.
 */
export function tokenSamples(
  tokens: FlowTokens,
  columns: readonly TokenColumn[],
  maxSeries: number,
): { readonly labels: LabelValues; readonly value: number }[] {
  const maxTokens = Math.floor((maxSeries - 1) / columns.length);
  const own = tokens.slice(1, 1 + maxTokens);
  const samples = columns.flatMap(({ labels, valueOf }) =>
    own.map(({ contract, denom }, index) => ({
      labels: { token_contract: contract, denom, ...labels },
      value: valueOf(index + 1),
    })),
  );
  const isOther = (column: number): boolean => column === 0 || column > own.length;
  const sumOfOthers = columns
    .flatMap(({ valueOf }) => Array.from(tokens.keys()).filter(isOther).map(valueOf))
    .reduce((sum, value) => sum + value, 0);
  if (sumOfOthers === 0) return samples;
  const names = ['token_contract', 'denom', ...Object.keys(columns[0]?.labels ?? {})];
  return [...samples, { labels: labelValues(names, () => OTHER), value: sumOfOthers }];
}
