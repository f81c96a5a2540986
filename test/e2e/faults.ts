import type { Fault } from '../../src/simulator/faults.js';

/*
 * What a node, or something before it, can do to the exporter, with what users see of it. The tests cause each for real, and
 * docs/faults.md is written from this list.
 */
export interface FaultCase {
  /** What goes wrong, for the document of one endpoint. */
  readonly title: string;
  readonly fault: Fault;
  /** The reason the poll fails for; absent when the poll succeeds all the same. */
  readonly reason?: string;
  /** What the log says, after the words that name the endpoint. */
  readonly log: RegExp;
  /** The same for people. */
  readonly says: string;
  /** Where the poll succeeds: a family that is absent meanwhile, and the counter with its field. */
  readonly absent?: string;
  readonly counted?: { readonly name: string; readonly field: string };
}

const KIB = 1024;
const MIB = 1024 * KIB;

const HTML = '<html><head><title>502 Bad Gateway</title></head></html>';

function status(code: number, body?: string): Fault {
  return { kind: 'status', code, ...(body !== undefined && { body }) };
}

function error(code: number, message: string): string {
  return JSON.stringify({ code, message, details: [] });
}

export const faultCases: readonly FaultCase[] = [
  {
    title: 'does not answer',
    fault: { kind: 'hang' },
    reason: 'timeout',
    log: /took over 400 ms \(poll\.timeout\)/,
    says: 'took over … (poll.timeout)',
  },
  {
    title: 'sends half a body and then nothing',
    fault: { kind: 'stall' },
    reason: 'timeout',
    log: /took over 400 ms/,
    says: 'took over … (poll.timeout)',
  },
  {
    title: 'drips a byte now and then',
    fault: { kind: 'drip', bytes: 1, everyMs: 30 },
    reason: 'timeout',
    log: /took over 400 ms/,
    says: 'took over … (poll.timeout)',
  },
  {
    title: 'resets the connection',
    fault: { kind: 'reset' },
    reason: 'aborted',
    log: /was cut off/,
    says: 'was cut off: …',
  },
  {
    title: 'ends the connection in mid body',
    fault: { kind: 'truncate' },
    reason: 'aborted',
    log: /was cut off/,
    says: 'was cut off: …',
  },
  {
    title: 'sends what is not HTTP',
    fault: { kind: 'garbage' },
    reason: 'aborted',
    log: /was cut off/,
    says: 'was cut off: …',
  },
  {
    title: 'sends more than the limit',
    fault: { kind: 'oversize', bytes: 3 * MIB },
    reason: 'too_large',
    log: /is over 2MiB \(poll\.max_body_size\)/,
    says: 'is over … (poll.max_body_size)',
  },
  {
    title: 'sends a gzip bomb',
    fault: { kind: 'gzip-bomb', bytes: 512 * MIB },
    reason: 'too_large',
    log: /is over 2MiB \(poll\.max_body_size\)/,
    says: 'is over … (poll.max_body_size)',
  },
  {
    title: 'sends headers without end',
    fault: { kind: 'status', code: 200, headers: { 'x-long': 'x'.repeat(64 * KIB) } },
    reason: 'too_large',
    log: /has headers over 16 KiB/,
    says: 'has headers over 16 KiB',
  },
  {
    title: 'answers 500',
    fault: status(500, error(13, 'pending nonces not found')),
    reason: 'status',
    log: /status 500: pending nonces not found/,
    says: 'was answered with status 500: (the message of the node)',
  },
  {
    title: 'answers 500 with a stack of a megabyte',
    fault: status(500, error(2, 'panic '.repeat(200_000))),
    reason: 'status',
    log: /status 500$/,
    says: 'was answered with status 500',
  },
  {
    title: 'answers 501, as a node without the module does',
    fault: status(501, error(12, 'Not Implemented')),
    reason: 'status',
    log: /status 501: Not Implemented/,
    says: 'was answered with status 501: Not Implemented',
  },
  {
    title: 'answers 502 with a page of a proxy',
    fault: status(502, HTML),
    reason: 'status',
    log: /status 502$/,
    says: 'was answered with status 502',
  },
  {
    title: 'answers 503',
    fault: status(503, error(14, 'connection refused')),
    reason: 'status',
    log: /status 503: connection refused/,
    says: 'was answered with status 503: …',
  },
  {
    title: 'answers 404',
    fault: status(404, 'not found'),
    reason: 'status',
    log: /status 404$/,
    says: 'was answered with status 404',
  },
  {
    title: 'answers 204',
    fault: status(204),
    reason: 'status',
    log: /status 204$/,
    says: 'was answered with status 204',
  },
  {
    title: 'redirects',
    fault: { kind: 'redirect', location: 'http://127.0.0.1:1/' },
    reason: 'status',
    log: /status 302/,
    says: 'was answered with status 302',
  },
  {
    title: 'answers 400',
    fault: status(400, error(3, 'window must be positive')),
    reason: 'bad_request',
    log: /status 400: window must be positive/,
    says: 'was answered with status 400: window must be positive',
  },
  {
    title: 'answers 400 with control characters in the message',
    fault: status(400, error(3, 'a\n{"level":"info"}\u001b[31m\u202eb')),
    reason: 'bad_request',
    log: /status 400: a \{"level":"info"\} \[31m b/,
    says: 'was answered with status 400: … (on one line, without them)',
  },
  {
    title: 'answers 401',
    fault: status(401),
    reason: 'unauthorized',
    log: /status 401/,
    says: 'was answered with status 401',
  },
  {
    title: 'answers 403',
    fault: status(403, HTML),
    reason: 'unauthorized',
    log: /status 403$/,
    says: 'was answered with status 403',
  },
  {
    title: 'throttles (429)',
    fault: status(429, 'Too Many Requests'),
    reason: 'rate_limited',
    log: /status 429$/,
    says: 'was answered with status 429',
  },
  {
    title: 'has more to say than it may send (429 with code 8)',
    fault: status(429, error(8, 'grpc: received message larger than max (11000000 vs. 10485760)')),
    reason: 'response_too_large_upstream',
    log: /status 429: grpc: received message larger than max/,
    says: 'was answered with status 429: grpc: received message larger than max …',
  },
  {
    title: 'sends a page with status 200',
    fault: { kind: 'not-json' },
    reason: 'not_json',
    log: /is not JSON: unexpected '<' at byte 0/,
    says: "is not JSON: unexpected '<' at byte 0",
  },
  {
    title: 'sends nothing with status 200',
    fault: { kind: 'empty' },
    reason: 'not_json',
    log: /has an empty body/,
    says: 'has an empty body',
  },
  {
    title: 'sends JSON that ends too soon',
    fault: { kind: 'not-json', text: '{"state":{"valsets":[{"nonce":"1"' },
    reason: 'not_json',
    log: /is not JSON: it ends at byte 33, in the middle/,
    says: 'is not JSON: it ends at byte …, in the middle',
  },
  {
    title: 'says gzip and sends something else',
    fault: { kind: 'bad-encoding' },
    reason: 'not_json',
    log: /cannot be decoded/,
    says: 'cannot be decoded: …',
  },
  {
    title: 'sends an encoding nobody asked for',
    fault: { kind: 'status', code: 200, headers: { 'content-encoding': 'br' }, body: '{}' },
    reason: 'not_json',
    log: /has an unknown content encoding/,
    says: 'has an unknown content encoding',
  },
  {
    title: 'sends invalid UTF-8',
    fault: { kind: 'invalid-utf8' },
    reason: 'not_json',
    log: /is not valid UTF-8/,
    says: 'is not valid UTF-8',
  },
  {
    title: 'sends an error body with status 200',
    fault: { kind: 'not-json', text: error(5, 'not found') },
    reason: 'schema',
    log: /none of the fields of module_state is in it/,
    says: 'is JSON, but none of the fields of module_state is in it',
  },
  {
    title: 'sends a list',
    fault: { kind: 'not-json', text: '[]' },
    reason: 'schema',
    log: /none of the fields/,
    says: 'is JSON, but none of the fields of module_state is in it',
  },
  {
    title: 'sends a document without its state',
    fault: { kind: 'drop', path: 'state' },
    reason: 'schema',
    log: /none of the fields/,
    says: 'is JSON, but none of the fields of module_state is in it',
  },
  {
    title: 'falls behind itself',
    fault: { kind: 'height', value: '1' },
    reason: 'regression',
    log: /the answer is of hub height 1, below \d+ of the one before/,
    says: 'the answer is of hub height …, below … of the one before',
  },
  {
    title: 'leaves a field out',
    fault: { kind: 'drop', path: 'state.last_observed_nonce' },
    absent: 'bridge_last_observed_nonce',
    log: /^$/,
    says: 'nothing: what is not there is absent',
  },
  {
    title: 'sends null for a list',
    fault: { kind: 'set', path: 'state.unbatched_transfers', value: null },
    absent: 'bridge_unbatched_transfers',
    log: /^$/,
    says: 'nothing: what is not there is absent',
  },
  {
    title: 'sends text for a number',
    fault: { kind: 'set', path: 'state.last_outgoing_pool_id', value: 'soon' },
    absent: 'bridge_last_outgoing_pool_id',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'state.last_outgoing_pool_id' },
    log: /a value of the wrong kind/,
    says: 'a value of the wrong kind: what reads this field is absent',
  },
  {
    title: 'sends one odd row among many',
    fault: { kind: 'set', path: 'state.valsets[0].members[0].power', value: {} },
    absent: 'bridge_newest_valset_power',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'state.valsets[].members[].power' },
    log: /a value of the wrong kind/,
    says: 'a value of the wrong kind: what reads this field is absent',
  },
  {
    title: 'does not tell its height',
    fault: { kind: 'height', value: null },
    absent: 'bridge_height',
    log: /^$/,
    says: 'nothing: what is not there is absent',
  },
];

