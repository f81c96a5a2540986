import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/parser.js';
import { withBridge, withCrosschain, withUrl, withTopLevel, withName } from './sample-files.js';

const DURATION = 'such as 30s, 1m30s or 500ms';
const ADDRESS = 'expected an http or https URL without user, query and fragment, such as https://node.example.org';
const NAME = 'expected 1 to 128 characters without control characters and lone surrogates';
const INT64 = 'expected a positive integer in decimal digits, at most 9223372036854775807';
const BRIDGE_KEYS =
  'url, dialect, power_threshold, validator_names, watch, basic_auth, authorization, http_headers, tls_config, proxy_url';
const TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';
const TARGETS = `expected a list of at least one target, such as ${TARGET}`;
const WHOLE = `expected a mapping with poll, limits, targets, tokens, chains, validators, such as targets: ${TARGET}`;
const TOKEN = '0x0000000000000000000000000000000000000001';

const invalidFiles: readonly (readonly [title: string, text: string, ...problems: string[]])[] = [
  ['an empty file', '', `bridge.yaml: is empty — ${WHOLE}`],
  ['a file with only a comment', '# later\n', `bridge.yaml: is empty — ${WHOLE}`],
  ['a string', 'hello', `bridge.yaml: "hello" — ${WHOLE}`],
  ['a list', '- targets', `bridge.yaml: is a list — ${WHOLE}`],
  [
    'two documents',
    'targets: []\n---\ntargets: []',
    'bridge.yaml:2: a second document starts here — expected a single document',
  ],
  ['a syntax error', 'targets:\n  - name: "a\n', 'bridge.yaml:3:1: not YAML: Missing closing "quote'],
  [
    'two syntax errors',
    'poll: a: b\nlimits: c: d\n',
    'bridge.yaml:1:7: not YAML: Nested mappings are not allowed in compact mappings',
    'bridge.yaml:2:9: not YAML: Nested mappings are not allowed in compact mappings',
  ],
  ['a tab for indentation', 'poll:\n\tinterval: 30s', 'bridge.yaml:2:1: not YAML: Tabs are not allowed as indentation'],
  ['a duplicate key', 'poll: {}\npoll: {}', 'bridge.yaml:2:1: duplicate key — expected each key once'],
  ['a list as a key', '? [a]\n: b', 'bridge.yaml:1:3: a key is a list or a mapping — expected a string'],
  [
    'a tag',
    withName('!include other.yaml'),
    'bridge.yaml:3:11: tags are not supported — expected a plain value; quote a string that starts with !',
  ],
  [
    'an alias without an anchor',
    withName('*other'),
    'bridge.yaml: undefined alias — expected its anchor (&name) before it; quote a string that starts with *',
  ],
  [
    'too many aliases',
    `a: &a [x, x]\nb: &b [${'*a,'.repeat(60)}]\nc: [${'*b,'.repeat(60)}]`,
    'bridge.yaml: aliases expand to more than 100 copies — expected fewer',
  ],
  [
    'an alias of a mapping that contains it',
    'targets: &a\n  - name: *a',
    `bridge.yaml:2: targets[0].name: is a list — ${NAME}`,
    'bridge.yaml:2: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  ['missing targets', 'poll: {}', `bridge.yaml: targets: is missing — ${TARGETS}`],
  ['an empty list of targets', 'targets: []', `bridge.yaml:1: targets: is empty — ${TARGETS}`],
  ['empty targets', 'targets:', `bridge.yaml:1: targets: is empty — ${TARGETS}`],
  ['targets that are a mapping', 'targets: {name: a}', `bridge.yaml:1: targets: is a mapping — ${TARGETS}`],
  [
    'a target that is a string',
    'targets: [mainnet]',
    'bridge.yaml:1: targets[0]: "mainnet" — expected a mapping with name, bridge, crosschain',
  ],
  [
    'a target without a name',
    'targets:\n  - bridge: {url: "https://a.example"}',
    `bridge.yaml:2: targets[0].name: is missing — ${NAME}`,
  ],
  [
    'a target without an endpoint',
    'targets:\n  - name: a',
    'bridge.yaml:2: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  [
    'an empty target',
    'targets: [{}]',
    `bridge.yaml:1: targets[0].name: is missing — ${NAME}`,
    'bridge.yaml:1: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  [
    'an endpoint without a URL',
    'targets:\n  - name: a\n    bridge: {}',
    `bridge.yaml:3: targets[0].bridge.url: is missing — ${ADDRESS}`,
  ],
  [
    'an empty endpoint',
    'targets:\n  - name: a\n    bridge:',
    `bridge.yaml:3: targets[0].bridge: is empty — expected a mapping with ${BRIDGE_KEYS}`,
  ],
  [
    'two targets with the same name',
    `${withName('a')}\n  - name: b\n    bridge: {url: "https://b.example"}\n  - name: a\n    bridge: {url: "nonsense"}`,
    `bridge.yaml:7: targets[2].bridge.url: is not an http or https URL — ${ADDRESS}`,
    'bridge.yaml:6: targets[2].name: "a" is also the name of targets[0] — expected a unique name',
  ],
  ['an empty name', withName('""'), `bridge.yaml:3: targets[0].name: is empty — ${NAME}`],
  [
    'a name of 129 characters',
    withName('n'.repeat(129)),
    `bridge.yaml:3: targets[0].name: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…" — ${NAME}`,
  ],
  ['a name with a line break', withName(String.raw`"a\nb"`), `bridge.yaml:3: targets[0].name: "a\\nb" — ${NAME}`],
  [
    'a name with a lone surrogate',
    withName(String.raw`"a\ud800"`),
    `bridge.yaml:3: targets[0].name: "a\\ud800" — ${NAME}`,
  ],
  ['a name that is a boolean', withName('true'), `bridge.yaml:3: targets[0].name: is the boolean true — ${NAME}`],
  ['an unknown key', withTopLevel('pol: {interval: 30s}'), 'bridge.yaml:4: pol: unknown key — did you mean poll?'],
  [
    'an unknown key that is similar to no other',
    withTopLevel('zzzzzzzz: 1'),
    'bridge.yaml:4: zzzzzzzz: unknown key — expected one of poll, limits, targets, tokens, chains, validators',
  ],
  [
    'an unknown key of an endpoint',
    withBridge('dialekt: peggy'),
    'bridge.yaml:5: targets[0].bridge.dialekt: unknown key — did you mean dialect?',
  ],
  [
    'an unknown key with unusual characters',
    withTopLevel(String.raw`"a b\n": 1`),
    'bridge.yaml:4: ["a b\\n"]: unknown key — expected one of poll, limits, targets, tokens, chains, validators',
  ],
  [
    'the key __proto__',
    withTopLevel('__proto__: {interval: 30s}'),
    'bridge.yaml:4: __proto__: unknown key — expected one of poll, limits, targets, tokens, chains, validators',
  ],
  [
    'a key of Prometheus that is not supported',
    withBridge('oauth2: {client_secret: hunter2}'),
    `bridge.yaml:5: targets[0].bridge.oauth2: unknown key — expected one of ${BRIDGE_KEYS}`,
  ],
  [
    'a duration without a unit',
    withTopLevel('poll: {interval: 30}'),
    `bridge.yaml:4: poll.interval: "30" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'a duration with a fraction',
    withTopLevel('poll: {interval: 1.5s}'),
    `bridge.yaml:4: poll.interval: "1.5s" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'an interval of zero',
    withTopLevel('poll: {interval: 0s}'),
    `bridge.yaml:4: poll.interval: "0s" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'an interval above the limit of timers',
    withTopLevel('poll: {interval: 25d, stale_after: 7d}'),
    `bridge.yaml:4: poll.interval: "25d" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'an empty timeout',
    withTopLevel('poll:\n  timeout:'),
    `bridge.yaml:5: poll.timeout: is empty — expected a duration from 100ms to 1h, ${DURATION}`,
  ],
  [
    'a poll that is a string',
    withTopLevel('poll: 30s'),
    'bridge.yaml:4: poll: "30s" — expected a mapping with interval, timeout, stale_after, max_body_size',
  ],
  [
    'a stale_after that is too short',
    withTopLevel('poll:\n  interval: 4m\n  timeout: 90s\n  stale_after: 5m'),
    'bridge.yaml:7: poll.stale_after: stale_after (5m) is below interval (4m) + timeout (1m30s) — expected at least 5m30s',
  ],
  [
    'an interval too long for the default stale_after',
    withTopLevel('poll: {interval: 10m}'),
    'bridge.yaml:4: poll.stale_after: stale_after (5m) is below interval (10m) + timeout (20s) — expected at least 10m20s',
  ],
  [
    'a size with an unknown unit',
    withTopLevel('poll: {max_body_size: 64 Mb}'),
    'bridge.yaml:4: poll.max_body_size: "64 Mb" — expected a size from 1KiB to 511MiB, such as 64MiB, 10MB or plain bytes',
  ],
  [
    'a size above the maximum length of strings',
    withTopLevel('poll: {max_body_size: 512MiB}'),
    'bridge.yaml:4: poll.max_body_size: "512MiB" — expected a size from 1KiB to 511MiB, such as 64MiB, 10MB or plain bytes',
  ],
  [
    'a limit of zero series',
    withTopLevel('limits: {max_series_per_family: 0}'),
    'bridge.yaml:4: limits.max_series_per_family: "0" — expected an integer from 1 to 100000',
  ],
  [
    'a limit with a fraction',
    withTopLevel('limits: {max_series_per_family: 10.5}'),
    'bridge.yaml:4: limits.max_series_per_family: "10.5" — expected an integer from 1 to 100000',
  ],
  [
    'a URL of another scheme',
    withUrl('ftp://a.example'),
    `bridge.yaml:3: targets[0].bridge.url: is not an http or https URL — ${ADDRESS}`,
  ],
  [
    'a URL without a scheme',
    withUrl('a.example:1317'),
    `bridge.yaml:3: targets[0].bridge.url: is not an http or https URL — ${ADDRESS}`,
  ],
  [
    'an invalid URL',
    withUrl('"https://exa mple:99999999/"'),
    `bridge.yaml:3: targets[0].bridge.url: is not a valid URL — ${ADDRESS}`,
  ],
  [
    'a URL with credentials',
    withUrl('https://user:hunter2@a.example/lcd'),
    `bridge.yaml:3: targets[0].bridge.url: https://a.example/lcd has a user name or password — ${ADDRESS}`,
  ],
  [
    'a URL with a query',
    withUrl('https://a.example/lcd?token=hunter2'),
    `bridge.yaml:3: targets[0].bridge.url: https://a.example/lcd has a query — ${ADDRESS}`,
  ],
  [
    'a URL with a fragment',
    withUrl('"https://a.example/lcd#hunter2"'),
    `bridge.yaml:3: targets[0].bridge.url: https://a.example/lcd has a fragment — ${ADDRESS}`,
  ],
  [
    'a URL that is a list',
    withUrl('["https://a.example"]'),
    `bridge.yaml:3: targets[0].bridge.url: is a list — ${ADDRESS}`,
  ],
  [
    'an unknown dialect',
    withBridge('dialect: zeta'),
    'bridge.yaml:5: targets[0].bridge.dialect: "zeta" — expected one of auto, neutral, peggy',
  ],
  [
    'an unknown dialect of the other endpoint',
    withCrosschain('dialect: peggy'),
    'bridge.yaml:5: targets[0].crosschain.dialect: "peggy" — expected one of auto, neutral, zeta',
  ],
  ['a window of 0', withCrosschain('window: 0'), `bridge.yaml:5: targets[0].crosschain.window: "0" — ${INT64}`],
  [
    'a threshold of 0',
    withBridge('power_threshold: 0.000'),
    'bridge.yaml:5: targets[0].bridge.power_threshold: "0.000" — expected a decimal greater than 0 and at most 1, such as 0.6667',
  ],
  [
    'a threshold in percent',
    withBridge('power_threshold: 66.67'),
    'bridge.yaml:5: targets[0].bridge.power_threshold: "66.67" — expected a decimal greater than 0 and at most 1, such as 0.6667',
  ],
  [
    'a threshold barely above 1',
    withBridge('power_threshold: 1.0000000000000000000000001'),
    'bridge.yaml:5: targets[0].bridge.power_threshold: "1.0000000000000000000000001" — expected a decimal greater than 0 and at most 1, such as 0.6667',
  ],
  [
    'a watch entry that is not an address',
    withBridge('watch: ["0x12", inj1qqqqqqqqqqq]'),
    'bridge.yaml:5: targets[0].bridge.watch[0]: "0x12" — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'a watch that is a string',
    withBridge('watch: inj1qqqqqqqqqqq'),
    'bridge.yaml:5: targets[0].bridge.watch: "inj1qqqqqqqqqqq" — expected a list',
  ],
  [
    'a window in hexadecimal',
    withCrosschain('window: 0x10'),
    `bridge.yaml:5: targets[0].crosschain.window: "0x10" — ${INT64}`,
  ],
  [
    'a window with a leading zero',
    withCrosschain('window: 0500'),
    `bridge.yaml:5: targets[0].crosschain.window: "0500" — ${INT64}`,
  ],
  [
    'a window beyond 64 bits',
    withCrosschain('window: 9223372036854775808'),
    `bridge.yaml:5: targets[0].crosschain.window: "9223372036854775808" — ${INT64}`,
  ],
  [
    'a limit beyond 32 bits',
    withCrosschain('limit: 4294967296'),
    'bridge.yaml:5: targets[0].crosschain.limit: "4294967296" — expected a positive integer in decimal digits, at most 4294967295',
  ],
  [
    'a rate in scientific notation',
    withCrosschain('rate: 1e18'),
    'bridge.yaml:5: targets[0].crosschain.rate: "1e18" — expected a positive integer in decimal digits, at most 2^256 - 1',
  ],
  [
    'an empty list of hub chain ids',
    withCrosschain('hub_chain_ids: []'),
    'bridge.yaml:5: targets[0].crosschain.hub_chain_ids: is empty — expected at least one chain id, or no such key',
  ],
  [
    'a hub chain id that is a name',
    withCrosschain('hub_chain_ids: [zetachain_7000-1]'),
    'bridge.yaml:5: targets[0].crosschain.hub_chain_ids[0]: "zetachain_7000-1" — expected a chain id: at most 20 decimal digits, such as 7000',
  ],
  [
    'a token without a contract',
    withTopLevel('tokens: [{symbol: USDT}]'),
    'bridge.yaml:4: tokens[0].contract: is missing — expected 0x followed by 40 hexadecimal digits',
  ],
  [
    'an invalid token contract',
    withTopLevel('tokens: [{contract: "0x12", symbol: USDT}]'),
    'bridge.yaml:4: tokens[0].contract: "0x12" — expected 0x followed by 40 hexadecimal digits',
  ],
  [
    'two tokens with the same contract',
    withTopLevel(
      `tokens:\n  - {contract: "0x${'A'.repeat(40)}", symbol: A}\n  - {contract: "0x${'a'.repeat(40)}", symbol: B}`,
    ),
    'bridge.yaml:6: tokens[1].contract: "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is also the contract of tokens[0] — expected a unique contract',
  ],
  [
    'a token without symbol and decimals',
    withTopLevel(`tokens: [{contract: "${TOKEN}"}]`),
    'bridge.yaml:4: tokens[0]: has neither symbol nor decimals — expected at least one of them',
  ],
  [
    'more decimals than an amount has digits',
    withTopLevel(`tokens: [{contract: "${TOKEN}", decimals: 78}]`),
    'bridge.yaml:4: tokens[0].decimals: "78" — expected an integer from 0 to 77',
  ],
  [
    'a symbol of 33 characters',
    withTopLevel(`tokens: [{contract: "${TOKEN}", symbol: ${'S'.repeat(33)}}]`),
    'bridge.yaml:4: tokens[0].symbol: "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS" — expected 1 to 32 characters without control characters and lone surrogates',
  ],
  [
    'chains that are a list',
    withTopLevel('chains: [ethereum]'),
    'bridge.yaml:4: chains: is a list — expected a mapping of chain ids to names',
  ],
  [
    'a chain id that is a name',
    withTopLevel('chains: {ethereum: 1}'),
    'bridge.yaml:4: chains.ethereum: is not a chain id — expected at most 20 decimal digits',
  ],
  ['a chain without a name', withTopLevel('chains: {1: }'), `bridge.yaml:4: chains.1: is empty — ${NAME}`],
];

describe('parseConfig', () => {
  test.each(invalidFiles)('rejects %s', (_title, text, ...problems) => {
    expect(parseConfig(text, 'bridge.yaml')).toEqual({ ok: false, problems });
  });

  test('reports all problems of a file at once', () => {
    const text = `
poll: {interval: 1, timeout: 1h, stale_after: 1m, jitter: 1s}
limits: {max_series_per_family: many}
targets:
  - name: a
    bridge: {url: "https://a.example", dialect: zeta}
  - name: a
    crosschain: {dialect: zeta}
  - {}
tokens: [{contract: USDT}]
chains: {one: ethereum}
scrape_configs: []
`;
    expect(parseConfig(text, 'b')).toEqual({
      ok: false,
      problems: [
        `b:2: poll.interval: "1" — expected a duration from 100ms to 1d, ${DURATION}`,
        'b:2: poll.jitter: unknown key — expected one of interval, timeout, stale_after, max_body_size',
        'b:3: limits.max_series_per_family: "many" — expected an integer from 1 to 100000',
        'b:6: targets[0].bridge.dialect: "zeta" — expected one of auto, neutral, peggy',
        `b:8: targets[1].crosschain.url: is missing — ${ADDRESS}`,
        `b:9: targets[2].name: is missing — ${NAME}`,
        'b:9: targets[2]: has no endpoint — expected bridge, crosschain, or both',
        'b:7: targets[1].name: "a" is also the name of targets[0] — expected a unique name',
        'b:10: tokens[0].contract: "USDT" — expected 0x followed by 40 hexadecimal digits',
        'b:10: tokens[0]: has neither symbol nor decimals — expected at least one of them',
        'b:11: chains.one: is not a chain id — expected at most 20 decimal digits',
        'b:12: scrape_configs: unknown key — expected one of poll, limits, targets, tokens, chains, validators',
      ],
    });
  });

  test('reports at most 50 problems and the number of the others', () => {
    const result = parseConfig(
      withTopLevel(`chains: {${Array.from({ length: 1_000 }, (_, id) => `${id}: ""`).join(', ')}}`),
      'b',
    );
    const problems = result.ok ? [] : result.problems;
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toBe('and 950 more');
  });

  test('does not quote the user, password, query or fragment of a URL', () => {
    const urls = [
      'https://hunter2@a.example',
      'https://u:hunter2@a.example?key=hunter2#hunter2',
      'ftp://u:hunter2@a.example',
      'hunter2:x@a.example',
      '"https://u:hunter2 @a.example"',
      '!hunter2',
      '*hunter2',
      '"x" hunter2',
      '[hunter2',
    ];
    const results = urls.map((url) => JSON.stringify(parseConfig(withUrl(url), 'b')));
    expect(results.filter((result) => result.includes('hunter2'))).toEqual([]);
  });

  test('rejects a file with too many levels of nesting', () => {
    expect(parseConfig(`targets: ${'['.repeat(50_000)}`, 'b')).toMatchObject({ ok: false });
  });
});
