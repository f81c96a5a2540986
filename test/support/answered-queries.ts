import type { Moment } from '../../src/clock.js';
import { nodeQueries } from '../../src/queries/node-queries.js';
import { initialQueryState, type QueryStates } from '../../src/queries/query.js';

/** The states of queries that were sent, by name; `undefined` for one without an answer. The request has this key. */
export function answeredQueries(at: Moment, values: Readonly<Record<string, unknown>>, key = ''): QueryStates {
  return new Map(
    Object.entries(values).map(([name, value]) => {
      const query = nodeQueries.find((one) => one.name === name);
      if (query === undefined) throw new Error(`${name} is not a query`);
      const answers = new Map(value === undefined ? [] : [[key, { at: at.at, value, renderedFamilies: [] }]]);
      return [name, { ...initialQueryState(query), roundStartedAt: at.at, hasAnswered: answers.size > 0, answers }];
    }),
  );
}
