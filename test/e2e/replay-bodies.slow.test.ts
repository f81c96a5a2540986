import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { remedyOf, type FailureReason } from '../../src/http/failure-reasons.js';
import { runExporter } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

const folder = createTempFolder();

describe('replay', () => {
  it.each<[string, string | Buffer, FailureReason, RegExp]>([
    ['that is not JSON', 'soon', 'not_json', /: not JSON: /],
    ['of HTML', '<html><body>502 Bad Gateway</body></html>', 'not_json', /: not JSON: unexpected '<' at byte 0/],
    ['that is empty', '', 'not_json', /: empty body$/m],
    ['of whitespace', ' \n', 'not_json', /: not JSON: /],
    ['that is truncated', '{"state":{"last_observed_nonce":"1', 'not_json', /: not JSON: unexpected end at byte 34$/m],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'not_json', /: not valid UTF-8$/m],
    ['that is compressed', gzipSync('{"state":{"last_observed_nonce":"1"}}'), 'not_json', /: not valid UTF-8$/m],
    ['of two documents', '{"state":{"params":null}}{}', 'not_json', /: not JSON: /],
    [
      'of an array',
      '[{"state":{"last_observed_nonce":"1"}}]',
      'schema',
      /: not a module_state document: none of its fields is present$/m,
    ],
    ['of null', 'null', 'schema', /not a module_state document/],
    ['of a number', '42', 'schema', /not a module_state document/],
    ['of an error', '{"code":12,"message":"Not Implemented","details":[]}', 'schema', /not a module_state document/],
    ['without a state', '{"last_observed_nonce":"1"}', 'schema', /not a module_state document/],
    ['with an unknown state', '{"state":{"nonce":"1"}}', 'schema', /not a module_state document/],
    ['with an array as state', '{"state":[]}', 'schema', /not a module_state document/],
    [
      'of 65 MiB',
      Buffer.alloc(65 * 1024 * 1024, ' '),
      'too_large',
      /: body is larger than 64MiB \(poll\.max_body_size\): 65\.0 MiB$/m,
    ],
  ])('exports no chain series for a body %s, and reports the reason', async (title, body, reason, message) => {
    const file = folder.write(title, body);
    const { code, stdout, stderr } = await runExporter(['replay', '--bridge', file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`^default module_state: ${reason}: `));
    expect(stderr).toMatch(message);
    expect(stderr.split('\n').slice(1)).toEqual([
      reason === 'too_large'
        ? `  ${remedyOf({ reason }, 'module_state')}`
        : '  Check that it is the unchanged body of a response, and of the document that the flag names.',
      'exit 1: 1 of 1 recorded body failed',
      '',
    ]);
    expect(stdout).not.toMatch(/^bridge_(?!exporter_|flow_gaps_total)/m);
    expect(stdout).toContain(
      `bridge_exporter_poll_failures_total{target="default",document="module_state",reason="${reason}"} 1`,
    );
  });

  it.each([
    ['a byte order mark', '\ufeff{"state":{"last_observed_nonce":"7"}}'],
    ['a single field of the spec', '{"state":{"last_observed_nonce":"7","valsets":null}}'],
    [
      'deep nesting under an unknown key',
      `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)},"state":{"last_observed_nonce":7}}`,
    ],
  ])('accepts a body with %s', async (title, body) => {
    const file = folder.write(title, body);
    const { code, stdout, stderr } = await runExporter(['replay', '--bridge', file, '--hub-height', '9']);
    const warning = title.includes('unknown key') ? `warning: ${file}: unrecognized fields are ignored: x\n` : '';
    expect({ code, stderr }).toEqual({ code: 0, stderr: warning });
    expect(stdout).toContain('bridge_last_observed_nonce{target="default"} 7\n');
    expect(stdout).toContain('bridge_height{target="default"} 9\n');
    expect(stdout).not.toMatch(/^bridge_valsets/m);
  });

  it('reports a file that does not exist', async () => {
    const { code, stderr } = await runExporter(['replay', '--bridge', join(folder.path, 'absent')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^bridge-exporter: .*absent: cannot be read: ENOENT: no such file or directory\n$/);
  });
});
