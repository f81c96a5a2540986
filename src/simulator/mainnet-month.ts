import { DAY_MS, HOUR_MS, MINUTE_MS, type TimeSpan } from './block.js';
import { Random } from './random.js';

/** Rare events of a main network, with their times in the first 30 days. */
export interface Month {
  /** A validator claims an event that does not exist. */
  readonly phantomClaimsMs: readonly number[];
  /**
   * A validator is down, which jails it, and returns a day later. While it is down, the hub creates a validator set.
   */
  readonly absence: TimeSpan & { readonly valsetMs: number; readonly jailedMs: number };
  /** The signers move the funds to a new threshold key. */
  readonly keyRotationMs: number;
  /** The hub makes no blocks. */
  readonly upgrade: TimeSpan;
  /**
   * Large validators whose nodes come back late from the upgrade are jailed together. The set without them has too
   * little power for the contract, so it is abandoned.
   */
  readonly jailing: TimeSpan;
}

const UPGRADE_MS = 70 * MINUTE_MS;

export function planMonth(seed: number, startMs: number): Month {
  const random = new Random(seed, 'month');
  const midnightMs = Math.floor(startMs / DAY_MS) * DAY_MS;
  const minutes = (minimum: number, maximum: number): number => random.between(minimum, maximum) * MINUTE_MS;
  /** A time within two hours after this hour, on this day or the next. */
  const around = (day: number, hour: number): number =>
    midnightMs + (day + random.between(0, 1)) * DAY_MS + hour * HOUR_MS + minutes(0, 119);
  const downMs = around(6, 8);
  const jailedMs = downMs + minutes(50, 60);
  const upgradeMs = around(19, 13);
  const jailingMs = upgradeMs + UPGRADE_MS + minutes(50, 60);
  return {
    // Two at night, when the next event takes longest to come.
    phantomClaimsMs: [around(3, 1), around(11, 13), around(24, 2)],
    absence: {
      fromMs: downMs,
      valsetMs: downMs + minutes(10, 20),
      jailedMs,
      untilMs: jailedMs + 20 * HOUR_MS + minutes(0, 240),
    },
    keyRotationMs: around(14, 9),
    upgrade: { fromMs: upgradeMs, untilMs: upgradeMs + UPGRADE_MS },
    jailing: { fromMs: jailingMs, untilMs: jailingMs + minutes(12, 15) },
  };
}
