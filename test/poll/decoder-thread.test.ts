import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultBridgeSettings } from '../../src/config/endpoint-config.js';
import type { startDecoderThread as startThread } from '../../src/poll/decoder-thread.js';
import { createPollExecutor, type DecodeOptions, type PollExecutor, type PollJob } from '../../src/poll/poll.js';
import { endpointUrl } from '../support/config.js';
import { listenOnFreePort } from '../support/ports.js';

/* Tests the compiled worker thread, because vitest cannot start one from TypeScript. */

const SMALL = Buffer.from('{"state":{"last_observed_nonce":"7"}}');
/** With more rows than the heap of the thread can hold. */
const HUGE = Buffer.from(`{"state":{"valsets":[${'{},'.repeat(5_000_000)}{}]}}`);

const server = createServer((request, response) => {
  response.end(request.url?.startsWith('/huge') === true ? HUGE : SMALL);
});
let executor: PollExecutor;
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const built = new URL('../../dist/poll/decoder-thread.js', import.meta.url).href;
  const { startDecoderThread } = (await import(built)) as { startDecoderThread: typeof startThread };
  executor = createPollExecutor('bridge-exporter/0.0.0', startDecoderThread(48));
});

afterAll(async () => {
  await executor.close();
  server.close();
});

function job(folder: string, options: Partial<DecodeOptions> = {}): PollJob {
  const labels = { tokens: [], chains: {}, validators: { configured: [], staking: new Map() } };
  return {
    url: endpointUrl(`${url}/${folder}`),
    needsValidatorNames: false,
    needsValidators: false,
    paths: [{ dialect: 'neutral', path: '/bridge/v1/module_state' }],
    query: '',
    limits: { timeoutMs: 20_000, maxBodyBytes: 2 ** 26 },
    decodeOptions: {
      target: 't',
      labels,
      maxSeries: 200,
      staleAfterMs: 300_000,
      document: 'module_state',
      settings: defaultBridgeSettings,
      ...options,
    } as DecodeOptions,
  };
}

/** The reasons of the polls that fail, and `ok` for the others. */
async function outcomesOf(jobs: readonly PollJob[]): Promise<string[]> {
  const results = await Promise.all(jobs.map(async (each) => executor.poll(each)));
  return results.map(({ outcome }) => (outcome.ok ? 'ok' : outcome.error.reason));
}

describe('the decoder thread', () => {
  it('decodes bodies that arrive together, each with its own result', async () => {
    const targets = Array.from({ length: 20 }, (_, index) => `target-${index}`);
    const results = await Promise.all(targets.map(async (target) => executor.poll(job('small', { target }))));
    const lines = results.map(({ outcome }) =>
      outcome.ok ? outcome.families.find(({ name }) => name === 'bridge_last_observed_nonce')?.lines : undefined,
    );
    expect(lines).toEqual(targets.map((target) => `bridge_last_observed_nonce{target="${target}"} 7\n`));
  });

  it('fails the poll of the body that ends it as internal, and no other', async () => {
    // The configuration has no such document.
    const broken = job('small', { document: 'unknown' as 'module_state' });
    expect(await outcomesOf([job('small'), broken, job('small'), broken, job('small')])).toEqual([
      'ok',
      'internal',
      'ok',
      'internal',
      'ok',
    ]);
  });

  it('fails the poll of a body that takes too much memory as too_large, and no other', async () => {
    const { outcome } = await executor.poll(job('huge'));
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        reason: 'too_large',
        message: expect.stringMatching(
          /^127\.0\.0\.1:\d+\/…\/bridge\/v1\/module_state: reading the document needs more than \d+ MiB of memory$/,
        ),
      },
    });
    expect(await outcomesOf([job('small'), job('huge'), job('small')])).toEqual(['ok', 'too_large', 'ok']);
  });
});
