import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trustedDigits } from '../../src/json/scalars.js';
import { readBody, type PollResult, type DocumentSource } from '../../src/poll/collect.js';
import { neutralBridge, neutralCrosschain } from '../../src/config/config.js';
import { renderExposition } from '../../src/exposition/exposition.js';
import { endpointKeyOf } from '../../src/poll/jobs.js';
import { createSnapshots } from '../../src/poll/snapshots.js';
import { runTool, hasTool, OPENMETRICS_PARSER, PYTHON } from '../support/tools.js';
import { seriesOf } from '../support/exposition-text.js';
import { corruptedOften } from '../metrics/property/corruption.js';
import { bridgeState, crosschainDocument, type Json, type Row } from '../metrics/property/documents.js';
import { NOW } from '../support/sample-endpoints.js';

/** FUZZ_RUNS bodies in all; CI has 20,000, and `npm run fuzz` half a million. */
const RUNS = Math.ceil(Number(process.env['FUZZ_RUNS'] ?? 2000) / 2);
const TIMEOUT_MS = 60_000 + 20 * RUNS;
const MAX_SERIES = 5;

/** Text that an issuer, a proxy or a broken node could put anywhere. */
const hostile = fc.oneof(
  fc.constantFrom(
    'a"b\\c\nd\re',
    '"} 1\nbridge_batches{target="x"} 666',
    '# EOF\n',
    '\u0000\u001b[31m\u202e\u2028\u0085',
    '\ud800',
    '😀'.repeat(100),
    'x'.repeat(5000),
    '__proto__',
    'constructor',
    'NaN',
    'Infinity',
    '1e999',
    '-0',
    '9'.repeat(100),
    `0.${'0'.repeat(97)}1`,
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.bigInt().map(String),
  fc.double().map(String),
);

/** Each text of a document replaced by a hostile one now and then. */
function withHostileTexts(document: Row): fc.Arbitrary<Row> {
  return fc.array(fc.option(hostile, { freq: 4, nil: undefined }), { minLength: 7, maxLength: 50 }).map((texts) => {
    let at = 0;
    const next = (): string | undefined => texts[at++ % texts.length];
    return replaced(document, next) as Row;
  });
}

function replaced(json: Json, next: () => string | undefined): Json {
  if (typeof json === 'string') return next() ?? json;
  if (Array.isArray(json)) return json.map((row: Json) => replaced(row, next));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json as Row).map(([key, value]) => [key, replaced(value, next)]));
}

const documents = (valid: fc.Arbitrary<Row>): fc.Arbitrary<Row> =>
  fc.oneof(
    valid,
    valid.chain(corruptedOften),
    valid.chain(withHostileTexts),
    fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<Row>,
  );

/** The bytes of a document, whole or with some of them changed, left out or repeated. */
function bytesOf(document: fc.Arbitrary<Row>, wrap: (row: Row) => Row): fc.Arbitrary<Buffer> {
  const edit = fc.record({ at: fc.nat(), length: fc.nat({ max: 20 }), bytes: fc.uint8Array({ maxLength: 8 }) });
  return fc
    .tuple(
      document,
      fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, { arbitrary: fc.array(edit, { maxLength: 4 }), weight: 1 }),
    )
    .map(([row, edits]) => {
      let body = Buffer.from(JSON.stringify(wrap(row)));
      for (const { at, length, bytes } of edits) {
        const start = at % (body.length + 1);
        body = Buffer.concat([body.subarray(0, start), bytes, body.subarray(start + length)]);
      }
      return body;
    });
}

const base = {
  labels: {
    tokens: [{ contract: '0x111111111111111111111111111111111111111f', symbol: '"\n', decimals: 6 }],
    chains: { '1': 'a"\\\n', constructor: 'odd' },
  },
  maxSeries: MAX_SERIES,
};

const bridge: DocumentSource = { ...base, target: 'a"\\\n😀', document: 'module_state', settings: neutralBridge };
const crosschain: DocumentSource = {
  ...base,
  target: 'b',
  document: 'rate_limiter_input',
  settings: { ...neutralCrosschain, window: '500', rate: '1000', hubChainIds: ['1'] },
};

