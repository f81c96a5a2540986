/**
 * Documents of any size, made of the rows of the simulator: they are repeated with increasing ids, heights and nonces and with
 * different users. Validators and tokens stay the same, as during an incident on a real chain.
 */
import { createModel } from '../../dist/simulator/model.js';

const model = createModel({ seed: 1, scenario: 'stuck', startTime: 1_800_000_000, blockTimeMs: 2000 });

const ALPHABET = '0123456789abcdef';
/** Fields that are unique to a row: their last characters are replaced. */
const UNIQUE = new Set([
  'sender',
  'dest_address',
  'signature',
  'index',
  'receiver',
  'tx_origin',
  'observed_hash',
  'ballot_index',
]);
/** Fields that increase from row to row. */
const COUNTED = new Set(['id', 'nonce', 'batch_nonce', 'tss_nonce', 'block', 'batch_timeout', 'height']);
/** More than the range of any counter within one document of the simulator. */
const STRIDE = 1_000_000;
const UNIQUE_CHARACTERS = 8;

/** The counters of the hub, which no id is above. */
const LAST_IDS = ['last_outgoing_batch_id', 'last_outgoing_pool_id'];

/** The lists that are extended. */
const GROWING = {
  module_state: ['valsets', 'valset_confirms', 'batches', 'batch_confirms', 'attestations', 'unbatched_transfers'],
  rate_limiter_input: ['cctxs_pending'],
};

export const documents = {
  module_state: {
    path: '/bridge/v1/module_state',
    body: (bytes) => grown(model.moduleState(), 'state', 'module_state', bytes),
  },
  rate_limiter_input: {
    path: '/chain/crosschain/rateLimiterInput',
    body: (bytes) =>
      grown(model.rateLimiterInput({ limit: 500n, window: 500n }), undefined, 'rate_limiter_input', bytes),
  },
};

/** A body of approximately this size. */
function grown(document, envelope, name, bytes) {
  const root = envelope === undefined ? document : document[envelope];
  const lists = GROWING[name];
  const fixed = Object.fromEntries(Object.entries(root).filter(([key]) => !lists.includes(key)));
  const room = bytes - JSON.stringify(fixed).length;
  const perCopy = lists.reduce((total, list) => total + JSON.stringify(root[list]).length, 0);
  const copies = Math.max(1, Math.round(room / perCopy));
  for (const field of LAST_IDS) if (field in fixed) fixed[field] = String(Number(fixed[field]) + (copies - 1) * STRIDE);
  const parts = [];
  for (const list of lists) {
    const rows = root[list].map((row) => JSON.stringify(row));
    parts.push(`,"${list}":[`);
    for (let copy = 0; copy < copies; copy += 1) {
      parts.push(copy === 0 ? '' : ',', (copy === 0 ? rows : root[list].map((row) => rowOf(row, copy))).join(','));
    }
    parts.push(']');
  }
  const text = JSON.stringify(fixed).slice(0, -1) + parts.join('') + '}';
  return Buffer.from(envelope === undefined ? text : `{"${envelope}":${text}}`);
}

function rowOf(row, copy) {
  return JSON.stringify(row, (key, value) => {
    if (COUNTED.has(key) && typeof value === 'string') return String(Number(value) + copy * STRIDE);
    if (UNIQUE.has(key) && value.length > UNIQUE_CHARACTERS) return value.slice(0, -UNIQUE_CHARACTERS) + unique(copy);
    if (key === 'claim') return { ...value, value: withNonce(value.value, copy) };
    return value;
  });
}

function unique(copy) {
  let rest = Math.imul(copy + 1, 0x9e3779b1) >>> 0;
  let text = '';
  for (let index = 0; index < UNIQUE_CHARACTERS; index += 1) {
    text += ALPHABET[rest & 15];
    rest >>>= 4;
  }
  return text;
}

/** The claim of a later event: field 1 of the message, at its start, is the nonce as a varint. */
function withNonce(base64, copy) {
  const bytes = Buffer.from(base64, 'base64');
  let end = 1;
  while (bytes[end] >= 0x80) end += 1;
  let nonce = 0;
  for (let at = end; at >= 1; at -= 1) nonce = nonce * 128 + (bytes[at] & 0x7f);
  const varint = [];
  for (let rest = nonce + copy * STRIDE; ; rest = Math.floor(rest / 128)) {
    varint.push(rest >= 128 ? (rest % 128) + 128 : rest);
    if (rest < 128) break;
  }
  return Buffer.concat([bytes.subarray(0, 1), Buffer.from(varint), bytes.subarray(end + 1)]).toString('base64');
}
