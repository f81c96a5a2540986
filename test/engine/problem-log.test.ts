import { pino, type Logger } from 'pino';
import { describe, expect, it } from 'vitest';
import { haveBegunOrEnded, logProblems, type ReportedProblems } from '../../src/engine/poll-log.js';
import type { JudgedTarget } from '../../src/engine/target-problems.js';
import { INITIAL_CONFIG, record, type Phase } from '../problems/recording.js';
import { judgeTarget, problem } from '../pages/sample-snapshots.js';

interface Logged {
  readonly line: (text: string) => void;
}

const createLog = ({ line }: Logged) =>
  pino({ base: null, timestamp: false, formatters: { level: (level) => ({ level }) } }, { write: line });

/** Logs what changes from one call to the next; returns whether a problem has begun or ended. */
function createProblemLog(log: Logger) {
  let before: ReportedProblems = new Map();
  return (judged: JudgedTarget): boolean => {
    const earlier = before;
    before = logProblems(log, earlier, judged.problems);
    return haveBegunOrEnded(earlier, before);
  };
}

/** The log lines about the problems of a recording, with the minute. */
function linesOf(phases: readonly Phase[]): string[] {
  const lines: string[] = [];
  let minute = 0;
  const log = createLog({
    line: (text) => {
      const { level, alert, msg, target, document } = JSON.parse(text) as Readonly<Record<string, string>>;
      lines.push(`${minute} ${level} ${target} ${document} ${alert}: ${msg}`);
    },
  });
  const logNext = createProblemLog(log);
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

describe('the log of problems', () => {
  it('has one line for the beginning and one for the end of a problem, with the sentence of the page', () => {
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
    const logNext = createProblemLog(createLog({ line: (text) => levels.push(JSON.parse(text).level) }));
    logNext(judgeTarget([problem('BridgeOracleStalled', severity, 20)]));
    logNext(judgeTarget());
    expect(levels).toEqual([level, 'info']);
  });

  it('has the same alert about another chain as another problem', () => {
    const lines: { chain_id?: string }[] = [];
    const logNext = createProblemLog(createLog({ line: (text) => lines.push(JSON.parse(text)) }));
    const stuck = (chain_id: string) => problem('CrosschainBacklogStuck', 'critical', 40, { subject: { chain_id } });
    const hasChanged = [['1'], ['1', '56'], ['1', '56']].map((ids) => logNext(judgeTarget(ids.map(stuck))));
    expect(lines.map(({ chain_id }) => chain_id)).toEqual(['1', '56']);
    expect(hasChanged).toEqual([true, true, false]);
  });

  it('says why an alert is no longer critical: another one hides it, it is a warning, or it has ended', () => {
    const lines: string[] = [];
    const logNext = createProblemLog(
      createLog({
        line: (text) => {
          const { level, msg } = JSON.parse(text) as Readonly<Record<string, string>>;
          lines.push(`${level} ${msg?.split(':')[0]}`);
        },
      }),
    );
    const warning = problem('BridgeOrchestratorDeadlineNear', 'warning', 20);
    const critical = problem('BridgeOrchestratorDeadlineNear', 'critical', 30);
    const hidden = { ...critical, hiddenBy: 'BridgeBatchUnsigned' };
    for (const each of [[warning], [hidden], [critical], [warning], []]) logNext(judgeTarget(each));
    expect(lines).toEqual([
      'warn warning',
      'info no longer warning, hidden by BridgeBatchUnsigned',
      'error critical',
      'warn no longer critical, now warning',
      'info no longer warning, ended',
    ]);
  });
});
