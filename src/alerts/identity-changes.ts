import { msBetween } from '../clock.js';
import { MINUTE_MS } from '../config/units.js';
import { ON_TARGET, promDuration, TARGET } from './promql.js';
import { identityLabels, REMEMBERED_MINUTES, type IdentityFamily, type IdentityLabel } from './poll-history.js';
import type { Finding, PollView } from './view.js';

/* What the alerts on another bridge or another owner of the contract have in common: a label of an info metric with another value. */

/** How long an alert on another value fires: longer than the repeat interval of the example for Alertmanager. */
export const IDENTITY_HOURS = 6;
const IDENTITY_MINUTES = IDENTITY_HOURS * 60;

/** A value of the label that was not there some hours ago, while another one was there within a day. An empty one is a missing field. */
function changedExpr(family: IdentityFamily, label: IdentityLabel): string {
  const present = `${family}{${label}!=""}`;
  const memory = promDuration(REMEMBERED_MINUTES);
  return `(
  ${present}
  unless on (${TARGET}, ${label}) last_over_time(${present}[${memory}] offset ${promDuration(IDENTITY_MINUTES)})
  and ${ON_TARGET} count by (${TARGET}) (count by (${TARGET}, ${label}) (last_over_time(${present}[${memory}]))) > 1
)`;
}

/** The rule and the pattern of a family of which one of these labels has another value than before. */
export function identityChanged<const Family extends IdentityFamily>(family: Family) {
  const labels: readonly IdentityLabel[] = identityLabels[family];
  const find = ({ samples, history, now }: PollView<Family>): readonly Finding[] => {
    const changes = labels.flatMap((label) => history.identities.get(label)?.at ?? []);
    const recent = changes.filter((at) => msBetween(at, now) < IDENTITY_MINUTES * MINUTE_MS);
    const [since] = recent.toSorted((a, b) => b.monotonicMs - a.monotonicMs);
    if (since === undefined) return [];
    return samples.series(family).map(({ labels: all, value }) => {
      // For Prometheus, an empty label is none.
      const present = Object.entries(all).filter(([, text]) => text !== '');
      return { labels: Object.fromEntries(present), value, start: { kind: 'shown', since, mayBeOlder: false } };
    });
  };
  return { expr: labels.map((label) => changedExpr(family, label)).join('\nor\n'), families: [family], find };
}
