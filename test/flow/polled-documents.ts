import type { StepContext } from '../../src/document-types.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { Snapshot } from '../../src/engine/endpoint-state.js';
import { recordedStates } from '../support/endpoint-states.js';
import { seriesOf } from '../support/exposition-text.js';
import { pollOf } from '../support/polls.js';

export const START_SECONDS = 1_790_000_000;

/** An endpoint whose polls get these documents, as in the daemon. */
export function polledDocuments(context: StepContext) {
  const states = recordedStates([context], { maxBodyBytes: 2 ** 26, staleAfterMs: context.staleAfterMs });
  let seconds = 0;
  const now = () => ({ at: START_SECONDS + seconds, clockOffset: 0 });
  return {
    /** Polls `after` seconds after the last poll. */
    poll: (
      document: unknown,
      after: number,
      received: Omit<Parameters<typeof pollOf>[2] & object, 'at'> = {},
    ): void => {
      seconds += after;
      states.record(context, pollOf(context, document, { at: now(), ...received }), now());
    },
    fail: (after = 30): void => {
      seconds += after;
      const outcome = { ok: false, error: { reason: 'timeout', message: 'slow' } } as const;
      states.record(context, { outcome, phaseSeconds: {} }, now());
    },
    snapshot: (): Snapshot | undefined => states.snapshotOf(context),
    /** The values of these families by series, without the label of the target. */
    values: (name: RegExp): Record<string, number> =>
      Object.fromEntries(
        seriesOf(renderEndpoints(states.states(), 'text', now()))
          .filter((series) => name.test(series.name))
          .map((series) => [`${series.name}{${series.labels.replace('target="t",', '')}}`, series.value]),
      ),
  };
}
