import { describe, expect, test } from 'vitest';
import { configSettings } from '../../src/config/config.js';
import { parseConfig } from '../support/config.js';
import { withBridge, withCrosschain, withUrl, withTopLevel, withName } from './sample-files.js';

const DURATION = 'such as 30s, 1m30s or 500ms';
const ADDRESS = 'expected an http or https URL without user, query and fragment, such as https://node.example.org';
const NAME = 'expected a name of 1 to 128 characters, such as mainnet';
const INT64 = 'expected a positive integer in decimal digits, at most 9223372036854775807';
const BRIDGE_DIALECTS = choicesOf('targets[].bridge.dialect');
const CROSSCHAIN_DIALECTS = choicesOf('targets[].crosschain.dialect');
const TARGET = '[{name: mainnet, bridge: {url: https://node.example.org}}]';
const TARGETS = `expected a list of at least one target, such as ${TARGET}`;
const WHOLE = `expected a mapping such as targets: ${TARGET}`;
const TOKEN = '0x0000000000000000000000000000000000000001';

/** How messages list the values of a setting. */
function choicesOf(path: string): string {
  return `expected one of ${configSettings.find((setting) => setting.path === path)?.type.replaceAll(' |', ',')}`;
}

const invalidFiles: readonly (readonly [title: string, text: string, ...problems: string[]])[] = [
  ['an empty file', '', `bridge.yaml: is empty — ${WHOLE}`],
  ['a file with only a comment', '# later\n', `bridge.yaml: is empty — ${WHOLE}`],
  ['a string', 'hello', `bridge.yaml:1:1: is a string — ${WHOLE}`],
  ['a list', '- targets', `bridge.yaml:1:1: is a list — ${WHOLE}`],
  [
    'two documents',
    'targets: []\n---\ntargets: []',
    'bridge.yaml:2:1: a second document starts here — expected a single document',
  ],
  [
    'a syntax error',
    'targets:\n  - name: "a\n',
    'bridge.yaml:3:1: " is missing — expected it at the end of the string that starts in line 2',
  ],
  [
    'two syntax errors',
    'poll: a: b\nlimits: c: d\n',
    'bridge.yaml:1:7: a value contains ": " — put the value in quotes',
    'bridge.yaml:2:9: a value contains ": " — put the value in quotes',
  ],
  [
    'a tab for indentation',
    'poll:\n\tinterval: 30s',
    'bridge.yaml:2:1: a tab is used as indentation — expected spaces',
  ],
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
    'bridge.yaml:3:11: undefined alias — expected its anchor (&name) before it; quote a string that starts with *',
  ],
  [
    'too many aliases',
    `a: &a [x, x]\nb: &b [${'*a,'.repeat(60)}]\nc: [${'*b,'.repeat(60)}]`,
    'bridge.yaml: aliases expand to more than 100 copies — expected fewer',
  ],
  [
    'an alias of a mapping that contains it',
    'targets: &a\n  - name: *a',
    `bridge.yaml:2:5: targets[0].name: is a list — ${NAME}`,
    'bridge.yaml:2:5: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  ['missing targets', 'poll: {}', `bridge.yaml:1:1: targets: is missing — ${TARGETS}`],
  ['an empty list of targets', 'targets: []', `bridge.yaml:1:1: targets: is empty — ${TARGETS}`],
  ['empty targets', 'targets:', `bridge.yaml:1:1: targets: is empty — ${TARGETS}`],
  ['targets that are a mapping', 'targets: {name: a}', `bridge.yaml:1:1: targets: is a mapping — ${TARGETS}`],
  [
    'a target that is a string',
    'targets: [mainnet]',
    'bridge.yaml:1:11: targets[0]: is a string — expected a mapping such as {name: mainnet, bridge: {url: https://node.example.org}}',
  ],
  [
    'a target without a name',
    'targets:\n  - bridge: {url: "https://a.example"}',
    `bridge.yaml:2:5: targets[0].name: is missing — ${NAME}`,
  ],
  [
    'a target without an endpoint',
    'targets:\n  - name: a',
    'bridge.yaml:2:5: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  [
    'an empty target',
    'targets: [{}]',
    `bridge.yaml:1:11: targets[0].name: is missing — ${NAME}`,
    'bridge.yaml:1:11: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  [
    'an endpoint without a URL',
    'targets:\n  - name: a\n    bridge: {}',
    `bridge.yaml:3:5: targets[0].bridge.url: is missing — ${ADDRESS}`,
  ],
  [
    'an empty endpoint',
    'targets:\n  - name: a\n    bridge:',
    'bridge.yaml:3:5: targets[0].bridge: is empty — expected a mapping such as bridge: {url: https://node.example.org}',
  ],
  [
    'two targets with the same name',
    `${withName('a')}\n  - name: b\n    bridge: {url: "https://b.example"}\n  - name: a\n    bridge: {url: "nonsense"}`,
    'bridge.yaml:7:14: targets[2].bridge.url: "nonsense" has no scheme — did you mean http://nonsense?',
    'bridge.yaml:6:5: targets[2].name: "a" is also the name of targets[0] — expected a unique name',
  ],
  ['an empty name', withName('""'), `bridge.yaml:3:5: targets[0].name: is empty — ${NAME}`],
  [
    'a name of 129 characters',
    withName('n'.repeat(129)),
    `bridge.yaml:3:5: targets[0].name: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn…" has 129 characters — ${NAME}`,
  ],
  [
    'a name with a line break',
    withName(String.raw`"a\nb"`),
    `bridge.yaml:3:5: targets[0].name: "a\\nb" has a control character — ${NAME}`,
  ],
  [
    'a name with a lone surrogate',
    withName(String.raw`"a\ud800"`),
    `bridge.yaml:3:5: targets[0].name: "a\\ud800" has a lone surrogate — ${NAME}`,
  ],
  [
    'a name that is a boolean',
    withName('true'),
    'bridge.yaml:3:5: targets[0].name: is the boolean true — did you mean "true"?',
  ],
  ['an unknown key', withTopLevel('pol: {interval: 30s}'), 'bridge.yaml:4:1: pol: unknown key — did you mean poll?'],
  [
    'an unknown key that is similar to no other',
    withTopLevel('zzzzzzzz: 1'),
    'bridge.yaml:4:1: zzzzzzzz: unknown key — expected one of poll, limits, targets, target_files, tokens, chains, validators, links, recorder',
  ],
  [
    'an unknown key of an endpoint',
    withBridge('dialekt: peggy'),
    'bridge.yaml:5:7: targets[0].bridge.dialekt: unknown key — did you mean dialect?',
  ],
  [
    'an unknown key with unusual characters',
    withTopLevel(String.raw`"a b\n": 1`),
    'bridge.yaml:4:1: ["a b\\n"]: unknown key — expected one of poll, limits, targets, target_files, tokens, chains, validators, links, recorder',
  ],
  [
    'the key __proto__',
    withTopLevel('__proto__: {interval: 30s}'),
    'bridge.yaml:4:1: __proto__: unknown key — expected one of poll, limits, targets, target_files, tokens, chains, validators, links, recorder',
  ],
  [
    'a key of Prometheus that is not supported',
    withBridge('oauth2: {client_secret: hunter2}'),
    'bridge.yaml:5:7: targets[0].bridge.oauth2: unknown key — this key of Prometheus is not supported',
  ],
  [
    'a duration without a unit',
    withTopLevel('poll: {interval: 30}'),
    'bridge.yaml:4:8: poll.interval: "30" — did you mean 30s?',
  ],
  [
    'a duration with a fraction',
    withTopLevel('poll: {interval: 1.5s}'),
    'bridge.yaml:4:8: poll.interval: "1.5s" — did you mean 1s500ms?',
  ],
  [
    'an interval of zero',
    withTopLevel('poll: {interval: 0s}'),
    `bridge.yaml:4:8: poll.interval: "0s" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'an interval above the limit of timers',
    withTopLevel('poll: {interval: 25d, stale_after: 7d}'),
    `bridge.yaml:4:8: poll.interval: "25d" — expected a duration from 100ms to 1d, ${DURATION}`,
  ],
  [
    'an empty timeout',
    withTopLevel('poll:\n  timeout:'),
    `bridge.yaml:5:3: poll.timeout: is empty — expected a duration from 100ms to 1h, ${DURATION}`,
  ],
  [
    'a poll that is a string',
    withTopLevel('poll: 30s'),
    'bridge.yaml:4:1: poll: "30s" — expected a mapping with interval, timeout, stale_after, max_body_size',
  ],
  [
    'a stale_after that is too short',
    withTopLevel('poll:\n  interval: 4m\n  timeout: 90s\n  stale_after: 5m'),
    'bridge.yaml:7:3: poll.stale_after: stale_after (5m) is below interval (4m) + timeout (1m30s) — expected at least 5m30s',
  ],
  [
    'an interval too long for the default stale_after',
    withTopLevel('poll: {interval: 10m}'),
    'bridge.yaml:4:1: poll.stale_after: stale_after (5m) is below interval (10m) + timeout (20s) — expected at least 10m20s',
  ],
  [
    'a size with an unknown unit',
    withTopLevel('poll: {max_body_size: 64 Mb}'),
    'bridge.yaml:4:8: poll.max_body_size: "64 Mb" — did you mean 64MiB?',
  ],
  [
    'a size above the maximum length of strings',
    withTopLevel('poll: {max_body_size: 512MiB}'),
    'bridge.yaml:4:8: poll.max_body_size: "512MiB" — expected a size from 1KiB to 511MiB, such as 64MiB, 10MB or plain bytes',
  ],
  [
    'a limit of zero series',
    withTopLevel('limits: {max_series_per_family: 0}'),
    'bridge.yaml:4:10: limits.max_series_per_family: "0" — expected an integer from 1 to 100000',
  ],
  [
    'a limit with a fraction',
    withTopLevel('limits: {max_series_per_family: 10.5}'),
    'bridge.yaml:4:10: limits.max_series_per_family: "10.5" — expected an integer from 1 to 100000',
  ],
  [
    'a URL of another scheme',
    withUrl('ftp://a.example'),
    'bridge.yaml:3:14: targets[0].bridge.url: "ftp://a.example" is not an http or https URL — expected an http or https URL without user, query and fragment, such as https://node.example.org',
  ],
  [
    'a URL without a scheme',
    withUrl('a.example:1317'),
    'bridge.yaml:3:14: targets[0].bridge.url: "a.example:1317" has no scheme — did you mean https://a.example:1317?',
  ],
  [
    'an invalid URL',
    withUrl('"https://exa mple:99999999/"'),
    `bridge.yaml:3:14: targets[0].bridge.url: is not a valid URL — ${ADDRESS}`,
  ],
  [
    'a URL with credentials',
    withUrl('https://user:hunter2@a.example/lcd'),
    `bridge.yaml:3:14: targets[0].bridge.url: https://a.example/lcd has a user name or password — ${ADDRESS}`,
  ],
  [
    'a URL with a query',
    withUrl('https://a.example/lcd?token=hunter2'),
    `bridge.yaml:3:14: targets[0].bridge.url: https://a.example/lcd has a query — ${ADDRESS}`,
  ],
  [
    'a URL with a fragment',
    withUrl('"https://a.example/lcd#hunter2"'),
    `bridge.yaml:3:14: targets[0].bridge.url: https://a.example/lcd has a fragment — ${ADDRESS}`,
  ],
  [
    'a URL that is a list',
    withUrl('["https://a.example"]'),
    `bridge.yaml:3:14: targets[0].bridge.url: is a list — ${ADDRESS}`,
  ],
  [
    'an unknown dialect',
    withBridge('dialect: zeta'),
    `bridge.yaml:5:7: targets[0].bridge.dialect: "zeta" — ${BRIDGE_DIALECTS}`,
  ],
  [
    'an unknown dialect of the other endpoint',
    withCrosschain('dialect: peggy'),
    `bridge.yaml:5:7: targets[0].crosschain.dialect: "peggy" — ${CROSSCHAIN_DIALECTS}`,
  ],
  ['a window of 0', withCrosschain('window: 0'), `bridge.yaml:5:7: targets[0].crosschain.window: "0" — ${INT64}`],
  [
    'a threshold of 0',
    withBridge('power_threshold: 0.000'),
    'bridge.yaml:5:7: targets[0].bridge.power_threshold: "0.000" — expected a decimal greater than 0 and at most 1, such as 0.66',
  ],
  [
    'a threshold in percent',
    withBridge('power_threshold: 66.67'),
    'bridge.yaml:5:7: targets[0].bridge.power_threshold: "66.67" — did you mean 0.6667?',
  ],
  [
    'a threshold barely above 1',
    withBridge('power_threshold: 1.0000000000000000000000001'),
    'bridge.yaml:5:7: targets[0].bridge.power_threshold: "1.0000000000000000000000001" — expected a decimal greater than 0 and at most 1, such as 0.66',
  ],
  [
    'a watch entry that is not an address',
    withBridge('watch: ["0x12", inj1qqqqqckdmdm]'),
    'bridge.yaml:5:15: targets[0].bridge.watch[0]: "0x12" — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'a watch that is a string',
    withBridge('watch: inj1qqqqqckdmdm'),
    'bridge.yaml:5:7: targets[0].bridge.watch: "inj1qqqqqckdmdm" — did you mean [inj1qqqqqckdmdm]?',
  ],
  [
    'a window in hexadecimal',
    withCrosschain('window: 0x10'),
    `bridge.yaml:5:7: targets[0].crosschain.window: "0x10" — ${INT64}`,
  ],
  [
    'a window with a leading zero',
    withCrosschain('window: 0500'),
    `bridge.yaml:5:7: targets[0].crosschain.window: "0500" — ${INT64}`,
  ],
  [
    'a window beyond 64 bits',
    withCrosschain('window: 9223372036854775808'),
    `bridge.yaml:5:7: targets[0].crosschain.window: "9223372036854775808" — ${INT64}`,
  ],
  [
    'a limit beyond 32 bits',
    withCrosschain('limit: 4294967296'),
    'bridge.yaml:5:7: targets[0].crosschain.limit: "4294967296" — expected a positive integer in decimal digits, at most 4294967295',
  ],
  [
    'a rate in scientific notation',
    withCrosschain('rate: 1e18'),
    'bridge.yaml:5:7: targets[0].crosschain.rate: "1e18" — did you mean 1000000000000000000?',
  ],
  [
    'an address with one wrong character, by its position',
    withBridge('watch: [inj1yg3zyg3zyg3zyg3zyg3zyg4zyg3zyg3zyf9qgq, INJ1QQQQQCKDMDM]'),
    'bridge.yaml:5:15: targets[0].bridge.watch[0]: "inj1yg3zyg3zyg3zyg3zyg3zyg4zyg3zyg3zyf9qgq" has a wrong checksum: character 27 (4) is wrong — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'an address with a wrong character in its prefix',
    withTopLevel('validators: [{address: imj1yg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyf9qgq, name: A}]'),
    'bridge.yaml:4:15: validators[0].address: "imj1yg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyf9qgq" has a wrong checksum: character 2 (m) is wrong — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'an address with two swapped characters, which the checksum cannot find',
    withBridge('watch: [inj1gy3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyf9qgq]'),
    'bridge.yaml:5:15: targets[0].bridge.watch[0]: "inj1gy3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyf9qgq" has a wrong checksum — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'a hub chain id that is a name',
    withCrosschain('hub_chain_ids: [zetachain_7000-1]'),
    'bridge.yaml:5:23: targets[0].crosschain.hub_chain_ids[0]: "zetachain_7000-1" — expected a chain id: at most 20 decimal digits, such as 7000',
  ],
  [
    'an age limit of a chain by its name',
    withCrosschain('age_limits: {bitcoin: 2h}'),
    'bridge.yaml:5:20: targets[0].crosschain.age_limits.bitcoin: is not a chain id — expected default, or at most 20 decimal digits',
  ],
  [
    'an age limit without a unit',
    withCrosschain('age_limits: {"8332": 7200}'),
    'bridge.yaml:5:20: targets[0].crosschain.age_limits.8332: "7200" — did you mean 2h?',
  ],
  [
    'age limits that are not a mapping',
    withCrosschain('age_limits: 30m'),
    'bridge.yaml:5:7: targets[0].crosschain.age_limits: "30m" — expected a mapping of chain ids to durations, such as {"8332": 2h}',
  ],
  [
    'a backlog limit of 0',
    withCrosschain('backlog_limit: 0'),
    'bridge.yaml:5:7: targets[0].crosschain.backlog_limit: "0" — expected an integer from 1 to 1000000000',
  ],
  [
    'an index of an ignored cctx that is not in a list',
    withCrosschain('ignore: {indexes: 0x1f}'),
    'bridge.yaml:5:16: targets[0].crosschain.ignore.indexes: "0x1f" — did you mean [0x1f]?',
  ],
  [
    'a negative age of ignored cctxs',
    withCrosschain('ignore: {older_than: -1h}'),
    'bridge.yaml:5:16: targets[0].crosschain.ignore.older_than: "-1h" — expected 0s or a duration from 1m to 3650d, such as 30s, 1m30s or 500ms',
  ],
  [
    'a token without a contract',
    withTopLevel('tokens: [{symbol: USDT}]'),
    'bridge.yaml:4:10: tokens[0].contract: is missing — expected 0x followed by 40 hexadecimal digits',
  ],
  [
    'an invalid token contract',
    withTopLevel('tokens: [{contract: "0x12", symbol: USDT}]'),
    'bridge.yaml:4:11: tokens[0].contract: "0x12" — expected 0x followed by 40 hexadecimal digits',
  ],
  [
    'two tokens with the same contract',
    withTopLevel(
      `tokens:\n  - {contract: "0x${'A'.repeat(40)}", symbol: A}\n  - {contract: "0x${'a'.repeat(40)}", symbol: B}`,
    ),
    'bridge.yaml:6:6: tokens[1].contract: "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is also the contract of tokens[0] — expected a unique contract',
  ],
  [
    'a token without symbol and decimals',
    withTopLevel(`tokens: [{contract: "${TOKEN}"}]`),
    'bridge.yaml:4:10: tokens[0]: has none of symbol, decimals, min_batch_fee, backing and explorer — expected at least one of them',
  ],
  [
    'more decimals than an amount has digits',
    withTopLevel(`tokens: [{contract: "${TOKEN}", decimals: 78}]`),
    'bridge.yaml:4:67: tokens[0].decimals: "78" — expected an integer from 0 to 77',
  ],
  [
    'a symbol of 33 characters',
    withTopLevel(`tokens: [{contract: "${TOKEN}", symbol: ${'S'.repeat(33)}}]`),
    'bridge.yaml:4:67: tokens[0].symbol: "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS" has 33 characters — expected text of 1 to 32 characters',
  ],
  [
    'chains that are a list',
    withTopLevel('chains: [ethereum]'),
    'bridge.yaml:4:1: chains: is a list — expected a mapping of chain ids to names',
  ],
  [
    'a chain id that is a name',
    withTopLevel('chains: {ethereum: 1}'),
    'bridge.yaml:4:10: chains.ethereum: is not a chain id — expected at most 20 decimal digits',
  ],
  [
    'a URL with the path of a document',
    withUrl('https://a.example/lcd/bridge/v1/module_state/'),
    'bridge.yaml:3:14: targets[0].bridge.url: https://a.example/lcd/bridge/v1/module_state ends with the path of a document, which is appended — did you mean https://a.example/lcd?',
  ],
  [
    'a URL with the path and query of a document of a dialect',
    withUrl('https://a.example/zeta-chain/crosschain/rateLimiterInput?window=500'),
    'bridge.yaml:3:14: targets[0].bridge.url: https://a.example/zeta-chain/crosschain/rateLimiterInput ends with the path of a document, which is appended — did you mean https://a.example?',
  ],
  [
    'a URL of this machine without a scheme',
    withUrl('localhost:1317'),
    'bridge.yaml:3:14: targets[0].bridge.url: "localhost:1317" has no scheme — did you mean http://localhost:1317?',
  ],
  [
    'an IP address without a scheme',
    withUrl('"10.0.0.1:1317/lcd"'),
    'bridge.yaml:3:14: targets[0].bridge.url: "10.0.0.1:1317/lcd" has no scheme — did you mean http://10.0.0.1:1317/lcd?',
  ],
  [
    'a misspelled scheme',
    withUrl('htps://a.example'),
    'bridge.yaml:3:14: targets[0].bridge.url: "htps://a.example" is not an http or https URL — did you mean https://a.example?',
  ],
  [
    'a scheme with one slash',
    withUrl('http:/a.example:1317'),
    'bridge.yaml:3:14: targets[0].bridge.url: "http:/a.example:1317" is not an http or https URL — did you mean http://a.example:1317?',
  ],
  [
    'a scheme without a colon',
    withUrl('https//a.example'),
    'bridge.yaml:3:14: targets[0].bridge.url: "https//a.example" is not an http or https URL — did you mean https://a.example?',
  ],
  [
    'the address of an RPC server',
    withUrl('tcp://127.0.0.1:26657'),
    `bridge.yaml:3:14: targets[0].bridge.url: "tcp://127.0.0.1:26657" is not an http or https URL — ${ADDRESS}`,
  ],
  [
    'a URL that refers to an environment variable',
    withUrl('"https://${NODE_HOST}"'),
    'bridge.yaml:3:14: targets[0].bridge.url: contains ${…}: environment variables are not expanded — expected the value itself; a secret can be read from a file, for example with password_file',
  ],
  [
    'a password that refers to an environment variable',
    withBridge('basic_auth: {username: u, password: "${PASSWORD}"}'),
    'bridge.yaml:5:33: targets[0].bridge.basic_auth.password: contains ${…}: environment variables are not expanded — expected the value itself; a secret can be read from a file, for example with password_file',
  ],
  [
    'a URL in a template',
    withUrl('{{ node_url }}'),
    'bridge.yaml:3:20: a template expression {{ }} is not replaced — expected its value',
  ],
  [
    'a target that is a URL',
    'targets: [https://a.example]',
    'bridge.yaml:1:11: targets[0]: is a string — expected a mapping such as {name: mainnet, bridge: {url: https://a.example}}',
  ],
  [
    'an endpoint that is a URL',
    'targets:\n  - name: a\n    bridge: http://a.example',
    'bridge.yaml:3:5: targets[0].bridge: is a string — expected a mapping such as bridge: {url: http://a.example}',
  ],
  [
    'an endpoint that is a URL with a password',
    'targets:\n  - name: a\n    bridge: http://u:hunter2@a.example',
    'bridge.yaml:3:5: targets[0].bridge: is a string — expected a mapping such as bridge: {url: https://node.example.org}',
  ],
  [
    'an endpoint that is a list',
    'targets:\n  - name: a\n    bridge:\n      - url: http://a.example',
    'bridge.yaml:3:5: targets[0].bridge: is a list — expected a mapping such as bridge: {url: https://node.example.org}',
  ],
  [
    'a URL beside the name of a target',
    'targets:\n  - name: a\n    url: http://a.example',
    'bridge.yaml:3:5: targets[0].url: unknown key — it belongs in targets[].bridge or targets[].crosschain',
    'bridge.yaml:2:5: targets[0]: has no endpoint — expected bridge, crosschain, or both',
  ],
  [
    'a target at the top level',
    'name: a\nbridge: {url: http://a.example}',
    `bridge.yaml:1:1: targets: is missing — ${TARGETS}`,
    'bridge.yaml:1:1: name: unknown key — it belongs in targets[] or validators[]',
    'bridge.yaml:2:1: bridge: unknown key — it belongs in targets[]',
  ],
  [
    'target names as keys',
    'targets:\n  mainnet:\n    bridge: {url: http://a.example}',
    `bridge.yaml:1:1: targets: is a mapping — ${TARGETS}`,
  ],
  [
    'a list entry without a space after the dash',
    'targets:\n  -name: a',
    'bridge.yaml:1:1: targets: is a mapping — a list entry needs a space after the dash',
  ],
  [
    'headers as in other tools',
    withBridge('headers: {X-Api-Key: hunter2}'),
    'bridge.yaml:5:7: targets[0].bridge.headers: unknown key — did you mean http_headers?',
  ],
  [
    'tls as in other tools',
    withBridge('tls: {ca_file: ca.crt}'),
    'bridge.yaml:5:7: targets[0].bridge.tls: unknown key — did you mean tls_config?',
  ],
  [
    'bearer_token as in old versions of Prometheus',
    withBridge('bearer_token: hunter2'),
    'bridge.yaml:5:7: targets[0].bridge.bearer_token: unknown key — did you mean authorization: {credentials: …}?',
  ],
  [
    'bearer_token_file as in old versions of Prometheus',
    withBridge('bearer_token_file: token'),
    'bridge.yaml:5:7: targets[0].bridge.bearer_token_file: unknown key — did you mean authorization: {credentials_file: …}?',
  ],
  [
    'a user name and a password outside basic_auth',
    withBridge('username: u\n      password: hunter2'),
    'bridge.yaml:5:7: targets[0].bridge.username: unknown key — it belongs in targets[].bridge.basic_auth',
    'bridge.yaml:6:7: targets[0].bridge.password: unknown key — it belongs in targets[].bridge.basic_auth',
  ],
  [
    'insecure_skip_verify outside tls_config',
    withBridge('insecure_skip_verify: true'),
    'bridge.yaml:5:7: targets[0].bridge.insecure_skip_verify: unknown key — it belongs in targets[].bridge.tls_config',
  ],
  [
    'a proxy as in other tools',
    withBridge('proxy: http://proxy.example:3128'),
    'bridge.yaml:5:7: targets[0].bridge.proxy: unknown key — did you mean proxy_url?',
  ],
  [
    'the address of a node as in other tools',
    'targets: [{name: a, crosschain: {address: "http://a.example"}}]',
    `bridge.yaml:1:21: targets[0].crosschain.url: is missing — ${ADDRESS}`,
    'bridge.yaml:1:34: targets[0].crosschain.address: unknown key — did you mean url?',
  ],
  [
    'a timeout of one endpoint',
    withBridge('timeout: 5s'),
    'bridge.yaml:5:7: targets[0].bridge.timeout: unknown key — did you mean poll.timeout, which applies to all targets?',
  ],
  [
    'a key of the other endpoint',
    withBridge('window: 500'),
    'bridge.yaml:5:7: targets[0].bridge.window: unknown key — it belongs in targets[].crosschain',
  ],
  [
    'a global section as in Prometheus',
    withTopLevel('global: {scrape_interval: 30s}'),
    'bridge.yaml:4:1: global: unknown key — did you mean poll?',
  ],
  [
    'scrape_configs as in Prometheus',
    'scrape_configs: [{job_name: a}]',
    `bridge.yaml:1:1: targets: is missing — ${TARGETS}`,
    'bridge.yaml:1:1: scrape_configs: unknown key — did you mean targets?',
  ],
  [
    'an interval at the top level',
    withTopLevel('interval: 30s'),
    'bridge.yaml:4:1: interval: unknown key — it belongs in poll or recorder',
  ],
  [
    'a scrape_interval',
    withTopLevel('poll: {scrape_interval: 30s}'),
    'bridge.yaml:4:8: poll.scrape_interval: unknown key — did you mean interval?',
  ],
  [
    'a merge key',
    withTopLevel('<<: {limits: {}}'),
    'bridge.yaml:4:1: ["<<"]: unknown key — merge keys are not supported',
  ],
  [
    'a misspelled dialect',
    withBridge('dialect: pegy'),
    'bridge.yaml:5:7: targets[0].bridge.dialect: "pegy" — did you mean peggy?',
  ],
  [
    'a dialect in capitals',
    withBridge('dialect: PEGGY'),
    'bridge.yaml:5:7: targets[0].bridge.dialect: "PEGGY" — did you mean peggy?',
  ],
  [
    'the name of a chain as its dialect',
    withCrosschain('dialect: zetachain\n      window: 500'),
    'bridge.yaml:5:7: targets[0].crosschain.dialect: "zetachain" — did you mean zeta?',
  ],
  [
    'a duration with a space',
    withTopLevel('poll: {interval: 30 s}'),
    'bridge.yaml:4:8: poll.interval: "30 s" — did you mean 30s?',
  ],
  [
    'a duration with the name of a unit',
    withTopLevel('poll: {stale_after: 10 minutes}'),
    'bridge.yaml:4:8: poll.stale_after: "10 minutes" — did you mean 10m?',
  ],
  [
    'a size with a short unit',
    withTopLevel('poll: {max_body_size: 64M}'),
    'bridge.yaml:4:8: poll.max_body_size: "64M" — did you mean 64MiB?',
  ],
  [
    'an integer with separators',
    withTopLevel('limits: {max_series_per_family: 1_000}'),
    'bridge.yaml:4:10: limits.max_series_per_family: "1_000" — did you mean 1000?',
  ],
  [
    'a threshold with a percent sign',
    withBridge('power_threshold: 67%'),
    'bridge.yaml:5:7: targets[0].bridge.power_threshold: "67%" — did you mean 0.67?',
  ],
  [
    'a threshold without a leading zero',
    withBridge('power_threshold: .6667'),
    'bridge.yaml:5:7: targets[0].bridge.power_threshold: ".6667" — did you mean 0.6667?',
  ],
  [
    'a window with a unit',
    withCrosschain('window: 500 blocks'),
    `bridge.yaml:5:7: targets[0].crosschain.window: "500 blocks" — ${INT64}`,
  ],
  [
    'a hub chain id that is not in a list',
    withCrosschain('hub_chain_ids: 7000'),
    'bridge.yaml:5:7: targets[0].crosschain.hub_chain_ids: "7000" — did you mean [7000]?',
  ],
  [
    'tokens that are a mapping',
    withTopLevel('tokens: {USDT: "0x12"}'),
    'bridge.yaml:4:1: tokens: is a mapping — expected a list such as [{contract: "0x…", symbol: USDT, decimals: 6}]',
  ],
  [
    'an address of a token',
    withTopLevel('tokens: [{address: "0x12", symbol: USDT}]'),
    'bridge.yaml:4:10: tokens[0].contract: is missing — expected 0x followed by 40 hexadecimal digits',
    'bridge.yaml:4:11: tokens[0].address: unknown key — did you mean contract?',
  ],
  [
    'validators that are a mapping',
    withTopLevel('validators: {inj1qqqqqckdmdm: Example}'),
    'bridge.yaml:4:1: validators: is a mapping — expected a list such as [{address: inj1…, name: Example}]',
  ],
  [
    'a validator with an invalid address',
    withTopLevel('validators: [{address: inj1, name: Example}]'),
    'bridge.yaml:4:15: validators[0].address: "inj1" — expected a bech32 address, such as inj1…, or 0x followed by 40 hexadecimal digits',
  ],
  [
    'a validator without a name',
    withTopLevel('validators: [{address: inj1qqqqqckdmdm}]'),
    'bridge.yaml:4:14: validators[0].name: is missing — expected a name of 1 to 128 characters',
  ],
  [
    'a chain without a name',
    withTopLevel('chains: {1: }'),
    'bridge.yaml:4:10: chains.1.name: is empty — expected a name of 1 to 128 characters, such as ethereum',
  ],
  [
    'a chain with an unknown key',
    withTopLevel('chains: {1: {name: ethereum, explorers: "https://a.example/{hash}"}}'),
    'bridge.yaml:4:30: chains.1.explorers: unknown key — did you mean explorer?',
  ],
  [
    'a chain with an explorer and without a name',
    withTopLevel('chains: {1: {explorer: "https://a.example/{hash}"}}'),
    'bridge.yaml:4:10: chains.1.name: is missing — expected a name of 1 to 128 characters, such as ethereum',
  ],
  ...(
    [
      ['that is empty', '', 'is empty'],
      ['that is no URL', 'a.example/{hash}', 'is not an http or https URL'],
      ['of another scheme', 'javascript:alert(1)//{hash}', 'is not an http or https URL'],
      ['with a space', 'https://a.example/ {hash}', 'is not a valid URL'],
      ['with a password', 'https://u:hunter2@a.example/{hash}', 'has a user name or password'],
      ['without its placeholder', 'https://a.example/tx/', '"https://a.example/tx/" lacks {hash}'],
      [
        'with the placeholder of another setting',
        'https://a.example/{hash}/{address}',
        '"https://a.example/{hash}/{address}" has an unknown placeholder',
      ],
      ['whose host is a placeholder', 'https://{hash}/tx', '"https://{hash}/tx" has a placeholder in its host'],
    ] as const
  ).map(([title, url, problem]): [string, string, string] => [
    `an explorer of a chain ${title}`,
    withTopLevel(`chains: {1: {name: ethereum, explorer: "${url}"}}`),
    `bridge.yaml:4:30: chains.1.explorer: ${problem} — expected an http or https URL with {hash} in its path, query or fragment, such as https://explorer.example.org/{hash}`,
  ]),
  [
    'an explorer of a token without its placeholder',
    withTopLevel(`tokens: [{contract: "${TOKEN}", explorer: "https://a.example/{hash}"}]`),
    'bridge.yaml:4:67: tokens[0].explorer: "https://a.example/{hash}" has an unknown placeholder — expected an http or https URL with {address} in its path, query or fragment, such as https://explorer.example.org/{address}',
  ],
  [
    'a runbook and dashboards at invalid URLs',
    withTopLevel('links: {runbook: docs/runbook.md, dashboards: "https://u:hunter2@grafana.example"}'),
    'bridge.yaml:4:9: links.runbook: "docs/runbook.md" has no scheme — did you mean http://docs/runbook.md?',
    `bridge.yaml:4:35: links.dashboards: https://grafana.example has a user name or password — ${ADDRESS}`,
  ],
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
        'b:2:8: poll.interval: "1" — did you mean 1s?',
        'b:2:51: poll.jitter: unknown key — expected one of interval, timeout, stale_after, max_body_size',
        'b:3:10: limits.max_series_per_family: "many" — expected an integer from 1 to 100000',
        `b:6:40: targets[0].bridge.dialect: "zeta" — ${BRIDGE_DIALECTS}`,
        `b:8:5: targets[1].crosschain.url: is missing — ${ADDRESS}`,
        `b:9:5: targets[2].name: is missing — ${NAME}`,
        'b:9:5: targets[2]: has no endpoint — expected bridge, crosschain, or both',
        'b:7:5: targets[1].name: "a" is also the name of targets[0] — expected a unique name',
        'b:10:11: tokens[0].contract: "USDT" — expected 0x followed by 40 hexadecimal digits',
        'b:10:10: tokens[0]: has none of symbol, decimals, min_batch_fee, backing and explorer — expected at least one of them',
        'b:11:10: chains.one: is not a chain id — expected at most 20 decimal digits',
        'b:12:1: scrape_configs: unknown key — did you mean targets?',
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
