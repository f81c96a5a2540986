import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seriesOf } from '../support/exposition-text.js';
import { get } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { startDaemon, type Daemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';

const TARGETS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
/** The pause between two scrapes of a scraper leaves CPU time for polls. */
const PAUSE_MS = 50;
const SCRAPERS = 50;
/** The test ends when the scrapers have received so many different snapshots. */
const SNAPSHOTS = 200;
const TIMEOUT_MS = 50_000;

const folder = createTempFolder();
let responses = 0;
let daemon: Daemon;

/** In each response, every number is the number of the response. */
const server = createServer((_request, response) => {
  responses += 1;
  const n = String(responses);
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

beforeAll(async () => {
  const port = await listenOnFreePort(server);
  const targets = TARGETS.map((name) => `  - {name: ${name}, bridge: {url: "http://127.0.0.1:${port}"}}`);
  const config = `poll: {interval: 100ms, timeout: 5s, stale_after: 60s}\ntargets:\n${targets.join('\n')}\n`;
  daemon = await startDaemon([`--config.file=${folder.write('config.yml', config)}`, '--web.max-requests=100']);
});

afterAll(async () => {
  await daemon.stop();
  server.close();
});

/** Families that export one of the numbers. */
const NUMBERED =
  /^bridge_(last_observed_(nonce|external_height|valset_(nonce|height|power|reward_amount))|last_outgoing_(batch|pool)_id|newest_valset_(nonce|height|power)|oldest_pending_transfer_id|token_unbatched_(amount|fees))$/;

describe('a scrape', () => {
  it(`returns only whole snapshots to ${SCRAPERS} scrapers while all snapshots change`, async () => {
    const deadline = performance.now() + TIMEOUT_MS;
    const snapshots = new Set<string>();
    let scrapes = 0;
    const scrapeRepeatedly = async (index: number): Promise<void> => {
      const accept = index % 2 === 0 ? 'text/plain' : 'application/openmetrics-text';
      while (snapshots.size < SNAPSHOTS && performance.now() < deadline) {
        await sleep(PAUSE_MS);
        const { status, text } = await get(`${daemon.url}/metrics`, { headers: { accept } });
        expect(status).toBe(200);
        scrapes += 1;
        const numbered = seriesOf(text).filter(({ name }) => NUMBERED.test(name));
        for (const target of TARGETS) {
          const ofTarget = numbered.filter(({ labels }) => labels.startsWith(`target="${target}"`));
          const values = new Set(ofTarget.map(({ value }) => value));
          // There is no value before the first response.
          expect(values.size, [...values].join()).toBeLessThanOrEqual(1);
          if (values.size > 0) expect(ofTarget.length).toBe(14);
          snapshots.add(`${target}${[...values].join('')}`);
        }
      }
    };
    await Promise.all(Array.from({ length: SCRAPERS }, (_, index) => scrapeRepeatedly(index)));
    expect(scrapes).toBeGreaterThan(SCRAPERS);
    expect(snapshots.size, 'number of different snapshots').toBeGreaterThanOrEqual(SNAPSHOTS);
  });
});
