/**
 * Documents of any size: those of a simulated bridge, which goes on by a block with each answer, and behind their rows those of a bridge that is
 * stuck, repeated with higher ids, heights and nonces and with other users. Validators and tokens stay the same, as during an incident on a real
 * chain.
 */
import { createModel } from '../../dist/simulator/model.js';

const START = { seed: 1, startTime: 1_800_000_000, blockTimeMs: 2000 };
const stuck = createModel({ ...START, scenario: 'stuck' });

/** The bridge whose node is served. */
export const model = createModel({ ...START, scenario: 'healthy' });

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

const moduleStateOf = (chain) => chain.moduleState().state;
const rateLimiterInputOf = (chain) => chain.rateLimiterInput({ limit: 500n, window: 500n });

export const documents = {
  module_state: {
    path: '/bridge/v1/module_state',
    body: grower(
      moduleStateOf,
      ['valsets', 'valset_confirms', 'batches', 'batch_confirms', 'attestations', 'unbatched_transfers'],
      'state',
    ),
  },
  rate_limiter_input: {
    path: '/chain/crosschain/rateLimiterInput',
    body: grower(rateLimiterInputOf, ['cctxs_pending']),
  },
};

/** Writes a body of approximately a size, another one at every call. */
function grower(documentOf, lists, envelope) {
  const repeated = repeatable(documentOf(stuck));
  const perCopy = lists.reduce((total, list) => total + JSON.stringify(repeated[list]).length, 0);
  const copiesOf = cached((key) => {
    const [list, copies] = key.split(' ');
    const all = Array.from({ length: Number(copies) }, (_, copy) => repeated[list].map((row) => rowOf(row, copy + 1)));
    return Buffer.from(all.flat().join(','));
  });
  return (bytes) => {
    model.advance(1);
    const root = documentOf(model);
    const copies = Math.max(0, Math.round((bytes - JSON.stringify(root).length) / perCopy));
    const fixed = Object.fromEntries(Object.entries(root).filter(([key]) => !lists.includes(key)));
    for (const field of LAST_IDS) if (field in fixed) fixed[field] = String(Number(fixed[field]) + copies * STRIDE);
    const parts = [JSON.stringify(fixed).slice(0, -1)];
    for (const list of lists) {
      const more = copiesOf(`${list} ${copies}`);
      const rows = JSON.stringify(root[list]).slice(0, -1);
      parts.push(`,"${list}":${rows}${root[list].length > 0 && more.length > 0 ? ',' : ''}`, more, ']');
    }
    parts.push('}');
    const text = envelope === undefined ? parts : [`{"${envelope}":`, ...parts, '}'];
    return Buffer.concat(text.map((part) => Buffer.from(part)));
  };
}

/** Without claims of batches and validator sets, which would be claims of something that the other rows do not show. */
function repeatable({ attestations, ...others }) {
  if (attestations === undefined) return others;
  return { ...others, attestations: attestations.filter(({ claim }) => claim.type_url.endsWith('MsgDepositClaim')) };
}

function cached(make) {
  const values = new Map();
  return (key) => {
    if (!values.has(key)) values.set(key, make(key));
    return values.get(key);
  };
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
