import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeRecording } from '../../src/recorder/directory.js';
import { projectPath } from '../support/project-files.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';

const KILLS = 25;
const MAX_BYTES = 8 * 2 ** 20;
const MAX_DELAY_MS = 120;

/** Records bodies as fast as it can. The message of the header is the hash of the body. */
const RECORD = `
import { createHash, randomBytes } from 'node:crypto';
const { createWriter } = await import(process.argv[2]);
const log = { info: () => undefined, warn: console.error };
const now = () => ({ at: Date.now() / 1000, clockOffset: 0});
const settings = { directory: process.argv[3], max_size: ${MAX_BYTES} };
const writer = createWriter(log, now);
writer.open(settings);
const record = () => {
  const body = randomBytes(1000 + Math.floor(Math.random() * 300_000));
  const message = createHash('sha256').update(body).digest('hex');
  writer.write(settings, { version: 1, target: 'a', document: 'module_state', time: new Date().toISOString(), outcome: 'ok', message }, body, () => undefined);
};
setInterval(record, 2);
setInterval(() => writer.status().recorded > 0 && process.stdout.write('.'), 2);
`;

const script = createTempFolder().write('record.mjs', RECORD);

async function recordUntilKilled(directory: string): Promise<void> {
  const module = projectPath('dist/recorder/recorder.js');
  const child = spawn(process.execPath, [script, module, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const exitedBefore = exited.then(() => Promise.reject(new Error('the recorder has ended by itself')));
  await Promise.race([once(child.stdout, 'data'), exitedBefore]);
  await sleep(Math.random() * MAX_DELAY_MS);
  child.kill('SIGKILL');
  await exited;
}

describe('a recorder that is killed', () => {
  it('leaves only complete files under their final names, within the limit', async () => {
    const { path } = createTempFolder();
    let checked = 0;
    const known = new Set<string>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await recordUntilKilled(path);
      const recorded = filesBelow(path).filter((file) => /^[^.].*\.json\.gz$/.test(basename(file)));
      const sizes = recorded.map((file) => {
        const content = readFileSync(file);
        if (known.has(file)) return content.length;
        const { header, body } = decodeRecording(gunzipSync(content));
        expect(createHash('sha256').update(body).digest('hex')).toBe(header.message);
        known.add(file);
        checked += 1;
        return content.length;
      });
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
    }
    expect(checked).toBeGreaterThan(KILLS);
  }, 600_000);
});