interface Kept {
  readonly reading: DocumentSource;
  readonly outcome: PollResult;
}

/** Of many expositions, some for the parsers that are slow to start: as many targets of one exposition. */
const kept: Kept[] = [];
const MAX_KEPT = 300;

function expectHarmless(reading: DocumentSource, body: Buffer, height: string | undefined): void {
  const outcome = readBody(reading, 'fuzz', body, height === undefined ? undefined : trustedDigits(height));
  const { result } = outcome;
  if (!result.ok) {
    expect(['not_json', 'schema', 'too_large']).toContain(result.error.reason);
    expect(result.error.message).toMatch(/^fuzz .{1,250}$/);
    return;
  }
  for (const { name, lines } of result.families) {
    const series = seriesOf(lines);
    expect(series.length, name).toBeLessThanOrEqual(MAX_SERIES);
    expect(series.every((one) => one.name === name && Number.isFinite(one.value))).toBe(true);
    expect(new Set(series.map(({ labels }) => labels)).size, name).toBe(series.length);
    // Label names, values and marks take some hundred characters at most: six labels of 128, each escaped.
    expect(Math.max(...series.map(({ labels }) => labels.length))).toBeLessThan(2000);
  }
  if (kept.length < MAX_KEPT && result.families.length > 10) {
    kept.push({ reading: { ...reading, target: `${reading.target}${kept.length}` }, outcome });
  }
}

const height = fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String), { nil: undefined });

describe('whatever a body holds', () => {
  it(
    'of a bridge, the exporter lives, and exposes only what is well-formed and bounded',
    () => {
      const bodies = bytesOf(documents(bridgeState), (state) => ({ state }));
      fc.assert(
        fc.property(bodies, height, (body, hub) => expectHarmless(bridge, body, hub)),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'of a queue of transactions, the same',
    () => {
      const bodies = bytesOf(documents(crosschainDocument), (document) => document);
      fc.assert(
        fc.property(bodies, height, (body, hub) => expectHarmless(crosschain, body, hub)),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );
});

const hasPromtool = hasTool('promtool');
const hasParser = hasTool(PYTHON, ['-c', 'import prometheus_client.openmetrics.parser']);

/** The expositions that were kept, read anew as so many targets of one. */
function exposed(format: 'text' | 'openmetrics'): string {
  const snapshots = createSnapshots(
    kept.map(({ reading }) => endpointKeyOf(reading)),
    { maxBodyBytes: 1, staleAfterMs: 1 },
  );
  for (const { reading, outcome } of kept) snapshots.record(endpointKeyOf(reading), retargeted(outcome, reading), NOW);
  return renderExposition(snapshots, format, NOW);
}

/** The same lines under the name the target was given here. */
function retargeted(outcome: PollResult, { target }: DocumentSource): PollResult {
  if (!outcome.result.ok) return outcome;
  const label = `target="${target.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
  const families = outcome.result.families.map((family) => ({
    ...family,
    lines: family.lines.replaceAll(/^(\w+\{)target="(?:[^"\\]|\\.)*"/gm, (_match, start: string) => start + label),
  }));
  return { ...outcome, result: { ...outcome.result, families } };
}

describe('what hostile bodies gave', () => {
  it('is plenty', () => {
    expect(kept.length).toBe(MAX_KEPT);
  });

  it.skipIf(!hasPromtool)('is accepted by promtool', () => {
    expect(runTool('promtool', ['check', 'metrics'], exposed('text'))).toEqual({ status: 0, output: '' });
  });

  it.skipIf(!hasParser)('is read to the last series by a strict OpenMetrics parser', () => {
    const text = `${exposed('openmetrics')}# EOF\n`;
    const { status, output } = runTool(PYTHON, ['-c', OPENMETRICS_PARSER], text);
    expect({ status, samples: Number(output) }).toEqual({ status: 0, samples: seriesOf(text).length });
  });
});
