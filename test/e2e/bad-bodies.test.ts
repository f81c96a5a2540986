import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { failureReasons, type FailureReason } from '../../src/http/errors.js';
import { run } from '../support/processes.js';

const folder = mkdtempSync(join(tmpdir(), 'bodies-'));

describe('a body that is not the document', () => {
  it.each<[string, string | Buffer, FailureReason, RegExp]>([
    ['not JSON', 'soon', 'not_json', /is not JSON: /],
    ['HTML', '<html><body>502 Bad Gateway</body></html>', 'not_json', /is not JSON: unexpected '<' at byte 0/],
    ['empty', '', 'not_json', /has an empty body/],
    ['white space', ' \n', 'not_json', /is not JSON/],
    ['cut off', '{"state":{"last_observed_nonce":"1', 'not_json', /is not JSON: it ends at byte 34, in the middle/],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not_json', /is not valid UTF-8/],
    ['packed', gzipSync('{"state":{"last_observed_nonce":"1"}}'), 'not_json', /is not valid UTF-8/],
    ['two documents', '{"state":{"params":null}}{}', 'not_json', /is not JSON/],
    ['an array', '[{"state":{"last_observed_nonce":"1"}}]', 'schema', /none of the fields of module_state is in it/],
    ['null', 'null', 'schema', /none of the fields/],
    ['a number', '42', 'schema', /none of the fields/],
    ['an error', '{"code":12,"message":"Not Implemented","details":[]}', 'schema', /none of the fields/],
    ['no state', '{"last_observed_nonce":"1"}', 'schema', /none of the fields/],
    ['another state', '{"state":{"nonce":"1"}}', 'schema', /none of the fields/],
    ['a list for a state', '{"state":[]}', 'schema', /none of the fields/],
    [
      '65 MiB',
      Buffer.alloc(65 * 1024 * 1024, ' '),
      'too_large',
      /is over 64MiB \(poll\.max_body_size\): it has 65\.0 MiB/,
    ],
  ])('%s: no chain series and a clear reason', async (title, body, reason, message) => {
    const file = join(folder, title);
    writeFileSync(file, body);
    const { code, stdout, stderr } = await run(['replay', '--bridge', file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^default module_state: ${reason}: `));
    expect(stderr).toMatch(message);
    expect(stderr.split('\n').slice(1)).toEqual([
      `  ${failureReasons[reason].remedy}`,
      'exit 1: 1 of 1 recorded body failed',
      '',
    ]);
    expect(stdout).not.toMatch(/^bridge_(?!exporter_)/m);
    expect(stdout).toContain(
      `bridge_exporter_poll_failures_total{target="default",endpoint="module_state",reason="${reason}"} 1`,
    );
  });

  it.each([
    ['a byte order mark', '\ufeff{"state":{"last_observed_nonce":"7"}}'],
    ['a key of the spec and nothing else', '{"state":{"last_observed_nonce":"7","valsets":null}}'],
    [
      'deep nesting under an unknown key',
      `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"state":{"last_observed_nonce":7}}`,
    ],
  ])('%s does no harm', async (title, body) => {
    const file = join(folder, title);
    writeFileSync(file, body);
    const { code, stdout, stderr } = await run(['replay', '--bridge', file, '--hub-height', '9']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('bridge_last_observed_nonce{target="default"} 7\n');
    expect(stdout).toContain('bridge_height{target="default"} 9\n');
    expect(stdout).not.toMatch(/^bridge_valsets/m);
  });

  it('a file that is not there is said plainly', async () => {
    const { code, stderr } = await run(['replay', '--bridge', join(folder, 'absent')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^bridge-exporter: .*absent: cannot be read: ENOENT: no such file or directory\n$/);
  });
});
