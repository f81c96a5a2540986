import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultBridgeSettings, defaultCrosschainSettings } from '../../src/config/endpoint-config.js';
import { renderEndpoints } from '../../src/exposition/metrics-page.js';
import { recordedStates } from '../support/endpoint-states.js';
import type { PollResult } from '../../src/engine/step.js';
import { firstSnapshot } from '../support/snapshots.js';
import { corruptedDocument } from '../facts/property/corruption.js';
import { bridgeState, crosschainDocument } from '../facts/property/documents.js';
import { seriesOf } from '../support/exposition-text.js';
import type { Json, JsonObject } from '../support/json.js';
import { pollOf, TARGET_OPTIONS } from '../support/polls.js';
import { NOW } from '../support/sample-endpoints.js';
import { hasTool, OPENMETRICS_PARSER, PYTHON, runTool } from '../support/tools.js';
import { fuzzRuns, fuzzTimeoutMs } from '../support/fuzz.js';
import type { StepContext } from '../../src/document-types.js';

const RUNS = 125;
const MAX_SERIES = 5;

/** Strings that a token issuer, a proxy or a faulty node can place in any field. */
const hostileString = fc.oneof(
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

/** Replaces some strings of a document with hostile ones. */
function withHostileStrings(document: JsonObject): fc.Arbitrary<JsonObject> {
  return fc
    .array(fc.option(hostileString, { freq: 4, nil: undefined }), { minLength: 7, maxLength: 50 })
    .map((strings) => {
      let index = 0;
      const next = (): string | undefined => strings[index++ % strings.length];
      return replaceStrings(document, next) as JsonObject;
    });
}

function replaceStrings(json: Json, next: () => string | undefined): Json {
  if (typeof json === 'string') return next() ?? json;
  if (Array.isArray(json)) return json.map((row: Json) => replaceStrings(row, next));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([key, value]) => [key, replaceStrings(value, next)]),
  );
}

const documents = (valid: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> =>
  fc.oneof(
    valid,
    valid.chain(corruptedDocument),
    valid.chain(withHostileStrings),
    fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>,
  );

/** The bytes of a document, some of them with bytes changed, removed or inserted. */
function bytesOf(document: fc.Arbitrary<JsonObject>, wrap: (row: JsonObject) => JsonObject): fc.Arbitrary<Buffer> {
  const edit = fc.record({ offset: fc.nat(), length: fc.nat({ max: 20 }), bytes: fc.uint8Array({ maxLength: 8 }) });
  return fc
    .tuple(
      document,
      fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, { arbitrary: fc.array(edit, { maxLength: 4 }), weight: 1 }),
    )
    .map(([row, edits]) => {
      let body = Buffer.from(JSON.stringify(wrap(row)));
      for (const { offset, length, bytes } of edits) {
        const start = offset % (body.length + 1);
        body = Buffer.concat([body.subarray(0, start), bytes, body.subarray(start + length)]);
      }
      return body;
    });
}

const base = {
  ...TARGET_OPTIONS,
  names: {
    tokens: [{ contract: '0x111111111111111111111111111111111111111f', symbol: '"\n', decimals: 6 }],
    chains: { '1': 'a"\\\n', constructor: 'odd' },
    validators: [],
  },
  maxSeries: MAX_SERIES,
};

const bridge: StepContext = {
  ...base,
  target: 'a"\\\n😀',
  document: 'module_state',
  settings: defaultBridgeSettings,
};
const crosschain: StepContext = {
  ...base,
  target: 'b',
  document: 'rate_limiter_input',
  settings: { ...defaultCrosschainSettings, window: '500', rate: '1000', hub_chain_ids: ['1'] },
};

interface Sample {
  readonly source: StepContext;
  readonly poll: PollResult;
}

/** Results for external parsers, which start slowly and therefore check all samples in one exposition. */
const samples: Sample[] = [];
const MAX_SAMPLES = 75;

function expectValidResult(source: StepContext, body: Buffer, height: string | undefined): void {
  const poll = pollOf(source, body, { height, source: 'fuzz' });
  const { outcome } = poll;
  if (!outcome.ok) {
    expect(['not_json', 'schema', 'too_large']).toContain(outcome.error.reason);
    expect(outcome.error.message).toMatch(/^fuzz: .{1,250}$/);
    return;
  }
  const result = firstSnapshot(poll, source);
  for (const { name, text } of result.renderedFamilies) {
    const series = seriesOf(text);
    expect(series.length, name).toBeLessThanOrEqual(MAX_SERIES);
    expect(series.every((sample) => sample.name === name && Number.isFinite(sample.value))).toBe(true);
    expect(new Set(series.map(({ labels }) => labels)).size, name).toBe(series.length);
    // A series has up to six labels of up to 128 characters, which can all be escaped.
    expect(Math.max(...series.map(({ labels }) => labels.length))).toBeLessThan(2000);
  }
  for (const { name, text } of result.renderedCumulative.filter((family) => family.text !== '')) {
    const series = seriesOf(text);
    expect(series.length, name).toBeLessThanOrEqual(name.endsWith('_seconds') ? Infinity : MAX_SERIES);
    expect(series.every((sample) => sample.name.startsWith(name) && Number.isFinite(sample.value))).toBe(true);
    expect(new Set(series.map((sample) => sample.name + sample.labels)).size, name).toBe(series.length);
  }
  if (samples.length < MAX_SAMPLES && result.renderedFamilies.length > 10) {
    // So that the series of each sample are unique.
    samples.push({ source: { ...source, target: `${source.target}${samples.length}` }, poll });
  }
}

const height = fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String), { nil: undefined });

it.each([
  [bridge, bytesOf(documents(bridgeState), (state) => ({ state }))],
  [crosschain, bytesOf(documents(crosschainDocument), (document) => document)],
] as const)(
  'a poll of a hostile body returns valid and bounded series or an expected failure: $document',
  (context, bodies) => {
    fc.assert(
      fc.property(bodies, height, (body, hubHeight) => expectValidResult(context, body, hubHeight)),
      { numRuns: fuzzRuns(RUNS) },
    );
  },
  fuzzTimeoutMs(RUNS),
);

const hasPromtool = hasTool('promtool');
const hasParser = hasTool(PYTHON, ['-c', 'import prometheus_client.openmetrics.parser']);

/** Renders all samples as one exposition. */
function renderSamples(format: 'text' | 'openmetrics'): string {
  const snapshots = recordedStates(
    samples.map(({ source }) => source),
    { maxBodyBytes: 1, staleAfterMs: 1 },
  );
  for (const { source, poll } of samples) snapshots.record(source, poll, NOW);
  return renderEndpoints(snapshots.states(), format, NOW);
}

describe('the exposition of hostile bodies', () => {
  it('contains the maximum number of samples', () => {
    expect(samples.length).toBe(MAX_SAMPLES);
  });

  it.skipIf(!hasPromtool)('is accepted by promtool', () => {
    expect(runTool('promtool', ['check', 'metrics'], renderSamples('text'))).toEqual({ status: 0, output: '' });
  });

  it.skipIf(!hasParser)('is completely parsed by a strict OpenMetrics parser', () => {
    const text = `${renderSamples('openmetrics')}# EOF\n`;
    const { status, output } = runTool(PYTHON, ['-c', OPENMETRICS_PARSER], text);
    expect({ status, series: Number(output) }).toEqual({ status: 0, series: seriesOf(text).length });
  });
});
