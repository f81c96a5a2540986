import type { StepContext } from '../../src/document-types.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import type { PollResult } from '../../src/engine/step.js';
import { recordedStates } from '../support/endpoint-states.js';
import { seriesOf } from '../support/exposition-text.js';
import { pollOf } from '../support/polls.js';

export const START_SECONDS = 1_790_000_000;

const FLOW =
  /^bridge_(?:flow_gaps|batches_(?:executed|canceled)|transfers_(?:executed|canceled)|token_(?:withdrawn|deposited)_amount)_total$|^crosschain_cctxs_finished_total$|^(?:bridge_batch|bridge_transfer|crosschain_cctx)_duration_seconds_(?:sum|count)$/;

/** An endpoint whose polls get these documents, as in the daemon. */
export function flowPolls(context: StepContext) {
  const states = recordedStates([context], { maxBodyBytes: 2 ** 26, staleAfterMs: context.staleAfterMs });
  let seconds = 0;
  const instant = () => ({ at: START_SECONDS + seconds, clockOffset: 0 });
  const record = (result: PollResult): void => void states.record(context, result, instant());
  const exposition = (): string => renderEndpoints(states.states(), 'text', instant());
  return {
    /** Polls `after` seconds after the last poll. */
    poll: (
      document: unknown,
      after: number,
      received: Omit<Parameters<typeof pollOf>[2] & object, 'at'> = {},
    ): void => {
      seconds += after;
      record(pollOf(context, document, { at: instant(), ...received }));
    },
    fail: (after = 30): void => {
      seconds += after;
      record({ outcome: { ok: false, error: { reason: 'timeout', message: 'slow' } }, phaseSeconds: {} });
    },
    snapshot: () => states.snapshotOf(context),
    exposition,
    /** The values of the families of the flow that are not 0, without the labels of the endpoint. */
    values: (): Record<string, number> =>
      Object.fromEntries(
        seriesOf(exposition())
          .filter(({ name, value }) => FLOW.test(name) && value !== 0)
          .map(({ name, labels, value }) => {
            const others = labels.replace(/^target="t",?/, '').replace(/^document="\w+",?/, '');
            return [others === '' ? name : `${name}{${others}}`, value];
          }),
      ),
  };
}