/** The table of docs/faults.md. */
export function faultReference(): string {
  const rows = faultCases.map(({ title, reason, says, absent, counted }) => {
    const shows =
      reason === undefined
        ? [
            `\`bridge_exporter_up\` 1, \`${absent ?? ''}\` absent`,
            ...(counted ? [`\`${counted.name}\` counts`] : []),
          ].join(', ')
        : `\`bridge_exporter_up\` 0, failures with \`reason="${reason}"\``;
    const recovery =
      reason === 'regression'
        ? 'with an answer that is not behind; the third behind in a row is accepted'
        : 'with the next good answer';
    return `| ${title} | ${shows} | ${says} | ${recovery} |`;
  });
  return `# Faults

Written from the list the tests cause them by (\`npm test -- -u\`): each of these is done to a running exporter over real sockets.
In all of them the series of the other endpoints stay fresh, and a scrape is answered as fast as ever.

A failing endpoint keeps the chain series of its last answer until \`poll.stale_after\` and has none from then on. Its failure is
logged when it begins and when its reason changes, every ten minutes while it lasts, and when the endpoint answers again; the
status page shows the last one with its time.

| the node … | /metrics shows | the log says of the endpoint | it recovers |
|---|---|---|---|
${rows.join('\n')}

What keeps a node from being asked at all is told by its reason: \`dns\` (the name does not resolve), \`connect\` (nothing listens
there), \`tls\` (the handshake fails), see [failure reasons](failures.md).
`;
}
