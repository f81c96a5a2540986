import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { start, type Running } from '../support/processes.js';

const TARGETS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
/** Between two scrapes of one scraper, so that they leave the machine some time for polls. */
const PAUSE_MS = 50;
const SCRAPERS = 50;
const SECONDS = 4;

let server: Server;
let answers = 0;
let daemon: Running;

/** Every number of an answer is the number of the answer, in families of every kind. */
beforeAll(async () => {
  server = createServer((_asked, response) => {
    answers += 1;
    const n = String(answers);
    const members = [{ external_address: '0xa', power: n }];
    const valset = { nonce: n, height: n, members, reward_amount: n };
    const state = {
      last_observed_nonce: n,
      last_outgoing_batch_id: n,
      last_outgoing_pool_id: n,
      last_observed_external_height: n,
      valsets: [valset],
      last_observed_valset: valset,
      batches: [],
      unbatched_transfers: [
        { id: n, erc20_token: { contract: '0xc', amount: n }, erc20_fee: { contract: '0xc', amount: n } },
      ],
    };
    response.end(JSON.stringify({ state }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(mkdtempSync(join(tmpdir(), 'whole-')), 'config.yml');
  const targets = TARGETS.map((name) => `  - {name: ${name}, bridge: {url: "${url}"}}`);
  writeFileSync(file, `poll: {interval: 100ms, timeout: 5s, stale_after: 60s}\ntargets:\n${targets.join('\n')}\n`);
  daemon = await start([`--config.file=${file}`, '--web.max-requests=100']);
});

afterAll(async () => {
  await daemon.stop();
  server.close();
});

const NUMBERED =
  /^bridge_(last_observed_(nonce|external_height|valset_(nonce|height|power|reward_amount))|last_outgoing_(batch|pool)_id|newest_valset_(nonce|height|power)|oldest_pending_transfer_id|token_unbatched_(amount|fees))$/;

describe('while snapshots change more than 20 times a second', () => {
  it(`each of ${SCRAPERS} scrapers sees every snapshot whole`, async () => {
    const until = performance.now() + SECONDS * 1000;
    const answersBefore = answers;
    const seen = new Set<string>();
    let scrapes = 0;
    const scrape = async (index: number): Promise<void> => {
      const accept = index % 2 === 0 ? 'text/plain' : 'application/openmetrics-text';
      while (performance.now() < until) {
        await sleep(PAUSE_MS);
        const { statusCode, body } = await request(`${daemon.url}/metrics`, { headers: { accept } });
        const text = await body.text();
        expect(statusCode).toBe(200);
        scrapes += 1;
        for (const target of TARGETS) {
          const numbered = seriesOf(text).filter(
            ({ name, labels }) => NUMBERED.test(name) && labels.startsWith(`target="${target}"`),
          );
          const values = new Set(numbered.map(({ value }) => value));
          // Before the first answer there is none.
          expect(values.size, [...values].join()).toBeLessThanOrEqual(1);
          if (values.size > 0) expect(numbered.length).toBe(14);
          seen.add(`${target}${[...values].join('')}`);
        }
      }
    };
    await Promise.all(Array.from({ length: SCRAPERS }, (_, index) => scrape(index)));
    expect((answers - answersBefore) / SECONDS).toBeGreaterThan(20);
    expect(scrapes).toBeGreaterThan(SCRAPERS);
    expect(seen.size, 'snapshots seen').toBeGreaterThan(50);
  });
});
