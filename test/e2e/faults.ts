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

/* Faults of a node, or of a proxy in front of it, and their effects. The tests cause each one in a running exporter over real sockets. */
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

/** Each as the predicate of `the node`. */
type Faults = Readonly<Record<string, Fault>>;

/** Polls fail with this reason and log message. */
const failing = (reason: string, log: string, faults: Faults): readonly FaultCase[] =>
  Object.entries(faults).map(([title, fault]) => ({ title, fault, reason, log }));

export const faultCases: readonly FaultCase[] = [
  ...failing('timeout', 'timed out after … ms (poll.timeout)', {
    'does not respond': hang,
    'stops sending in the middle of the body': stall,
    'sends the body byte by byte': drip(1, 30),
  }),
  ...failing('aborted', 'connection lost: …', {
    'resets the connection': reset,
    'closes the connection in the middle of the body': truncate,
  }),
  ...failing('aborted', 'invalid HTTP response: …', {
    'sends invalid HTTP': garbage,
  }),
  ...failing('too_large', 'body is larger than … (poll.max_body_size)', {
    'sends a body over the limit': oversize(3 * MIB),
    'sends a gzip bomb': gzipBomb(512 * MIB),
  }),
  ...failing('too_large', 'headers are larger than 16 KiB', {
    'sends headers over 16 KiB': withStatus(200, undefined, { 'x-long': 'x'.repeat(64 * KIB) }),
  }),
  ...failing('status', 'responded with status 500: pending nonces not found', {
    'responds with status 500': withStatus(500, error(13, 'pending nonces not found')),
  }),
  ...failing('status', 'responded with status 500', {
    'responds with status 500 and a 1 MB error message': withStatus(500, error(2, 'panic '.repeat(200_000))),
  }),
  ...failing('status', 'responded with status 501: Not Implemented', {
    'responds with status 501, like a node without the module': withStatus(501, error(12, 'Not Implemented')),
  }),
  ...failing('status', 'responded with status 502', {
    'responds with status 502 and an HTML page of a proxy': withStatus(502, HTML),
  }),
  ...failing('status', 'responded with status 404: not found', {
    'responds with status 404': withStatus(404, 'not found'),
  }),
  ...failing('status', 'responded with status 302, a redirect to …, which is not followed', {
    'redirects the request': redirect,
  }),
  ...failing('bad_request', 'responded with status 400: window must be positive', {
    'responds with status 400': withStatus(400, error(3, 'window must be positive')),
  }),
  ...failing('bad_request', 'responded with status 400: a {"level":"info"} [31m b', {
    'responds with status 400 and control characters in the message': withStatus(
      400,
      error(3, 'a\n{"level":"info"}\u001b[31m\u202eb'),
    ),
  }),
  ...failing('unauthorized', 'responded with status 401: simulated failure', {
    'responds with status 401': withStatus(401),
  }),
  ...failing('unauthorized', 'responded with status 403', {
    'responds with status 403 and a challenge of a firewall': withStatus(
      403,
      '<html><head><title>Just a moment...</title></head></html>',
    ),
  }),
  ...failing('rate_limited', 'responded with status 429: Too Many Requests', {
    'responds with status 429': withStatus(429, 'Too Many Requests'),
  }),
  ...failing('response_too_large_upstream', 'responded with status 429: grpc: received message larger than max …', {
    'responds with status 429 and code 8, because the document exceeds its gRPC message limit': withStatus(
      429,
      error(8, 'grpc: received message larger than max (11000000 vs. 10485760)'),
    ),
  }),
  ...failing('not_json', 'not valid JSON', {
    'sends an HTML page with status 200': errorPage,
  }),
  ...failing('not_json', 'empty body', {
    'sends an empty body with status 200': withBody(''),
  }),
  ...failing('not_json', 'not valid JSON: it ends after … characters', {
    'sends truncated JSON': withBody('{"state":{"valsets":[{"nonce":"1"'),
  }),
  ...failing('not_json', 'invalid gzip encoding: …', {
    'sends a body that is not gzip with Content-Encoding: gzip': badEncoding,
  }),
  ...failing('not_json', 'unsupported content encoding …', {
    'sends an unsupported content encoding': withStatus(200, '{}', { 'Content-Encoding': 'br' }),
  }),
  ...failing('not_json', 'not valid UTF-8', {
    'sends invalid UTF-8': invalidUtf8,
  }),
  ...failing('schema', 'not a module_state document: none of its fields is present: not found', {
    'sends an error body with status 200': withBody(error(5, 'not found')),
  }),
  ...failing('schema', 'not a module_state document: none of its fields is present', {
    'sends a document without state': withBody('{}'),
  }),
  ...failing('regression', 'hub height … is below … of the previous document', {
    'sends a lower hub height than before': withHeight('1'),
  }),
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
