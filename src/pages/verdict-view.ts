import { isoTime } from '../clock.js';
import { formatHeading, formatSentence, type Verdict } from '../engine/verdicts.js';
import { dashboardUrl, runbookUrl, transactionUrl, type ExternalLinks } from './external-links.js';

/** A verdict on the pages and in their JSON. */
export type VerdictView = Readonly<ReturnType<typeof verdictView>>;

export function verdictView(shown: Verdict, links: ExternalLinks) {
  const { target, startSeconds, firesAtSeconds, ageKind: _ageKind, isHidden: _isHidden, ...verdict } = shown;
  const isFiring = verdict.state === 'firing';
  return {
    ...verdict,
    /** The summary with the age. */
    heading: formatHeading(shown),
    /** The heading with the details. */
    sentence: formatSentence(shown),
    /** The word before the start: it has begun, or has exceeded a limit that varies. */
    startWord: startWord(shown),
    /** ISO 8601. */
    since: isoTime(startSeconds),
    /** The time of firing if it lasts, ISO 8601; `null` while it fires. */
    firesAt: isFiring ? null : isoTime(firesAtSeconds),
    firesInSeconds: isFiring ? null : firesAtSeconds - startSeconds - verdict.ageSeconds,
    runbook: runbookUrl(links, verdict.alert),
    /**
     * The outbound transaction of the details in the explorer of its chain; `null` if there is none, or no explorer is
     * configured.
     */
    explorer: outboundUrl(shown, links) ?? null,
    /** `null` unless `links.dashboards` is configured. */
    dashboard: dashboardUrl(links, verdict.alert, target),
  };
}

function outboundUrl({ subject, details }: Verdict, links: ExternalLinks): string | undefined {
  const [, hash] = /outbound hash (\w+)/.exec(details) ?? [];
  return hash === undefined ? undefined : transactionUrl(links, subject.chain_id ?? null, hash);
}

function startWord({ ageKind, mayBeOlder }: Verdict): string {
  if (ageKind === 'over') return 'over its limit ';
  return mayBeOlder ? 'seen ' : '';
}
