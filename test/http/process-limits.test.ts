import { execFile, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startNode } from './nodes.js';

/** Fetches from a node in a process of its own, after this process has opened all files that it may open. */
const script = (node: string): string => `
import { closeSync, openSync } from 'node:fs';
import { createSecretKey } from 'node:crypto';
import { createClient } from '${projectPath('dist/http/client.js')}';
const client = createClient('test/1');
const send = () => client.send(${node}, '/state', { timeoutMs: 5000, maxBodyBytes: 1000 });
await send();
const files = [];
try {
  for (;;) files.push(openSync('/dev/null'));
} catch {}
const { error } = await send();
for (const file of files) closeSync(file);
console.log(JSON.stringify(error));
`;

const folder = createTempFolder();

describe('the limit of open files', () => {
  it.each([
    ['no connection can be opened', "{ url: { origin: 'http://127.0.0.1:1' } }"],
    [
      'a password cannot be read',
      `{ url: { origin: 'http://127.0.0.1:1' }, basic_auth: { username: 'u', password_file: '${folder.write('p', 'p')}' } }`,
    ],
  ])('is named when %s because of it', (_title, node) => {
    const file = folder.write('send.mjs', script(node));
    const { stdout, stderr } = spawnSync('sh', ['-c', `ulimit -n 300; exec ${process.execPath} ${file}`], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      reason: 'internal',
      message: expect.stringMatching(
        /^[\w.:]+\/state: no file or socket can be opened: the limit of open files of this process is reached$/,
      ) as string,
      remedy: expect.stringMatching(/LimitNOFILE.*process_max_fds/) as string,
    });
  });
});

/** Node.js 24 and later do without guard regions where the address space is limited. */
describe.skipIf(Number.parseInt(process.versions.node, 10) >= 24)('the limit of the address space', () => {
  it('is named with the flag of Node.js that helps, and no node is blamed', async () => {
    const { url } = await startNode();
    const pollOnce = async (flags: string): Promise<string> => {
      const command = `ulimit -v 3000000; exec ${process.execPath} ${flags} ${projectPath('dist/main.js')} once`;
      return new Promise((resolve) => {
        execFile('sh', ['-c', command], { env: { BRIDGE_URL: url, LOG_LEVEL: 'silent' } }, (_error, _stdout, stderr) =>
          resolve(stderr),
        );
      });
    };
    expect(await pollOnce('')).toMatch(
      /^default module_state: internal: 127\.0\.0\.1:\d+\/peggy\/v1\/module_state: the HTTP parser of Node\.js cannot reserve 10 GiB of addresses: the address space of this process is limited\n {2}Start Node\.js with --disable-wasm-trap-handler/,
    );
    expect(await pollOnce('--disable-wasm-trap-handler')).toMatch(/^default module_state: schema: /);
  });
});
