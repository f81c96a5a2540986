import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { valueIn } from '../support/exposition-text.js';
import { scrape } from '../support/http.js';
import { listenOnFreePort } from '../support/ports.js';
import { startDaemon } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { startTestSimulator } from '../support/test-simulator.js';
import { waitFor } from '../support/wait-for.js';
import { edited, errorPage, gzipBomb, reset, stall, withBody, withHeight, withStatus } from '../support/faults.js';
import type { Fault } from '../../src/simulator/simulator.js';
import type { ModuleState } from '../../src/simulator/responses.js';

/** Many times the usual duration of a scrape, and less than the timeout that most faults run into. */
const MAX_SCRAPE_MS = 900;

const folder = createTempFolder();
const plainServer = createServer((socket) =>
  socket.on('error', () => undefined).once('data', () => socket.end('plain\r\n\r\n')),
);
let longestScrapeMs = 0;
const [healthy, faulty] = await Promise.all([startTestSimulator(), startTestSimulator({ seed: 2 })]);
const plainPort = await listenOnFreePort(plainServer);
const endpoints = (url: string): string => `bridge: {url: "${url}"}, crosschain: {url: "${url}", window: 500}`;
const config = `poll: {interval: 100ms, timeout: 1s, stale_after: 60s, max_body_size: 2MiB}
targets:
  - {name: healthy, ${endpoints(healthy.url)}}
  - {name: faulty, ${endpoints(faulty.url)}}
  - {name: dns, bridge: {url: "http://node.invalid"}}
  - {name: connect, bridge: {url: "http://127.0.0.1:1"}}
  - {name: tls, bridge: {url: "https://127.0.0.1:${plainPort}"}}
`;
const daemon = await startDaemon([`--config.file=${folder.write('config.yml', config)}`]);

async function timedScrape(): Promise<string> {
  const began = performance.now();
  const text = await scrape(daemon);
  longestScrapeMs = Math.max(longestScrapeMs, performance.now() - began);
  return text;
}

const scrapeUntil = async (isDone: (text: string) => boolean): Promise<string> => waitFor(timedScrape, isDone);

const FAULTY = ['target="faulty"', 'document="module_state"'] as const;
const up = (text: string): number | undefined => valueIn(text, 'bridge_exporter_up', ...FAULTY);
const polls = (text: string): number => valueIn(text, 'bridge_exporter_polls_total', ...FAULTY) ?? 0;
const failures = (text: string, reason: string): number =>
  valueIn(text, 'bridge_exporter_poll_failures_total', ...FAULTY, `reason="${reason}"`) ?? 0;

async function scrapeUntilRecovered(): Promise<string> {
  return scrapeUntil(
    (text) => up(text) === 1 && valueIn(text, 'bridge_height', 'target="faulty"') === faulty.model.height,
  );
}

/** Expects a recent successful poll of every other endpoint. */
function expectOthersFresh(text: string): void {
  const others = [
    ['healthy', 'module_state'],
    ['healthy', 'rate_limiter_input'],
    ['faulty', 'rate_limiter_input'],
  ] as const;
  for (const [target, endpoint] of others) {
    const labels = [`target="${target}"`, `document="${endpoint}"`];
    expect(valueIn(text, 'bridge_exporter_up', ...labels)).toBe(1);
    const success = valueIn(text, 'bridge_exporter_last_success_timestamp_seconds', ...labels) ?? 0;
    expect(Date.now() / 1000 - success).toBeLessThan(10);
  }
  expect(valueIn(text, 'bridge_last_observed_nonce', 'target="healthy"')).toBeDefined();
  expect(valueIn(text, 'crosschain_total_pending', 'target="faulty"')).toBeDefined();
}

/* A fault for each part of the program that finds it: the tests of the client and of documents have the others. */

interface FaultCase {
  /** The fault, as a predicate of `the node`. */
  readonly title: string;
  readonly fault: Fault;
  /** The failure reason of the poll; absent if the poll succeeds. */
  readonly reason?: string;
  /** The log message, with … for what varies; absent if nothing is logged. */
  readonly log?: string;
  /** If the poll succeeds: a family that is absent, and the counter with its field. */
  readonly absent?: string;
  readonly counted?: { readonly name: string; readonly field: string };
}

