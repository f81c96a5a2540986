import { describe, expect, test } from 'vitest';
import { parseConfig } from '../support/config.js';
import { problemLimits } from '../../src/problems/problems.js';
import { metricLabels } from '../../src/exposition/metrics-page.js';
import { withBridge, withCrosschain, withLabels, withUrl, withTopLevel, withName } from './sample-files.js';

const URL_EXPECTED = 'expected an http or https URL without user, query and fragment, such as https://node.example.org';
const TEXT = 'expected a text of 1 to 128 characters, without control characters';
const TOP_LEVEL =
  'is not a supported key — expected one of poll, limits, targets, tokens, chains, validators, problems, links, recorder';
const CHAIN_ID = 'expected a chain id of at most 20 decimal digits';
const TOKEN = '0x0000000000000000000000000000000000000001';
const BECH32 =
  'expected a bech32 address with a correct checksum, such as inj1…, or 0x followed by 40 hexadecimal digits';
const EXPLORER =
  'expected an http or https URL with {hash} in its path, query or fragment, such as https://explorer.example.org/{hash}';
const LABEL_NAME =
  'expected a label name of letters, digits and underscores that does not start with a digit or with __';

const NO_PROBLEM = `is not the name of a problem — expected one of ${Array.from(problemLimits.keys()).join(', ')}`;

const PROBLEM_KEYS = 'after, enabled, critical, warning, info, module_state, rate_limiter_input, external_contract';

/** Twenty values, each with aliases of the one before. */
const levels = (valueOf: (alias: string, level: number) => string): string =>
  Array.from({ length: 20 }, (_, index) => `a${index + 1}: &a${index + 1} ${valueOf(`*a${index}`, index)}`).join('\n');

