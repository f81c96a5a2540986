import type { ModuleState } from '../../src/simulator/responses.js';
import type { Fault } from '../../src/simulator/simulator.js';
import {
  badEncoding,
  drip,
  edited,
  errorPage,
  garbage,
  gzipBomb,
  hang,
  invalidUtf8,
  oversize,
  redirect,
  reset,
  stall,
  truncate,
  withBody,
  withHeight,
  withStatus,
} from '../support/faults.js';

/* Faults of a node, or of a proxy in front of it, and their effects. The tests cause each one, and generate docs/faults.md. */
export interface FaultCase {
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

const KIB = 1024;
const MIB = 1024 * KIB;

const HTML = '<html><head><title>502 Bad Gateway</title></head></html>';

/** A document whose state has other fields. */
function editedState(edit: (state: ModuleState) => object): Fault {
  return edited(({ state }: { readonly state: ModuleState }) => ({ state: { ...state, ...edit(state) } }));
}

function error(code: number, message: string): string {
  return JSON.stringify({ code, message, details: [] });
}

export const faultCases: readonly FaultCase[] = [
  {
    title: 'does not respond',
    fault: hang,
    reason: 'timeout',
    log: 'timed out after … ms (poll.timeout)',
  },
  {
    title: 'stops sending in the middle of the body',
    fault: stall,
    reason: 'timeout',
    log: 'timed out after … ms (poll.timeout)',
  },
  {
    title: 'sends the body byte by byte',
    fault: drip(1, 30),
    reason: 'timeout',
    log: 'timed out after … ms (poll.timeout)',
  },
  {
    title: 'resets the connection',
    fault: reset,
    reason: 'aborted',
    log: 'connection lost: …',
  },
  {
    title: 'closes the connection in the middle of the body',
    fault: truncate,
    reason: 'aborted',
    log: 'connection lost: …',
  },
  {
    title: 'sends invalid HTTP',
    fault: garbage,
    reason: 'aborted',
    log: 'invalid HTTP response: …',
  },
  {
    title: 'sends a body over the limit',
    fault: oversize(3 * MIB),
    reason: 'too_large',
    log: 'body is larger than … (poll.max_body_size)',
  },
  {
    title: 'sends a gzip bomb',
    fault: gzipBomb(512 * MIB),
    reason: 'too_large',
    log: 'body is larger than … (poll.max_body_size)',
  },
  {
    title: 'sends headers over 16 KiB',
    fault: withStatus(200, undefined, { 'x-long': 'x'.repeat(64 * KIB) }),
    reason: 'too_large',
    log: 'headers are larger than 16 KiB',
  },
  {
    title: 'responds with status 500',
    fault: withStatus(500, error(13, 'pending nonces not found')),
    reason: 'status',
    log: 'responded with status 500: pending nonces not found',
  },
  {
    title: 'responds with status 500 and a 1 MB error message',
    fault: withStatus(500, error(2, 'panic '.repeat(200_000))),
    reason: 'status',
    log: 'responded with status 500',
  },
  {
    title: 'responds with status 501, like a node without the module',
    fault: withStatus(501, error(12, 'Not Implemented')),
    reason: 'status',
    log: 'responded with status 501: Not Implemented',
  },
  {
    title: 'responds with status 502 and an HTML page of a proxy',
    fault: withStatus(502, HTML),
    reason: 'status',
    log: 'responded with status 502: 502 Bad Gateway',
  },
  {
    title: 'responds with status 404',
    fault: withStatus(404, 'not found'),
    reason: 'status',
    log: 'responded with status 404: not found',
  },
  {
    title: 'redirects the request',
    fault: redirect,
    reason: 'status',
    log: 'responded with status 302, a redirect to …, which is not followed',
  },
  {
    title: 'responds with status 400',
    fault: withStatus(400, error(3, 'window must be positive')),
    reason: 'bad_request',
    log: 'responded with status 400: window must be positive',
  },
  {
    title: 'responds with status 400 and control characters in the message',
    fault: withStatus(400, error(3, 'a\n{"level":"info"}\u001b[31m\u202eb')),
    reason: 'bad_request',
    log: 'responded with status 400: a {"level":"info"} [31m b',
  },
  {
    title: 'responds with status 401',
    fault: withStatus(401),
    reason: 'unauthorized',
    log: 'responded with status 401: simulated failure',
  },
  {
    title: 'responds with status 403 and a challenge of a firewall',
    fault: withStatus(403, '<html><head><title>Just a moment...</title></head></html>'),
    reason: 'unauthorized',
    log: 'responded with status 403: Just a moment...',
  },
  {
    title: 'responds with status 429',
    fault: withStatus(429, 'Too Many Requests'),
    reason: 'rate_limited',
    log: 'responded with status 429: Too Many Requests',
  },
  {
    title: 'responds with status 429 and code 8, because the document exceeds its gRPC message limit',
    fault: withStatus(429, error(8, 'grpc: received message larger than max (11000000 vs. 10485760)')),
    reason: 'response_too_large_upstream',
    log: 'responded with status 429: grpc: received message larger than max …',
  },
  {
    title: 'sends an HTML page with status 200',
    fault: errorPage,
    reason: 'not_json',
    log: 'not valid JSON: 502 Bad Gateway',
  },
  {
    title: 'sends an empty body with status 200',
    fault: withBody(''),
    reason: 'not_json',
    log: 'empty body',
  },
  {
    title: 'sends truncated JSON',
    fault: withBody('{"state":{"valsets":[{"nonce":"1"'),
    reason: 'not_json',
    log: 'not valid JSON at character …',
  },
  {
    title: 'sends a body that is not gzip with Content-Encoding: gzip',
    fault: badEncoding,
    reason: 'not_json',
    log: 'invalid gzip encoding: …',
  },
  {
    title: 'sends an unsupported content encoding',
    fault: withStatus(200, '{}', { 'Content-Encoding': 'br' }),
    reason: 'not_json',
    log: 'unsupported content encoding …',
  },
  {
    title: 'sends invalid UTF-8',
    fault: invalidUtf8,
    reason: 'not_json',
    log: 'not valid UTF-8',
  },
  {
    title: 'sends an error body with status 200',
    fault: withBody(error(5, 'not found')),
    reason: 'schema',
    log: 'not a module_state document: none of its fields is present: not found',
  },
  {
    title: 'sends a document without state',
    fault: withBody('{}'),
    reason: 'schema',
    log: 'not a module_state document: none of its fields is present',
  },
  {
    title: 'sends a lower hub height than before',
    fault: withHeight('1'),
    reason: 'regression',
    log: 'hub height … is below … of the previous document',
  },
  {
    title: 'omits a field',
    fault: editedState(() => ({ last_observed_nonce: undefined })),
    absent: 'bridge_last_observed_nonce',
  },
  {
    title: 'sends null for a list',
    fault: editedState(() => ({ unbatched_transfers: null })),
    absent: 'bridge_unbatched_transfers',
  },
  {
    title: 'sends a string instead of a number',
    fault: editedState(() => ({ last_outgoing_pool_id: 'soon' })),
    absent: 'bridge_last_outgoing_pool_id',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'state.last_outgoing_pool_id' },
    log: 'invalid value: metrics that read this field are withdrawn',
  },
  {
    title: 'sends one invalid row in a list',
    fault: editedState(({ valsets: [first, ...others] }) => ({
      valsets: [{ ...first, members: [{ ...first?.members[0], power: {} }] }, ...others],
    })),
    absent: 'bridge_newest_valset_power',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'state.valsets[].members[].power' },
    log: 'invalid value: metrics that read this field are withdrawn',
  },
  {
    title: 'sends 0 as its hub height',
    fault: withHeight('0'),
    absent: 'bridge_height',
    counted: { name: 'bridge_exporter_invalid_values_total', field: 'X-Cosmos-Block-Height' },
    log: 'invalid value: metrics that read this field are withdrawn',
  },
  {
    title: 'sends no hub height',
    fault: withHeight(null),
    absent: 'bridge_height',
  },
];

