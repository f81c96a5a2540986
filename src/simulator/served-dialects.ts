import type { QueryResponse } from './query-service.js';

/*
 * The responses as the nodes of a public chain send them: at their paths, with their names, and with unpacked claims
 * (docs/real-chains.md). The simulated chain itself has the neutral names.
 */

interface Dialect {
  /** The beginning of the paths, and of the neutral paths in their place. */
  readonly path: readonly [own: string, neutral: string];
  /** Names of keys, and of the values of `coin_type`, by the neutral name. */
  readonly names: Readonly<Record<string, string>>;
}

export const dialects = {
  peggy: {
    path: ['/peggy/', '/bridge/'],
    names: {
      bridge_id: 'peggy_id',
      bridge_external_address: 'bridge_ethereum_address',
      average_external_block_time: 'average_ethereum_block_time',
      hub_coin_denom: 'cosmos_coin_denom',
      hub_coin_erc20_contract: 'cosmos_coin_erc20_contract',
      external_address: 'ethereum_address',
      last_observed_external_height: 'last_observed_ethereum_height',
      external_blacklist: 'ethereum_blacklist',
      external_event_nonce: 'ethereum_event_nonce',
      external_event_height: 'ethereum_event_height',
    },
  },
  zeta: {
    path: ['/zeta-chain/', '/chain/'],
    names: { native_fees: 'zeta_fees', finalized_native_height: 'finalized_zeta_height', Native: 'Zeta' },
  },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof dialects;

const NEUTRAL_PATHS = Object.values(dialects).map(({ path: [, neutral] }) => neutral);

/** The neutral path of a request; `undefined` if a node of the chain does not serve it. */
export function neutralPath(dialect: DialectName, path: string): string | undefined {
  const [own, neutral] = dialects[dialect].path;
  if (path.startsWith(own)) return neutral + path.slice(own.length);
  return NEUTRAL_PATHS.some((each) => path.startsWith(each)) ? undefined : path;
}

export function pathIn(dialect: DialectName, path: string): string | undefined {
  const [own, neutral] = dialects[dialect].path;
  return path.startsWith(neutral) ? own + path.slice(neutral.length) : undefined;
}

export function responseIn(dialect: DialectName, response: QueryResponse): QueryResponse {
  const { names }: Dialect = dialects[dialect];
  const json: unknown = JSON.parse(response.body.toString());
  return { ...response, body: Buffer.from(JSON.stringify(renamed(json, new Map(Object.entries(names))))) };
}

function renamed(json: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(json)) return json.map((entry) => renamed(entry, names));
  if (typeof json !== 'object' || json === null) return json;
  if ('type_url' in json && 'value' in json) return unpackedClaim(String(json.type_url), String(json.value));
  return Object.fromEntries(
    Object.entries(json).map(([key, value]: [string, unknown]) => [
      names.get(key) ?? key,
      key === 'coin_type' && typeof value === 'string' ? (names.get(value) ?? value) : renamed(value, names),
    ]),
  );
}

/** The fields of the messages of Injective by their number, from 1 on. Numbers are strings, too. */
const CLAIM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  MsgDepositClaim: [
    'event_nonce',
    'block_height',
    'token_contract',
    'amount',
    'ethereum_sender',
    'cosmos_receiver',
    'orchestrator',
    'data',
  ],
  MsgWithdrawClaim: ['event_nonce', 'block_height', 'batch_nonce', 'token_contract', 'orchestrator'],
  MsgValsetUpdatedClaim: [
    'event_nonce',
    'valset_nonce',
    'block_height',
    'members',
    'reward_amount',
    'reward_token',
    'orchestrator',
  ],
};

function unpackedClaim(typeUrl: string, value: string): object {
  const message = typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
  const names = CLAIM_FIELDS[message] ?? [];
  const fields = protobufFields(Buffer.from(value, 'base64'));
  const entries = names.map((name, index) => {
    const values = fields.filter(({ number }) => number === index + 1).map((field) => field.value);
    return [name, name === 'members' ? values.map(parseMember) : String(values[0] ?? '')];
  });
  return { '@type': `/injective.peggy.v1.${message}`, ...Object.fromEntries(entries) };
}

function parseMember(value: Buffer | number): object {
  const [power, address] = typeof value === 'number' ? [] : protobufFields(value);
  return { power: String(power?.value), ethereum_address: String(address?.value) };
}

/** The fields of a message that has integers and strings (oracle.ts encodes it). */
function protobufFields(bytes: Buffer): { readonly number: number; readonly value: Buffer | number }[] {
  const fields = [];
  let offset = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = bytes.readUInt8(offset);
      offset += 1;
      value += (byte % 0x80) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (offset < bytes.length) {
    const tag = readVarint();
    const length = readVarint();
    const isText = tag % 8 === 2;
    fields.push({ number: Math.floor(tag / 8), value: isText ? bytes.subarray(offset, offset + length) : length });
    if (isText) offset += length;
  }
  return fields;
}
