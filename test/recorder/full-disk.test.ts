import { readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeRecording } from '../../src/recorder/recording-file.js';
import { valueIn } from '../support/exposition-text.js';
import { scrape } from '../support/http.js';
import { MAIN, startProcess } from '../support/processes.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor } from '../support/wait-for.js';

/* A disk that is full in the middle of a file: files of this daemon cannot be larger than 4 KiB. */

const { path } = createTempFolder();
const recordings = join(path, 'recordings');
const simulator = await startTestSimulator();
const config = createTempFolder().write(
  'bridge.yml',
  `poll: {interval: 100ms, timeout: 1s, stale_after: 5s}
targets: [{name: a, bridge: {url: "${simulator.url}"}, crosschain: {url: "${simulator.url}"}}]
recorder: {directory: "${recordings}", interval: 0s}`,
);
const limit = `trap '' XFSZ; ulimit -f 8; exec "$0" "$@"`;
const daemon = startProcess('sh', [
  '-c',
  limit,
  process.execPath,
  MAIN,
  `--config.file=${config}`,
  '--web.listen-address=127.0.0.1:0',
]);
const url = /serving (https?:\/\/[^/]+)/.exec(await daemon.printed(/serving https?:/))?.[1] ?? '';

describe('a recorder without space', () => {
  it('leaves no part of a file, counts the failures, and polls go on', async () => {
    const text = await waitFor(
      async () => scrape({ url }),
      (exposition) => (valueIn(exposition, 'bridge_exporter_recording_failures_total') ?? 0) >= 5,
    );
    expect(valueIn(text, 'bridge_exporter_up', 'document="module_state"')).toBe(1);
    expect(valueIn(text, 'bridge_exporter_polls_total', 'document="module_state"')).toBeGreaterThanOrEqual(2);
    expect(daemon.stderr.filter((line) => line.includes('file too large')).length).toBeGreaterThan(0);
    const files = filesBelow(recordings).filter((file) => /^[^.].*\.json\.gz$/.test(basename(file)));
    for (const file of files) expect(decodeRecording(gunzipSync(readFileSync(file))).header.target).toBe('a');
    expect(files.filter((file) => statSync(file).size === 0)).toEqual([]);
    expect(filesBelow(recordings).filter((file) => basename(file).startsWith('.')).length).toBeLessThanOrEqual(1);
  });
});
