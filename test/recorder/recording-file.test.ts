import { describe, expect, it } from 'vitest';
import {
  decodeRecording,
  encodeRecording,
  fileAt,
  formatPath,
  type RecordingHeader,
} from '../../src/recorder/directory.js';

const HEADER: RecordingHeader = {
  version: 1,
  target: 'mainnet',
  document: 'module_state',
  time: '2026-11-23T07:35:12.345Z',
  height: '168000000',
  path: '/peggy/v1/module_state',
  outcome: 'ok',
};

describe('the file of a recorded poll', () => {
  it('has the header in its first line, and the body as it was', () => {
    const body = Buffer.from([0x7b, 0x0a, 0xff, 0x7d]);
    const content = encodeRecording(HEADER, body);
    expect(content.toString('latin1')).toBe(
      '{"version":1,"target":"mainnet","document":"module_state","time":"2026-11-23T07:35:12.345Z","height":"168000000",' +
        '"path":"/peggy/v1/module_state","outcome":"ok"}\n{\n\u00ff}',
    );
    expect(decodeRecording(content)).toEqual({ header: HEADER, body });
  });

  it.each([
    ['mainnet', 'mainnet'],
    ['..', '%2E%2E'],
    ['../../etc', '%2E%2E%2F..%2Fetc'],
    ['.hidden', '%2Ehidden'],
    ['Bücher & 100 %', 'B%C3%BCcher%20%26%20100%20%25'],
  ])('has a path of target %s, document and time', (target, directory) => {
    const path = `${directory}/module_state/2026-11-23/073512.345Z.json.gz`;
    expect(formatPath({ ...HEADER, target })).toBe(path);
    const file = { target, document: 'module_state', timeMs: Date.parse(HEADER.time) };
    expect(fileAt(path)).toEqual({ ...file, path });
  });

  it.each([
    'mainnet/module_state/2026-11-23/notes.txt',
    'mainnet/module_state/2026-11-23/.073512.345Z.json.gz.tmp',
    'mainnet/module_state/2026-11-23/073512.345Z.json',
    'mainnet/module_state/2026-11-23/073512.345Z.queries.jsonl.gz',
    'mainnet/module_state/2026-11-23/250000.000Z.json.gz',
    'mainnet/module_state/2026-02-30/073512.345Z.json.gz',
    'mainnet/module_state/today/073512.345Z.json.gz',
    'mainnet/other/2026-11-23/073512.345Z.json.gz',
    '.git/module_state/2026-11-23/073512.345Z.json.gz',
    '100%/module_state/2026-11-23/073512.345Z.json.gz',
  ])('is not at %s', (path) => {
    expect(fileAt(path)).toBeUndefined();
  });

  it.each([
    ['', 'has no header line'],
    ['{"version":1}', 'has no header line'],
    ['{version}\n', 'header: is not a JSON object'],
    ['{"version":2}\n', 'header.version: Invalid input: expected 1'],
    [`${JSON.stringify({ ...HEADER, outcome: 'good' })}\n`, 'header.outcome: Invalid option: expected one of "ok"|'],
    [`${JSON.stringify({ ...HEADER, call: { to: '0x' } })}\n`, 'header.call.data: Invalid input: expected string'],
  ])('is rejected with the content %j', (content, message) => {
    expect(() => decodeRecording(Buffer.from(content))).toThrow(message);
  });
});
