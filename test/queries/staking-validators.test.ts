import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../src/http/client.js';
import { sendQuery } from '../../src/queries/send-query.js';
import type { QueryResult } from '../../src/queries/query.js';
import { type StakingValidators, validators } from '../../src/queries/validator-queries.js';
import { endpointUrl } from '../support/config.js';
import { listenOnFreePort } from '../support/ports.js';

const client = createClient('test');
const limits = { timeoutMs: 2000, maxBodyBytes: 2 ** 20 };
const requested: string[] = [];
/** Sent with status 404. */
const REFUSED = '<html>404</html>';

afterEach(() => {
  requested.length = 0;
});

/** Reads the validators of a node that responds to each request with the next of these bodies, and then with the last. */
async function listFrom(bodies: readonly unknown[], delayMs = 0): Promise<QueryResult<StakingValidators>> {
  const server = createServer((request, response) => {
    const body = bodies[Math.min(requested.length, bodies.length - 1)];
    requested.push(request.url ?? '');
    if (body === REFUSED) response.statusCode = 404;
    setTimeout(() => response.end(typeof body === 'string' ? body : JSON.stringify(body)), delayMs);
  });
  const node = { url: endpointUrl(`http://127.0.0.1:${await listenOnFreePort(server)}`), limits };
  const request = { key: '', path: validators.path as string };
  return (await sendQuery(node, validators, request, client)).result;
}

async function validatorsFrom(bodies: readonly unknown[]): Promise<StakingValidators> {
  const result = await listFrom(bodies);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

async function nameOf(moniker: unknown): Promise<string | undefined> {
  return (await validatorsFrom([{ validators: [validator('qqqq', moniker)] }])).names.get('qqqq');
}

const validator = (data: string, moniker: unknown) => ({
  operator_address: `injvaloper1${data}cccccc`,
  description: { moniker, identity: '', website: 'https://example.org' },
  status: 'BOND_STATUS_BONDED',
});

describe('the names of validators', () => {
  it('are those of all pages', async () => {
    const found = await validatorsFrom([
      { validators: [validator('qqqq', 'Alpha')], pagination: { next_key: 'a+b/c=', total: '2' } },
      { validators: [validator('pppp', 'Beta')], pagination: { next_key: null, total: '0' } },
    ]);
    expect(found).toEqual({
      names: new Map([
        ['qqqq', 'Alpha'],
        ['pppp', 'Beta'],
      ]),
      contacts: new Map(
        ['qqqq', 'pppp'].map((key) => [key, { securityContact: null, website: 'https://example.org' }]),
      ),
      operators: new Map(
        ['qqqq', 'pppp'].map((key) => [key, { address: `injvaloper1${key}cccccc`, consensusAddress: undefined }]),
      ),
    });
    expect(requested).toEqual([
      '/cosmos/staking/v1beta1/validators?pagination.limit=1000',
      '/cosmos/staking/v1beta1/validators?pagination.limit=1000&pagination.key=a%2Bb%2Fc%3D',
    ]);
  });

  it('are rejected after ten pages, as a node can repeat a key for ever', async () => {
    expect(await listFrom([{ validators: [], pagination: { next_key: 'again' } }])).toEqual({
      ok: false,
      error: {
        reason: 'too_large',
        message: expect.stringMatching(/^127\.0\.0\.1:\d+\/cosmos\/staking\/v1beta1\/validators: more than 10 pages$/),
      },
      isRefused: false,
    });
    expect(requested).toHaveLength(10);
  });

  it('are refused when the first page is, and not when a further one is, because the node serves the path', async () => {
    expect(await listFrom([REFUSED])).toMatchObject({ isRefused: true });
    requested.length = 0;
    const further = await listFrom([{ validators: [], pagination: { next_key: 'AQ==' } }, REFUSED]);
    expect(further).toMatchObject({ error: { reason: 'status' }, isRefused: false });
  });

  it('have one deadline for all pages', async () => {
    const result = await listFrom([{ validators: [], pagination: { next_key: 'again' } }], 450);
    expect(result).toMatchObject({
      ok: false,
      error: { reason: 'timeout', message: expect.stringMatching(/timed out after 2000 ms \(poll\.timeout\)$/) },
    });
    expect(requested.length).toBeLessThan(6);
  });

  it.each([
    ['not a list', { validators: 7 }],
    ['an array', []],
    ['an error body', { code: 12, message: 'Not Implemented', details: [] }],
    ['a list without validators', { validators: [] }],
  ])('are rejected if the response is %s', async (_, body) => {
    expect(await listFrom([body])).toMatchObject({ ok: false, error: { reason: 'schema' } });
  });

  it('leave out validators without address or name, and keep the first name of an address', async () => {
    const rows = [
      null,
      7,
      {},
      { operator_address: 'injvaloper1qqqqcccccc' },
      { operator_address: 'injvaloper1qqqqcccccc', description: null },
      { operator_address: 5, description: { moniker: 'No address' } },
      validator('pppp', 5),
      validator('pppp', '   '),
      validator('qqqq', 'First'),
      validator('qqqq', 'Second'),
    ];
    expect(await validatorsFrom([{ validators: rows }])).toMatchObject({ names: new Map([['qqqq', 'First']]) });
  });

  it('come with the consensus addresses of ed25519 keys', async () => {
    const key = 'bDO9bUrbyg0f1pTpmjjZU5cgsweCWdwL6HUVnsKJi7k=';
    const addressOf = async (consensus_pubkey: unknown) =>
      (await validatorsFrom([{ validators: [{ ...validator('qqqq', 'Alpha'), consensus_pubkey }] }])).operators.get(
        'qqqq',
      )?.consensusAddress;
    expect(await addressOf({ '@type': '/cosmos.crypto.ed25519.PubKey', key })).toMatch(/^injvalcons1lth4cv5tkn2f/);
    expect(await addressOf({ '@type': '/cosmos.crypto.secp256k1.PubKey', key })).toBeUndefined();
    expect(await addressOf({ '@type': '/cosmos.crypto.ed25519.PubKey', key: 7 })).toBeUndefined();
    expect(await addressOf('injvalconspub1zcjduepq')).toBeUndefined();
  });

  it('come with the published contacts, cleaned and truncated', async () => {
    const published = (key: string, security_contact: unknown, website: unknown) => ({
      operator_address: `injvaloper1${key}cccccc`,
      description: { moniker: '', security_contact, website },
    });
    const rows = [
      published('qqqq', 'ops@\u202Eexample.org\n', 'https://example.org'),
      published('qqqq', 'later@example.org', ''),
      published('pppp', '', 'x'.repeat(500)),
      published('zzzz', '  ', ''),
      published('rrrr', 5, null),
    ];
    expect(await validatorsFrom([{ validators: rows }])).toMatchObject({
      contacts: new Map([
        ['qqqq', { securityContact: 'ops@ example.org', website: 'https://example.org' }],
        ['pppp', { securityContact: null, website: `${'x'.repeat(99)}…` }],
      ]),
    });
  });

  it('are cleaned, and cut to the length of a label', async () => {
    expect(await nameOf('Al\u0000pha\r\n\t\u001b[31m!\u0085')).toBe('Al pha [31m!');
    expect(await nameOf('x'.repeat(10_000))).toBe('x'.repeat(128));
    expect(await nameOf('\u0007'.repeat(10_000))).toBeUndefined();
  });
});
