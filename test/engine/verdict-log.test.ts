import { pino, type Logger } from 'pino';
import { describe, expect, it } from 'vitest';
import { haveBegunOrEnded, logVerdicts, type ReportedVerdicts } from '../../src/engine/poll-log.js';
import type { TargetVerdicts } from '../../src/engine/verdicts.js';
import { INITIAL_CONFIG, record, type Phase } from '../problems/recording.js';
import { targetVerdicts, verdict } from '../pages/sample-snapshots.js';

interface Logged {
  readonly line: (text: string) => void;
}

const createLog = ({ line }: Logged) =>
  pino({ base: null, timestamp: false, formatters: { level: (level) => ({ level }) } }, { write: line });

/** Logs what changes from one call to the next; returns whether a verdict has begun or ended. */
function createVerdictLog(log: Logger) {
  let before: ReportedVerdicts = new Map();
  return (judged: TargetVerdicts): boolean => {
    const earlier = before;
    before = logVerdicts(log, earlier, judged.verdicts);
    return haveBegunOrEnded(earlier, before);
  };
}

/** The log lines about the verdicts of a recording, with the minute. */
function linesOf(phases: readonly Phase[]): string[] {
  const lines: string[] = [];
  let minute = 0;
  const log = createLog({
    line: (text) => {
      const { level, alert, msg, target, document } = JSON.parse(text) as Readonly<Record<string, string>>;
      lines.push(`${minute} ${level} ${target} ${document} ${alert}: ${msg}`);
    },
  });
  const logNext = createVerdictLog(log);
  record(phases, {
    valsets: 3,
    sampleSeconds: 240,
    observe: ([target], at) => {
      minute = at;
      if (target !== undefined) logNext(target);
    },
  });
  return lines;
}

describe('the log of verdicts', () => {
  it('has one line for the beginning and one for the end of a verdict, with the sentence of the page', () => {
    const lines = linesOf([
      { minutes: 12, config: { ...INITIAL_CONFIG, documents: ['module_state'] } },
      { minutes: 28, scenario: 'stalled-oracle' },
      // In which the data cannot be judged.
      { minutes: 20, bridge: { fails: 'timeout' } },
      { minutes: 8, scenario: 'healthy' },
    ]);
    expect(lines.filter((line) => line.includes('module_state BridgeOracleStalled'))).toEqual([
      expect.stringMatching(
        /^\d+ error demo module_state BridgeOracleStalled: critical: your validator .* has not voted: event \d+ \(.*\) is not observed, for \d+ min; 6 validators with 52 % of the power have not voted: /,
      ),
      expect.stringMatching(
        /^[56]\d info demo module_state BridgeOracleStalled: no longer critical, ended: your validator .* is not observed, for \d+ min; /,
      ),
    ]);
  });

  it.each([
    ['critical', 'error'],
    ['warning', 'warn'],
    ['info', 'info'],
  ] as const)('has what is %s with the level %s, and its end with the level info', (severity, level) => {
    const levels: string[] = [];
    const logNext = createVerdictLog(createLog({ line: (text) => levels.push(JSON.parse(text).level) }));
    logNext(targetVerdicts([verdict('BridgeOracleStalled', severity, 20)]));
    logNext(targetVerdicts());
    expect(levels).toEqual([level, 'info']);
  });

  it('has the same alert about another chain as another verdict', () => {
    const lines: { chain_id?: string }[] = [];
    const logNext = createVerdictLog(createLog({ line: (text) => lines.push(JSON.parse(text)) }));
    const stuck = (chain_id: string) => verdict('CrosschainBacklogStuck', 'critical', 40, { subject: { chain_id } });
    const hasChanged = [['1'], ['1', '56'], ['1', '56']].map((ids) => logNext(targetVerdicts(ids.map(stuck))));
    expect(lines.map(({ chain_id }) => chain_id)).toEqual(['1', '56']);
    expect(hasChanged).toEqual([true, true, false]);
  });

  it('says why an alert is no longer critical: another one hides it, it is a warning, or it has ended', () => {
    const lines: string[] = [];
    const logNext = createVerdictLog(
      createLog({
        line: (text) => {
          const { level, msg } = JSON.parse(text) as Readonly<Record<string, string>>;
          lines.push(`${level} ${msg?.split(':')[0]}`);
        },
      }),
    );
    const warning = verdict('BridgeOrchestratorDeadlineNear', 'warning', 20);
    const critical = verdict('BridgeOrchestratorDeadlineNear', 'critical', 30);
    const hidden = { ...critical, hiddenBy: 'BridgeBatchUnsigned' };
    for (const each of [[warning], [hidden], [critical], [warning], []]) logNext(targetVerdicts(each));
    expect(lines).toEqual([
      'warn warning',
      'info no longer warning, hidden by BridgeBatchUnsigned',
      'error critical',
      'warn no longer critical, now warning',
      'info no longer warning, ended',
    ]);
  });
});
