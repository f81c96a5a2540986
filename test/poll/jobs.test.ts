import { expect, test } from 'vitest';
import { defaultConfig } from '../../src/config/config.js';
import { targetOptions } from '../../src/poll/jobs.js';

test('chains have built-in names, which configured ones override', () => {
  const config = { ...defaultConfig, chains: { '56': { name: 'bnb' }, '101': { name: 'localnet' } } };
  const { chains } = targetOptions(config, { name: 'a' }).labels;
  expect(chains).toEqual({
    '1': 'ethereum',
    '10': 'optimism',
    '56': 'bnb',
    '101': 'localnet',
    '105': 'sui',
    '137': 'polygon',
    '480': 'world',
    '900': 'solana',
    '7000': 'zetachain',
    '7001': 'zetachain-testnet',
    '8332': 'bitcoin',
    '8453': 'base',
    '42161': 'arbitrum',
    '43114': 'avalanche',
    '2015140': 'ton',
    '11155111': 'sepolia',
  });
});