/** The table of docs/faults.md. */
export function faultReference(): string {
  const rows = faultCases.map(({ title, reason, log = '(nothing)', absent, counted }) => {
    const metrics =
      reason === undefined
        ? [
            `\`bridge_exporter_up\` 1, \`${absent ?? ''}\` absent`,
            ...(counted ? [`\`${counted.name}\` increases`] : []),
          ].join(', ')
        : `\`bridge_exporter_up\` 0, failures with \`reason="${reason}"\``;
    const recovery =
      reason === 'regression'
        ? 'when the height is not lower; the third regression since the last success is accepted'
        : 'with the next valid response';
    return `| ${title} | ${metrics} | ${log} | ${recovery} |`;
  });
  return `# Faults

Generated from the tests (\`npm test -- -u\`), which cause each of these faults in a running exporter over real sockets. During every
fault, the other endpoints are polled and scrapes are served as usual.

A failing endpoint keeps the chain series of its last successful poll until \`poll.stale_after\`; after that they are withdrawn. A
failure is logged when it begins, when its reason changes, every ten minutes while it lasts, and when the endpoint has recovered.
The status page shows the last failure with its time.

| The node … | Metrics | Log message | Recovery |
|---|---|---|---|
${rows.join('\n')}

Failures before a request is sent have their own reasons: \`dns\` (the name does not resolve), \`connect\` (connection refused) and
\`tls\` (the handshake failed), see [failure reasons](failures.md).
`;
}