/** One file for each kind of error. */
const invalidFiles: readonly (readonly [title: string, text: string, ...problems: string[]])[] = [
  ['no content', '# later\n', 'b: is empty'],
  ['two documents', 'a: b\n---\na: b', 'b:2:1: A second document starts here — expected a single document'],
  [
    'syntax errors, the first of each line',
    'poll: a: b: c\nlimits: "d\\x" e\n',
    'b:1:7: Nested mappings are not allowed in compact mappings',
    'b:2:11: Invalid escape sequence',
  ],
  ['a duplicate key', 'poll: {}\npoll: {}', 'b:2:1: poll is set twice'],
  ['a list as a key', '? [a]\n: b', 'b:1:3: With stringKeys, all keys must be strings'],
  ['a tag', withName('!include other.yaml'), 'b:3:11: Tags are not supported'],
  ['a directive', '%FOO\n---\na: b', 'b:1:1: Directives are not supported'],
  ['an alias without an anchor', withName('*other'), 'b: Unresolved alias (the anchor must be set before the alias)'],
  [
    'aliases that repeat a few values without end',
    `a0: &a0 [x, x]\n${levels((alias) => `[${`${alias},`.repeat(101)}]`)}`,
    'b: Excessive alias count indicates a resource exhaustion attack',
  ],
  [
    'merges that repeat a few values without end',
    `a0: &a0 {x: x}\n${levels((alias, level) => `{<<: [${`{<<: ${alias}, y${level}: ${alias}},`.repeat(101)}]}`)}`,
    'b: Excessive alias count indicates a resource exhaustion attack',
  ],
  ['a merge of anything but mappings', 'poll: {<<: 30s}', 'b: Merge sources must be maps or map aliases'],
  ['a merge of a mapping into itself', 'a: &a {<<: *a}', 'b: Maximum call stack size exceeded'],
  [
    'a merge of a key that is set twice',
    withTopLevel('poll: {interval: 1m, interval: 1m}\nlimits: {<<: {}, <<: {}}'),
    'b:4:22: interval is set twice',
    'b:5:18: ["<<"] is set twice',
  ],
  [
    'problems of merged values, at the mapping that merges them',
    `targets:
  - name: a
    bridge: &base {url: "https://a.example", tls_config: {server_name: a}}
  - name: b
    bridge: &next {<<: [*base, {dialect: zeta}], url: "https://b.example"}
  - name: c
    bridge: {<<: *next, tls_config: {}, url: x}`,
    'b:5:5: targets[1].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
    `b:7:41: targets[2].bridge.url: ${URL_EXPECTED}`,
    'b:7:5: targets[2].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
  ],
  [
    'problems of aliased values, at their lines',
    `targets: [{name: a, bridge: &a {url: "https://a.example",\n dialect: zeta}}, {name: b, bridge: *a}]`,
    'b:2:2: targets[0].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
    'b:2:2: targets[1].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
  ],
  ['a missing key', 'poll: {}', 'b:1:1: targets: expected at least one target'],
  ['a missing value', 'targets:', 'b:1:1: targets: is empty'],
  [
    'a string instead of a mapping',
    'targets:\n  - name: a\n    bridge: http://u:hunter2@a.example',
    'b:3:5: targets[0].bridge: Invalid input: expected object, received string',
  ],
  [
    'a target without name and endpoint',
    'targets: [{}]',
    'b:1:11: targets[0].name: is missing',
    'b:1:11: targets[0]: expected bridge, crosschain or both',
  ],
  [
    'an endpoint without a node',
    'targets: [{name: a, bridge: {dialect: peggy, external: {}}}]',
    'b:1:46: targets[0].bridge.external.url: is missing',
    'b:1:21: targets[0].bridge.url: is missing',
  ],
  [
    'url together with nodes, whose keys are not beside them',
    withBridge(
      'nodes: [{url: "https://b.example"}]\n      basic_auth: {username: u}\n      proxy_url: http://p.example',
    ),
    'b:5:7: targets[0].bridge.nodes: cannot be combined with url',
    'b:6:7: targets[0].bridge.basic_auth: belongs to each node of nodes',
    'b:7:7: targets[0].bridge.proxy_url: belongs to each node of nodes',
  ],
  [
    'invalid nodes, and keys of the document in one of them',
    'targets: [{name: a, bridge: {nodes: [{dialect: peggy}, {url: x}]}, crosschain: {nodes: []}}]',
    'b:1:38: targets[0].bridge.nodes[0].url: is missing',
    'b:1:39: targets[0].bridge.nodes[0].dialect: is not a supported key — expected one of url, basic_auth, authorization, http_headers, tls_config, proxy_url, proxy_from_environment, no_proxy',
    `b:1:57: targets[0].bridge.nodes[1].url: ${URL_EXPECTED}`,
    'b:1:81: targets[0].crosschain.nodes: Too small: expected array to have >=1 items',
  ],
  [
    'two targets with the same name, after another problem',
    `${withName('a')}\n  - name: a\n    bridge: {url: ""}`,
    `b:5:14: targets[1].bridge.url: ${URL_EXPECTED}`,
    'b:4:5: targets[1].name: is not unique',
  ],
  [
    'unknown keys',
    withTopLevel('pol: {}\n"a b\\n": 1\n"<<": {}'),
    `b:4:1: pol: ${TOP_LEVEL}`,
    `b:5:1: ["a b\\n"]: ${TOP_LEVEL}`,
    `b:6:1: ["<<"]: ${TOP_LEVEL}`,
  ],
  ['a key that every object has', withTopLevel('chains: {__proto__: a}'), 'b:4:10: __proto__ is not a supported key'],
  [
    'an unknown key below names that the user chooses',
    withTopLevel('chains: {1: {name: ethereum, explorers: a}}'),
    'b:4:30: chains.1.explorers: is not a supported key — expected one of name, explorer',
  ],
  [
    'a stale_after that is too short',
    withTopLevel('poll: {interval: 10m}'),
    'b:4:1: poll.stale_after: stale_after is below interval + timeout',
  ],
  [
    'two tokens with the same contract',
    withTopLevel(
      `tokens:\n  - {contract: "0x${'A'.repeat(40)}", symbol: A}\n  - {contract: "0x${'a'.repeat(40)}", symbol: B}`,
    ),
    'b:6:6: tokens[1].contract: is not unique',
  ],
  [
    'a token without a setting',
    withTopLevel(`tokens: [{contract: "${TOKEN}"}]`),
    'b:4:10: tokens[0]: expected symbol or decimals or min_batch_fee or backing or explorer',
  ],
  [
    'problems that do not exist',
    withTopLevel('problems: {BridgeExporterDown: {after: 45m}, constructor: {after: 1m}, BatchUnsigned: {after: 1m}}'),
    `b:4:12: problems.BridgeExporterDown: ${NO_PROBLEM}`,
    `b:4:46: problems.constructor: ${NO_PROBLEM}`,
    `b:4:72: problems.BatchUnsigned: ${NO_PROBLEM}`,
  ],
  [
    'settings that a problem does not have',
    withTopLevel('problems: {BridgeBatchUnsigned: {}, BridgeBacklogHigh: {after: 1m, severity: info}}'),
    `b:4:12: problems.BridgeBatchUnsigned: expected ${PROBLEM_KEYS.replaceAll(', ', ' or ')}`,
    `b:4:68: problems.BridgeBacklogHigh.severity: is not a supported key — expected one of ${PROBLEM_KEYS}`,
  ],
  [
    'one limit for a problem with several, and parts that a problem does not have',
    withTopLevel(
      'problems: {BridgeBatchNotRelayed: {after: 1h}, BridgeOracleSilent: {critical: {after: 1h}}, BridgeBatchUnsigned: {warning: {enabled: false}}, BridgeEndpointDown: {external_contract: {after: 1h}}}',
    ),
    'b:4:36: problems.BridgeBatchNotRelayed.after: there are several limits — set after below one of critical: 4h, warning: 2h',
    'b:4:69: problems.BridgeOracleSilent.critical: there are several limits — set after below one of external_contract: 1h5m, module_state: 12h5m',
    'b:4:115: problems.BridgeBatchUnsigned.warning: BridgeBatchUnsigned has no such part — expected one of critical, module_state',
  ],
  [
    'reserved names of labels, and those of metrics',
    withLabels('{job: a, cluster: b, orchestrator: c}'),
    'b:3:14: targets[0].labels.job: is reserved: Prometheus or its operator assigns this label',
    'b:3:22: targets[0].labels.cluster: is reserved: Prometheus or its operator assigns this label',
    'b:3:34: targets[0].labels.orchestrator: is a label of the metrics of the exporter',
  ],
  [
    'malformed names of labels',
    withLabels(`{a-b: c, __meta__: c, ${'n'.repeat(129)}: c}`),
    `b:3:14: targets[0].labels["a-b"]: ${LABEL_NAME}`,
    `b:3:22: targets[0].labels.__meta__: ${LABEL_NAME}`,
    `b:3:35: targets[0].labels.${'n'.repeat(129)}: ${LABEL_NAME}`,
  ],
  [
    '21 labels',
    withLabels(`{${Array.from({ length: 21 }, (_, index) => `l${index}: v`).join(', ')}}`),
    'b:3:5: targets[0].labels: expected at most 20 labels',
  ],
  [
    'a name instead of a chain id',
    `${withCrosschain('age_limits: {bitcoin: 2h}')}\nchains: {ethereum: 1}`,
    `b:5:20: targets[0].crosschain.age_limits.bitcoin: ${CHAIN_ID}, or default`,
    `b:6:10: chains.ethereum: ${CHAIN_ID}, such as 7000`,
  ],
];

