import { describe, expect, it } from 'vitest';
import { jobsOf } from '../../src/poll/jobs.js';
import { parseConfig } from '../support/config.js';

const withProblems = (problems: string) => `
targets: [{ name: a, bridge: { url: 'http://127.0.0.1:1317' } }]
problems: ${problems}
`;

function settingsOf(problems: string) {
  const result = parseConfig(withProblems(problems), 'f');
  if (!result.ok) throw new Error(result.problems.join());
  return jobsOf(result.config)[0]?.context.problems;
}

function messagesOf(problems: string): readonly string[] {
  const result = parseConfig(withProblems(problems), 'f');
  return result.ok ? [] : result.problems;
}

describe('the limits of problems', () => {
  it('apply to the documents of every target', () => {
    expect(settingsOf('{ BridgeBatchUnsigned: { after: 45m }, CrosschainBacklogHigh: { enabled: false } }')).toEqual({
      BridgeBatchUnsigned: { after: 2_700_000 },
      CrosschainBacklogHigh: { enabled: false },
    });
    expect(settingsOf('{}')).toEqual({});
  });

  it('are only those of problems that exist', () => {
    expect(messagesOf('{ BridgeExporterDown: { after: 45m }, constructor: { after: 1m } }')).toEqual([
      expect.stringMatching(
        /^f:3:13: problems\.BridgeExporterDown: is no problem — expected one of .*BridgeBatchUnsigned, /,
      ),
      expect.stringMatching(/^f:3:49: problems\.constructor: is no problem/),
    ]);
  });

  it.each([
    ['{ BridgeBatchUnsigned: { after: soon } }', /after: .*duration from 0s to 30d/],
    ['{ BridgeBatchUnsigned: { after: 31d } }', /after: .*duration from 0s to 30d/],
    ['{ BridgeBatchUnsigned: {} }', /BridgeBatchUnsigned: expected after or enabled/],
    ['{ BridgeBatchUnsigned: { after: 1m, severity: info } }', /severity/],
    ['{ BridgeBatchUnsigned: 45m }', /BridgeBatchUnsigned: /],
    ['[]', /problems: /],
  ])('have a limit or a switch: %s', (problems, message) => {
    expect(messagesOf(problems)).toEqual([expect.stringMatching(message)]);
  });
});