const failing = (reason: string, log: string, title: string, fault: Fault): FaultCase => ({
  title,
  fault,
  reason,
  log,
});
const error = (code: number, message: string): string => JSON.stringify({ code, message, details: [] });
const withState = (edit: (state: ModuleState) => object): Fault =>
  edited(({ state }: { readonly state: ModuleState }) => ({ state: { ...state, ...edit(state) } }));

const INVALID = 'invalid value: metrics that read this field are withdrawn';

const faultCases: readonly FaultCase[] = [
  failing('timeout', 'timed out after … ms (poll.timeout)', 'stops sending in the middle of the body', stall),
  failing('aborted', 'connection lost: …', 'resets the connection', reset),
  failing('too_large', 'body is larger than …', 'sends a gzip bomb', gzipBomb(512 * 1024 * 1024)),
  failing(
    'bad_request',
    'responded with status 400: a {"level":"info"} [31m b',
    'responds with control characters in the message',
    withStatus(400, error(3, 'a\n{"level":"info"}\u001b[31m\u202eb')),
  ),
  failing('not_json', 'not valid JSON', 'sends an HTML page with status 200', errorPage),
  failing(
    'schema',
    'not a module_state document: none of its fields is present: not found',
    'sends an error body with status 200',
    withBody(error(5, 'not found')),
  ),
  failing(
    'regression',
    'hub height … is below … of the previous document',
    'sends a lower hub height than before',
    withHeight('1'),
  ),
  {
    title: 'omits a field',
    fault: withState(() => ({ last_observed_nonce: undefined })),
    absent: 'bridge_last_observed_nonce',
  },
  {
    title: 'sends one invalid row in a list',
    fault: withState(({ valsets: [first, ...others] }) => ({
      valsets: [{ ...first, members: [{ ...first?.members[0], power: {} }] }, ...others],
    })),
    absent: 'bridge_newest_valset_power',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'state.valsets[].members[].power' },
    log: INVALID,
  },
];

/** Matches a message after its path, with the paths that were requested besides. */
function patternOf(log: string): RegExp {
  const escaped = log.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(`(?:^|: )${escaped.replaceAll('…', '.*')}(?:; .*)?$`);
}

describe('the exporter', () => {
  it.each(faultCases)(
    'reports a node that $title, and its recovery',
    async ({ fault, reason, log, absent, counted }) => {
      const before = await scrapeUntilRecovered();
      const linesBefore = daemon.log.length;
      const countBefore = counted && (valueIn(before, counted.name, counted.field) ?? 0);
      faulty.fault('module_state', fault);

      const during = await scrapeUntil((text) =>
        reason === undefined
          ? valueIn(text, absent ?? '', 'target="faulty"') === undefined
          : failures(text, reason) > failures(before, reason),
      );
      expectOthersFresh(during);
      expect(up(during)).toBe(reason === undefined ? 1 : 0);
      expect(
        valueIn(during, 'bridge_batches', 'target="faulty"'),
        'from the last successful poll, or unaffected by the fault',
      ).toBeDefined();
      if (counted) expect(valueIn(during, counted.name, counted.field)).toBeGreaterThan(countBefore ?? 0);

      const lines = daemon.log.slice(linesBefore).map((line) => JSON.parse(line) as Record<string, string>);
      const warnings = lines.filter(({ level, target }) => level === 'warn' && target === 'faulty');
      if (log === undefined) expect(warnings).toEqual([]);
      else {
        expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringMatching(patternOf(log))]);
        expect(warnings[0]).toMatchObject({ document: 'module_state', ...(reason && { reason }) });
        expect(JSON.stringify(warnings).length, 'without the body').toBeLessThan(700);
      }

      faulty.fault('module_state', undefined);
      await scrapeUntil(
        (text) => up(text) === 1 && (absent === undefined || valueIn(text, absent, 'target="faulty"') !== undefined),
      );
    },
  );

  it('reports the reason why a node cannot be reached', async () => {
    const text = await scrapeUntil((exposition) => polls(exposition) > 0);
    for (const reason of ['dns', 'connect', 'tls']) {
      const labels = [`target="${reason}"`, `reason="${reason}"`];
      expect(valueIn(text, 'bridge_exporter_poll_failures_total', ...labels), reason).toBeGreaterThan(0);
      expect(valueIn(text, 'bridge_exporter_up', `target="${reason}"`)).toBe(0);
    }
  });

  it('responds to scrapes quickly during all of these faults', () => {
    expect(longestScrapeMs).toBeGreaterThan(0);
    expect(longestScrapeMs).toBeLessThan(MAX_SCRAPE_MS);
  });
});