/** Values that are invalid, one for each reason, with what the message says after the position. */
const invalidValues: readonly (readonly [problem: string, ...texts: string[]])[] = [
  [
    TEXT,
    withName('""'),
    withName('n'.repeat(129)),
    withName(String.raw`"a\nb"`),
    // A lone surrogate.
    withName(String.raw`"a\ud800"`),
    withLabels('{a: ""}'),
  ],
  [
    'environment variables ${…} are not expanded; a secret can be read from a file, for example with password_file',
    withUrl('"https://${NODE_HOST}"'),
  ],
  [
    URL_EXPECTED,
    withUrl('"https://exa mple:99999999/"'),
    withUrl('a.example:1317'),
    withUrl('https://a.example/lcd?token=hunter2'),
    withUrl('"https://a.example/lcd#hunter2"'),
    withUrl('"http://[fe80::1%25eth0]:1317"'),
    withUrl('https://a.example/zeta-chain/crosschain/rateLimiterInput/?window=500'),
  ],
  [
    'user and password belong to basic_auth, in a configuration file',
    withUrl('https://u:hunter2@a.example/lcd'),
    withUrl('hunter2:x@a.example'),
  ],
  ['Invalid input: expected boolean, received string', withTopLevel('problems: {BridgeBatchUnsigned: {enabled: no}}')],
  ['Invalid input: expected string, received array', withTopLevel('poll: {interval: [30s]}')],
  ['Invalid input: expected string, received boolean', withName('true')],
  ['Invalid input: expected array, received object', withTopLevel('tokens: {contract: a}')],
  ['Invalid input: expected object, received string', withTopLevel('tokens: [a]'), withTopLevel('poll: 30s')],
  [
    'ends with the path of a document, which is appended',
    withUrl('https://a.example/lcd/hunter2/peggy/v1/module_state'),
    withUrl('https://a.example/zeta-chain/crosschain/rateLimiterInput/'),
  ],
  [
    'expected a decimal greater than 0 and at most 1, such as 0.66',
    ...['1.0000000000000000000000001', '0.000', '67%'].map((value) => withBridge(`power_threshold: ${value}`)),
  ],
  [
    'is a consensus address or a public key — expected the orchestrator, operator or external address of a validator',
    withBridge('watch: [injvalcons1qurswpc8qurswpc8qurswpc8qurswpc860k8lu]'),
  ],
  [BECH32, withBridge('watch: ["0x12"]'), withBridge('watch: [inj1yg3zyg3zyg3zyg3zyg3zyg4zyg3zyg3zyf9qgq]')],
  [
    'expected auto or a duration from 1ms to 1h, such as 30s, 1m30s or 500ms',
    withBridge('block_time: 2h'),
    withBridge('block_time: [auto]'),
  ],
  [
    'expected an integer in decimal digits from 1 to 9223372036854775807',
    ...['0', '0x10', '9223372036854775808'].map((value) => withCrosschain(`window: ${value}`)),
  ],
  [`${CHAIN_ID}, such as 7000`, withCrosschain('hub_chain_ids: [zetachain_7000-1]')],
  [
    'expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
    ...['30', '1.5s', '0s', '25d'].map((value) => withTopLevel(`poll: {interval: ${value}}`)),
  ],
  ['expected a duration from 0s to 1d, such as 30s, 1m30s or 500ms', withTopLevel('recorder: {interval: 2d}')],
  [
    'expected a duration from 0s to 30d, such as 30s, 1m30s or 500ms',
    ...['soon', '31d'].map((value) => withTopLevel(`problems: {BridgeBatchUnsigned: {after: ${value}}}`)),
  ],
  [
    'expected a size from 1KiB to 511MiB, such as 64MiB, 10MB or plain bytes',
    ...['64 Mb', '512MiB'].map((value) => withTopLevel(`poll: {max_body_size: ${value}}`)),
  ],
  [
    'expected an integer from 1 to 100000',
    ...['0', '10.5', '1_000'].map((value) => withTopLevel(`limits: {max_series_per_family: ${value}}`)),
  ],
  [
    'expected an integer, in smallest units: 23300000',
    withTopLevel(`tokens: [{contract: "${TOKEN}", decimals: 6, min_batch_fee: 23.3}]`),
  ],
  [
    'expected an integer in decimal digits from 0 to 2^256 - 1',
    withTopLevel(`tokens: [{contract: "${TOKEN}", min_batch_fee: 23.3}]`),
    withTopLevel(`tokens: [{contract: "${TOKEN}", decimals: 1, min_batch_fee: 0.25}]`),
  ],
  ['expected 0x followed by 40 hexadecimal digits', withTopLevel('tokens: [{symbol: A, contract: "0x12"}]')],
  ['expected the name of the chain, or a mapping with name and explorer', withTopLevel('chains: {1: [ethereum]}')],
  [
    EXPLORER,
    ...[
      '',
      'javascript:alert(1)//{hash}',
      'https://u:hunter2@a.example/{hash}',
      'https://a.example/tx/',
      'https://a.example/{hash}/{a}',
      'https://{hash}/tx',
    ].map((url) => withTopLevel(`chains: {1: {name: ethereum, explorer: "${url}"}}`)),
  ],
];

