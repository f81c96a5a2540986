import fc from 'fast-check';
import { inspect } from 'node:util';
import { test } from 'vitest';
import { stringify } from 'yaml';
import { parseConfig } from '../support/config.js';
import { formatConfig } from '../../src/config/loader.js';
import { fuzzRuns } from '../support/fuzz.js';

test('no file makes the parser throw', () => {
  const tokens = fc.constantFrom('targets', 'name', 'bridge', 'url', 'chains', '__proto__', '1', 'https://a.example');
  const value = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 5 },
      tokens,
      fc.string(),
      fc.constant(null),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(tokens, tie('node'), { maxKeys: 4 }),
    ),
  })).node;
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^(?:targets|: |- |\n|---|<<|[ \t[\]{}&*!"'|>#?,%ax])*$/),
    value.map((node) => stringify(node)),
  );
  fc.assert(
    fc.property(text, (yaml) => typeof parseConfig(yaml, 'b').ok === 'boolean'),
    { numRuns: fuzzRuns(100) },
  );
});

test('no configuration makes the parser throw or quote a secret', () => {
  const sections = ['basic_auth', 'authorization', 'http_headers', 'tls_config', 'proxy_url', '__proto__'];
  const settings = ['username', 'password', 'credentials', 'type', 'values', 'secrets', 'X-Key', 'ca', 'key'];
  const keys = fc.constantFrom(...sections, ...settings);
  const secret = fc.constantFrom('hunter2', 'u:hunter2', 'http://u:hunter2@p/', 'Bearer hunter2', 'hunter2\nhunter2');
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      secret,
      fc.constantFrom(null, true, 1),
      fc.array(tie('node'), { maxLength: 2 }),
      fc.dictionary(keys, tie('node'), { maxKeys: 4 }),
    ),
  }));
  const endpoint = fc.dictionary(keys, node, { maxKeys: 5 });
  fc.assert(
    fc.property(endpoint, (own) => {
      const text = stringify({ targets: [{ name: 'a', bridge: { url: 'https://a.example', ...own } }] });
      const result = parseConfig(text, 'b');
      // User names and the values of headers are not secret.
      const printed = result.ok ? formatConfig(result.config).replaceAll(/^ +(?:username:|-) .*$/gm, '') : '';
      return !`${inspect(result.ok ? result.warnings : result, { depth: 9 })}${printed}`.includes('hunter2');
    }),
    { numRuns: fuzzRuns(150) },
  );
});
