import { describe, expect, it } from 'vitest';
import { similarName } from '../../src/config/yaml.js';

const NAMES = ['interval', 'timeout', 'stale_after', 'max_body_size', 'url', 'BridgeBatchUnsigned'];

describe('the name that was meant', () => {
  it.each([
    ['intervall', 'interval'],
    ['Interval', 'interval'],
    ['tiemout', 'timeout'],
    ['staleafter', 'stale_after'],
    ['max-body-size', 'max_body_size'],
    ['ulr', 'url'],
    ['BatchUnsigned', 'BridgeBatchUnsigned'],
    ['body', 'max_body_size'],
    ['in', undefined],
    ['jitter', undefined],
    ['x'.repeat(1_000_000), undefined],
  ])('of %.20s is %s', (name, meant) => {
    expect(similarName(name, NAMES)).toBe(meant);
  });
});
