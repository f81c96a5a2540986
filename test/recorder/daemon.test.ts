import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeRecording, encodeRecording } from '../../src/recorder/directory.js';
import { MULTICALL3, RPC_PATH } from '../../src/simulator/json-rpc.js';
import { valueIn } from '../support/exposition-text.js';
import { get, scrape, scrapeUntil } from '../support/http.js';
import { startDaemon } from '../support/processes.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor, waitUntil } from '../support/wait-for.js';

const folder = createTempFolder();
const directory = join(folder.path, 'recordings');
const configFile = join(folder.path, 'bridge.yml');
const simulator = await startTestSimulator();

const configure = (recorder: string): void =>
  writeFileSync(
    configFile,
    `poll: {interval: 100ms, timeout: 5s, stale_after: 10s}
targets:
  - name: a/b
    bridge:
      url: "${simulator.url}"
      http_headers: {X-Api-Key: {secrets: [hunter2]}}
      external: {url: "${simulator.url}${RPC_PATH}", interval: 1s}
    crosschain: {url: "${simulator.url}"}
recorder: ${recorder}`,
  );

configure('{directory: recordings, interval: 0s}');
const daemon = await startDaemon([`--config.file=${configFile}`]);

function recordingsOf(document: string): ReturnType<typeof decodeRecording>[] {
  return filesBelow(join(directory, 'a%2Fb', document))
    .filter((file) => file.endsWith('.json.gz'))
    .filter((file) => !basename(file).startsWith('.'))
    .map((file) => decodeRecording(gunzipSync(readFileSync(file))));
}

const counter = async (name: string): Promise<number> =>
  valueIn(await scrape(daemon), `bridge_exporter_${name}`) ?? NaN;

const polls = async (): Promise<number> =>
  valueIn(await scrape(daemon), 'bridge_exporter_polls_total', 'document="module_state"') ?? NaN;

async function nextPolls(): Promise<void> {
  const before = await polls();
  await waitUntil(async () => (await polls()) > before + 2);
}

describe('the recorder of a daemon', () => {
  it('writes every poll beside the configuration file, with the body as the node sent it', async () => {
    await waitUntil(async () => (await counter('recordings_total')) >= 6);
    const [first] = recordingsOf('module_state');
    expect(first?.header).toMatchObject({
      version: 1,
      target: 'a/b',
      document: 'module_state',
      path: '/bridge/v1/module_state',
      height: String(simulator.model.height),
      outcome: 'ok',
    });
    expect(JSON.parse(first?.body.toString() ?? '')).toEqual(simulator.model.moduleState());
    const [input] = recordingsOf('rate_limiter_input');
    expect(JSON.parse(input?.body.toString() ?? '')).toEqual(simulator.model.rateLimiterInput({ window: 500n }));
    expect(await counter('recordings_size_bytes')).toBeGreaterThan(1000);
    expect(JSON.stringify(first?.header)).not.toContain('hunter2');
  });

  it('writes the result of the contract with its call, and nothing of the address, which may have a key', async () => {
    const recording = await waitFor(
      async () => recordingsOf('external_contract').find(({ header }) => header.outcome === 'ok'),
      (found) => found !== undefined,
    );
    const { header, body } = recording ?? { header: undefined, body: Buffer.from('{}') };
    expect(header).toMatchObject({ document: 'external_contract', outcome: 'ok' });
    expect(header).not.toHaveProperty('path');
    expect(JSON.parse(body.toString())).toEqual({ jsonrpc: '2.0', id: 1, result: expect.stringMatching(/^0x/) });
    expect(header?.call).toEqual({ to: MULTICALL3, data: expect.stringMatching(/^0x82ad56cb/), block: 'latest' });
    for (const secret of ['hunter2', RPC_PATH, simulator.url, new URL(simulator.url).host]) {
      expect(header && encodeRecording(header, body).toString()).not.toContain(secret);
    }
  });

  it('counts what it cannot write, without an effect on polls, and says so once in the log and on the status page', async () => {
    renameSync(directory, `${directory}-gone`);
    await waitUntil(async () => (await counter('recording_failures_total')) >= 4);
    await nextPolls();
    const text = await scrape(daemon);
    expect(valueIn(text, 'bridge_exporter_up', 'document="module_state"')).toBe(1);
    expect(valueIn(text, 'bridge_exporter_poll_failures_total', 'document="module_state",reason="internal"')).toBe(0);
    renameSync(`${directory}-gone`, directory);
    await daemon.logged(/polls are recorded again/);
    expect(daemon.log.filter((line) => line.includes('polls cannot be recorded'))).toHaveLength(1);
    expect((await get(`${daemon.url}/`)).text).not.toMatch(/no such file or directory/);
  });

  it('stops with a reload, and then exports no metrics of its own', async () => {
    configure('{}');
    daemon.child.kill('SIGHUP');
    await daemon.logged(/configuration reloaded/);
    expect(await scrapeUntil(daemon, (text) => !text.includes('recordings_total'))).not.toContain(
      'bridge_exporter_recording',
    );
    // What was waiting for the disk is still written.
    await nextPolls();
    const count = recordingsOf('module_state').length;
    await nextPolls();
    expect(recordingsOf('module_state')).toHaveLength(count);
  });
});
