import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createAuthority } from '../support/certificates.js';
import { createHeaderCanary, shownIn } from './canaries.js';
import { run, start } from '../support/processes.js';

/*
 * Secrets of the web configuration: passwords of users, their hashes and the key of the server.
 */
const folder = mkdtempSync(join(tmpdir(), 'web-canary-'));
const password = createHeaderCanary();
const guess = createHeaderCanary();

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, stringify(content));
  return path;
}

it('no secret of the web configuration appears in a response, a log line or an error message', async () => {
  const hashed = await hash(password, 4);
  const { key } = createAuthority().issue('exporter');
  const secrets = { password, guess, hash: hashed, key: key.split('\n')[5] ?? '' };
  const config = file('config.yml', { targets: [{ name: 'a', bridge: { url: 'http://127.0.0.1:1' } }] });
  const web = file('web.yml', { basic_auth_users: { alice: hashed } });
  const outputs: string[] = [];

  const daemon = await start([`--config.file=${config}`, `--web.config.file=${web}`, '--log.level=trace']);
  for (const [user, secret] of [
    ['alice', password],
    ['alice', guess],
    ['bob', guess],
  ]) {
    for (const path of ['/metrics', '/', '/pending', '/-/reload', '/nowhere']) {
      const authorization = `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
      const { body, headers } = await request(daemon.url + path, { headers: { authorization } });
      outputs.push(JSON.stringify(headers), await body.text());
    }
  }
  // An invalid reload: a password in place of a hash, and a private key in place of a password hash.
  file('web.yml', { basic_auth_users: { alice: password, bob: key }, tls_server_config: { key_file: hashed } });
  await daemon.logged(/web configuration/i);
  outputs.push(daemon.log.join('\n'));
  await daemon.stop();

  const bad = file('bad.yml', {
    basic_auth_users: { alice: password, bob: key },
    tls_server_config: { cert: hashed, key },
  });
  for (const flags of [
    [`--web.config.file=${web}`],
    [`--web.config.file=${bad}`],
    [`--web.config.file=${bad}`, '--config.check'],
  ]) {
    const { code, stdout, stderr } = await run([
      `--config.file=${config}`,
      ...flags,
      '--web.listen-address=127.0.0.1:0',
    ]);
    expect(code).toBe(2);
    outputs.push(stdout, stderr);
  }
  expect(outputs.join('\n').length).toBeGreaterThan(5000);
  expect(shownIn(outputs.join('\n'), secrets)).toEqual([]);
});
