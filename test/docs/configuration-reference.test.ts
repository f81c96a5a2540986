import { describe, expect, test } from 'vitest';
import { endpoints, httpClientKeys } from '../../packaging/generate/configuration-reference.js';
import { commands } from '../../packaging/generate/commands.js';
import { configSettings } from '../../packaging/generate/settings.js';

describe('docs/configuration.md', () => {
  test('lists the keys of the HTTP client once, because all endpoints have the same', () => {
    const [first = '', ...others] = endpoints;
    expect(httpClientKeys(first).length).toBeGreaterThan(5);
    for (const endpoint of others) expect(httpClientKeys(endpoint), endpoint).toEqual(httpClientKeys(first));
  });

  test('describes every key and every flag', () => {
    const described = [...configSettings, ...commands.flatMap(({ options }) => options)];
    expect(described.filter(({ description }) => description === undefined || description === '')).toEqual([]);
  });
});
