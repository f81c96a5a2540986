import { describe, expect, it } from 'vitest';
import { consensusAddress } from '../../src/chain/addresses.js';

describe('the consensus address of a validator', () => {
  /** Of a validator of the Cosmos Hub. */
  const key = Buffer.from('bDO9bUrbyg0f1pTpmjjZU5cgsweCWdwL6HUVnsKJi7k=', 'base64');

  it('is the hash of its key, with the prefix of its operator address', () => {
    expect(consensusAddress('cosmosvaloper1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq', key)).toBe(
      'cosmosvalcons1lth4cv5tkn2fc5yuy4xx6rj7wvzrpxkkqg3my5',
    );
    expect(consensusAddress('injvaloper1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqwvz75p', key)).toMatch(
      /^injvalcons1lth4cv5tkn2fc5yuy4xx6rj7wvzrpxkk.{6}$/,
    );
  });

  it('is unknown for an operator address or a key of another form', () => {
    expect(consensusAddress('inj1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqwvz75p', key)).toBeUndefined();
    expect(consensusAddress('valoper1qqqq', key)).toBeUndefined();
    expect(consensusAddress('injvaloper1qqqq', Buffer.alloc(33))).toBeUndefined();
  });
});