describe('parseConfig', () => {
  test.each(invalidFiles)('rejects %s', (_title, text, ...problems) => {
    expect(parseConfig(text, 'b', metricLabels)).toEqual({ ok: false, problems });
  });

  test.each(invalidValues)('rejects values with the problem %s', (problem, ...texts) => {
    for (const text of texts) {
      const result = parseConfig(text, 'b');
      const problems = result.ok ? [] : result.problems;
      expect(
        problems.map((line) => line.replace(/^b:\d+:\d+: [\w.[\]]+: /, '')),
        text,
      ).toEqual([problem]);
    }
  });

  test('reports all problems of a file at once', () => {
    const text = `
poll: {interval: 1, timeout: 1h, stale_after: 1m, jitter: 1s}
targets:
  - name: a
    bridge: {url: "https://a.example", dialect: zeta}
  - {}
tokens: [{contract: USDT}]
chains: {one: ethereum}
scrape_configs: []
`;
    expect(parseConfig(text, 'b')).toEqual({
      ok: false,
      problems: [
        'b:2:8: poll.interval: expected a duration from 100ms to 1d, such as 30s, 1m30s or 500ms',
        'b:2:51: poll.jitter: is not a supported key — expected one of interval, timeout, stale_after, max_body_size',
        'b:5:40: targets[0].bridge.dialect: Invalid option: expected one of "auto"|"neutral"|"peggy"',
        'b:6:5: targets[1].name: is missing',
        'b:7:11: tokens[0].contract: expected 0x followed by 40 hexadecimal digits',
        'b:7:10: tokens[0]: expected symbol or decimals or min_batch_fee or backing or explorer',
        `b:8:10: chains.one: ${CHAIN_ID}, such as 7000`,
        `b:9:1: scrape_configs: ${TOP_LEVEL}`,
        'b:6:5: targets[1]: expected bridge, crosschain or both',
      ],
    });
  });

  test('reports at most 50 problems and the number of the others', () => {
    const chains = Array.from({ length: 1_000 }, (_, id) => `${id}: ""`).join(', ');
    const result = parseConfig(withTopLevel(`chains: {${chains}}`), 'b');
    const problems = result.ok ? [] : result.problems;
    expect(problems).toHaveLength(51);
    expect(problems.at(-1)).toBe('and 950 more');
  });

  test('does not quote text that is not YAML, or a URL that may contain a password', () => {
    const values = [
      'https://hunter2@a.example',
      'https://u:hunter2@a.example?key=hunter2#hunter2',
      'ftp://u:hunter2@a.example',
      'hunter2:x@a.example',
      '"https://u:hunter2 @a.example"',
      ...['u@a.example', 'https://u@a.example', 'ftp://a.example', 'https:/a.example', 'https//a.example'].map(
        (url) => `${url}/lcd/hunter2`,
      ),
      ...['?key=x', '#x', '/bridge/v1/module_state'].map((end) => `https://a.example/lcd/hunter2${end}`),
      '"https://a example/lcd/hunter2"',
      '[https://a.example/lcd/hunter2]',
      '!hunter2',
      '!<hunter2> x',
      '*hunter2',
      '&hunter2 &hunter2 x',
      '|hunter2',
      String.raw`"\Uhunter2"`,
      '"x" hunter2',
      '[hunter2',
      'x}\n%hunter2 x\n---\n}hunter2',
    ];
    const results = values.map((value) => JSON.stringify(parseConfig(withUrl(value), 'b')));
    expect(results.filter((result) => /hunter2|"ok":true/.test(result))).toEqual([]);
  });

  test('rejects a file with too many levels of nesting', () => {
    expect(parseConfig(`targets: ${'['.repeat(50_000)}`, 'b')).toMatchObject({ ok: false });
  });
});
