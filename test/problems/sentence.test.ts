import { chainText, clockTime, outboundTexts } from '../../src/problems/sentence.js';
import { describe, expect, it } from 'vitest';
import { failureReasonNames, chooseRemedy } from '../../src/http/failure-reasons.js';
import { pollProblems } from '../../src/problems/polls.js';
import { problems } from '../../src/problems/problems.js';
import { defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { distinctCctxs } from '../../src/facts/crosschain/cctxs.js';
import { inputOf } from '../support/snapshots.js';
import { durationInWords } from '../../src/text/format.js';
import {
  ageText,
  labelTexts,
  missingTexts,
  shortAddress,
  shortName,
  validators,
  yourValidator,
} from '../../src/problems/sentence.js';

/** So many own validators and another one, of 25 that have not voted. */
function missing(own: number) {
  const shown = { name: null, hasNamesake: false, powerRatio: 0.1, watched: false };
  const member = { externalAddress: '0xa1', orchestrator: null, ...shown };
  const ownMembers = Array.from({ length: own }, () => ({ ...member, name: 'Beta', watched: true }));
  return { total: 25, powerRatio: 0.531, members: [...ownMembers, member] };
}

describe('the words of a summary', () => {
  it('prefer names to addresses, and watched validators to others', () => {
    const address = 'hub1ec8glr60l65kz08drscxuxxdqcd2ptsccjt2am';
    expect(
      validators([
        { name: 'Alpha', address, isWatched: false, hasNamesake: false },
        { name: '', address, isWatched: false, hasNamesake: false },
        { name: 'Beta', address, isWatched: true, hasNamesake: false },
      ]),
    ).toBe('Beta (yours), Alpha, hub1ec8g…cjt2am');
  });

  it('add the address to the name of a validator that has a namesake, also of one alone', () => {
    const address = 'hub1ec8glr60l65kz08drscxuxxdqcd2ptsccjt2am';
    const alpha = { name: 'Alpha', address, isWatched: true, hasNamesake: true };
    expect(validators([alpha])).toBe('Alpha hub1ec8g…cjt2am (yours)');
    expect(yourValidator(alpha)).toBe('your validator Alpha hub1ec8g…cjt2am');
  });

  it.each([
    ['lasting', 90, 'for 90 s'],
    ['over', 3600, 'over the limit for 60 min'],
    ['ago', 7200, '2 h ago'],
  ] as const)('have the age of a problem: %s', (kind, seconds, text) => {
    expect(ageText(kind, seconds)).toBe(text);
    for (const age of [0, -5]) expect(ageText(kind, age), 'new').toBe('');
    expect(ageText('lasting', seconds, false)).toBe(`for at least ${durationInWords(seconds)}`);
  });

  it('begin with the own validators that are concerned, and the action without their names', () => {
    const textsOf = (own: number) => {
      const { summary, action } = missingTexts(missing(own), 'voted');
      return [summary('event 31 is not observed'), action('Contact them.')];
    };
    expect([0, 1, 2].map(textsOf)).toEqual([
      ['event 31 is not observed', 'Contact them.'],
      [
        'your validator Beta has not voted: event 31 is not observed',
        'Check the orchestrator of your validator first. Contact them.',
      ],
      [
        'your validators Beta, Beta have not voted: event 31 is not observed',
        'Check the orchestrator of your validators first. Contact them.',
      ],
    ]);
  });

  it('are cut to the size of labels', () => {
    const { summary, action } = labelTexts('x'.repeat(300), 'y'.repeat(300));
    expect([summary, action]).toEqual([`${'x'.repeat(199)}…`, `${'y'.repeat(239)}…`]);
    const actions = [...pollProblems, ...problems].flatMap((problem) => [
      problem.action,
      ...('together' in problem ? [problem.together.action] : []),
    ]);
    const reasons = failureReasonNames.map((reason) => chooseRemedy({ reason }));
    expect([...actions, ...reasons].filter((text) => labelTexts('', text).action !== text)).toEqual([]);
  });

  it('quote names that imitate the mark of your own validators or another entry', () => {
    const names = ['Keel & Anchor', 'Ours (yours)', 'A, B', 'Оurs （yours）', '“quoted” (yours)'];
    const members = names.map((name, index) => ({
      name,
      address: `0xa${index}`,
      isWatched: name === 'A, B',
      hasNamesake: false,
    }));
    expect(validators(members)).toBe(
      "“A, B” (yours), Keel & Anchor, “Ours (yours)”, “Оurs （yours）”, “'quoted' (yours)”",
    );
    expect(validators([{ name: 'Yours', address: '0xa1', isWatched: false, hasNamesake: false }])).toBe('“Yours”');
  });

  it('have a time of day also for a time after the last one', () => {
    const at = { at: 1_700_000_000, clockOffset: 0 };
    expect(clockTime(at, 60)).toBe('22:14 UTC');
    for (const seconds of [-1e18, 1e18]) expect(clockTime(at, seconds)).toMatch(/^\d\d:\d\d UTC$/);
  });

  it('name the missing validators with their number and power, but not the own ones, which the summary names', () => {
    const details = (all: Parameters<typeof missingTexts>[0]) => missingTexts(all, 'voted').details('voted');
    expect(details({ ...missing(0), total: 1, powerRatio: null })).toBe('1 validator has not voted: 0xa1');
    expect(details(missing(0))).toBe('25 validators with 53 % of the power have not voted: 0xa1 and 24 more');
    expect(details(missing(2))).toBe('25 validators with 53 % of the power have not voted: yours, 0xa1 and 22 more');
    const one = { total: 1, powerRatio: 0.1, members: missing(1).members.slice(0, 1) };
    expect(details(one)).toBe('1 validator with 10 % of the power has not voted: yours');
    expect(details({ total: 0, powerRatio: 0, members: [] })).toBe('');
    expect(details(null)).toBe('');
  });

  it('keep a summary on one line and in its direction, whatever a name contains', () => {
    expect(shortName('Alpha\n\r\u2028Beta\u202e\u200b gamma')).toBe('Alpha Beta gamma');
    expect(shortName('x'.repeat(10_000))).toBe(`${'x'.repeat(39)}…`);
    expect(shortAddress(`0x\u202e${'a'.repeat(10_000)}`)).toBe('0x aaaaa…aaaaaa');
  });

  it('have ids of 128 characters in full, to look them up', () => {
    const hash = `0x${'a'.repeat(126)}`;
    const cctx = { index: 'b'.repeat(128), outbound_params: [{ receiver_chainId: '1', hash }] };
    const document = { cctxs_missed: [], cctxs_pending: [cctx] };
    const input = inputOf('rate_limiter_input', document, { settings: defaultCrosschainSettings });
    const [read] = distinctCctxs.pending(input);
    expect(outboundTexts(input, read).ids).toBe(`index ${cctx.index}, outbound hash ${hash}`);
  });

  it('name a chain by its name and id, as far as they are known', () => {
    const chains = { 137: 'polygon' };
    expect(['137', '138', ''].map((id) => chainText({ chains }, id))).toEqual(['polygon (137)', '138', 'without id']);
  });
});
