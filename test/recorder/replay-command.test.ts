import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { clock } from '../support/clock.js';
import { simulatedContractBody } from '../../src/sources/simulated-node.js';
import type { HubSide } from '../../src/facts/contract/reading.js';
import { createModel, type Model } from '../../src/simulator/model.js';
import { runHere } from '../support/command-context.js';
import { runExporter, type ProcessResult } from '../support/processes.js';
import { createTempFolder } from '../support/temp-folder.js';
import { hasTool, runTool } from '../support/tools.js';

/*
 * The recording of this test is written by a shell script, by the description of the format alone: two hours of a node that is asked
 * every 5 minutes, and does not answer for half an hour.
 */

const SCRIPT = `set -eu
cd "$1"
record() { # target, document, rest of the header; the body is read from standard input
  { printf '{"version":1,"target":"%s","document":"%s","time":"%s",%s}\\n' "$1" "$2" "$time" "$3"; cat; } |
    gzip > "recording/$1/$2/$day/$clock.json.gz"
}
for document in module_state rate_limiter_input external_contract; do
  mkdir -p "recording/main/$document/2026-11-23" "recording/main/$document/2026-11-24"
done
for minute in $(seq 0 5 115); do
  if [ "$minute" -lt 60 ]; then day=2026-11-23; hour=23; else day=2026-11-24; hour=00; fi
  time=$(printf '%sT%s:%02d:00.250Z' $day $hour $((minute % 60)))
  clock=$(printf '%s%02d00.250Z' $hour $((minute % 60)))
  if [ "$minute" -eq 60 ]; then
    record main module_state '"outcome":"timeout","message":"timed out"' < /dev/null
  elif [ "$minute" -lt 60 ] || [ "$minute" -ge 90 ]; then
    record main module_state "\\"outcome\\":\\"ok\\",\\"path\\":\\"/peggy/v1/module_state\\",\\"height\\":\\"$((1000 + minute * 90))\\"" < state.json
  fi
  record main rate_limiter_input '"outcome":"ok"' < input.json
  record main external_contract "\\"outcome\\":\\"ok\\",\\"call\\":$(cat call.json)" < answer.json
done
`;

const folder = createTempFolder();
const recording = join(folder.path, 'recording');

beforeAll(async () => {
  const model = createModel({ seed: 1, scenario: 'healthy', startTime: 1_795_474_800 });
  folder.write('state.json', JSON.stringify(model.moduleState()));
  folder.write('input.json', JSON.stringify(model.rateLimiterInput({ window: 500n })));
  const received = simulatedContractBody({ hubSide: hubSide(model) }, model, clock().at);
  folder.write('answer.json', received?.bytes ?? '');
  folder.write('call.json', JSON.stringify(received?.additionalInput?.call));
  execFileSync('sh', [folder.write('record.sh', SCRIPT), folder.path]);
});

/** What a program that calls the contract has to know. */
function hubSide(model: Model): HubSide {
  const { params } = model.moduleState().state;
  return {
    at: clock().at,
    height: undefined,
    contract: params.bridge_external_address.toLowerCase(),
    chainId: params.bridge_chain_id,
    lastObservedNonce: undefined,
    newestValsetNonce: undefined,
    lastBatchNonce: undefined,
    blockSeconds: undefined,
    externalBlockMs: undefined,
    powerThreshold: '0.66',
    batchTokens: [],
    backing: [],
  };
}

interface Point {
  readonly series: string;
  readonly value: number;
  readonly time: number;
}

function pointsOf(text: string, name: string): Point[] {
  return text.split('\n').flatMap((line) => {
    const [, series, value, time] = /^(\S+?(?:\{.*\})?) (\S+) (\d+\.\d{3})$/.exec(line) ?? [];
    return series?.startsWith(name) ? [{ series, value: Number(value), time: Number(time) }] : [];
  });
}

const START = Date.parse('2026-11-23T23:00:00Z') / 1000;
const minuteOf = ({ time }: Point): number => (time - START) / 60;

const replay = async (...flags: string[]) => runHere(['replay', '--recording', recording, ...flags]);

describe('replay --recording', () => {
  let whole: ProcessResult;

  beforeAll(async () => {
    whole = await runExporter(['replay', '--recording', recording]);
  });

  it('prints OpenMetrics with timestamps, at every recorded poll and every minute', () => {
    const { code, stdout, stderr } = whole;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^not judged by the recording: BridgeClockBehind, .*CrosschainCctxsUnlisted, .*\n$/);
    expect(stdout).toMatch(/# EOF\n$/);
    const up = pointsOf(stdout, 'bridge_exporter_up{target="main",document="rate_limiter_input"}');
    expect(up.every(({ value }) => value === 1)).toBe(true);
    const minutes = up.map(minuteOf);
    expect(minutes).toEqual(minutes.toSorted((a, b) => a - b));
    // The values hold for poll.stale_after and recorder.interval after the last poll.
    const steps = Array.from({ length: 125 }, (_, index) => index + 1);
    const polls = Array.from({ length: 24 }, (_, index) => 5 * index + 0.25 / 60);
    expect(minutes.map((minute) => minute.toFixed(3))).toEqual(
      [...steps, ...polls].toSorted((a, b) => a - b).map((minute) => minute.toFixed(3)),
    );
    expect(pointsOf(stdout, 'bridge_exporter_build_info').length).toBe(125);
    expect(stdout.match(/^# TYPE bridge_exporter_up gauge$/gm)).toHaveLength(1);
  });

  it('has the polls of an outage of which only the beginning was recorded, and measured block times', () => {
    const { stdout } = whole;
    const name = 'bridge_exporter_up{target="main",document="module_state"}';
    const failing = pointsOf(stdout, name)
      .filter(({ value }) => value === 0)
      .map(minuteOf);
    expect(Math.floor(failing[0] ?? 0)).toBe(60);
    expect(Math.floor(failing.at(-1) ?? 0)).toBe(90);
    const attempts = pointsOf(
      stdout,
      'bridge_exporter_last_attempt_timestamp_seconds{target="main",document="module_state"}',
    );
    for (const { value, time } of attempts) expect(time - value).toBeLessThanOrEqual(600);
    const blockTime = pointsOf(stdout, 'bridge_block_time_seconds').at(-1);
    expect(blockTime?.value).toBeCloseTo(60 / 90, 6);
    // Withdrawn when the last success is older than stale_after and the interval.
    const nonces = pointsOf(stdout, 'bridge_last_observed_nonce').map(minuteOf);
    expect(nonces.filter((minute) => minute > 65.1 && minute < 90)).toEqual([]);
  });

  it('has the metrics of a contract', () => {
    const { stdout } = whole;
    const paused = pointsOf(stdout, 'bridge_contract_paused{target="main"}');
    expect(paused.length).toBeGreaterThan(120);
    expect(paused.every(({ value }) => value === 0)).toBe(true);
    expect(pointsOf(stdout, 'bridge_exporter_up{target="main",document="external_contract"}').at(-1)?.value).toBe(1);
  });

  it('prints the range that --from and --to select, with what was measured before', async () => {
    const { stdout } = await replay('--from', '2026-11-24T00:30:00Z', '--to', '2026-11-24T00:45', '--target', 'main');
    const minutes = pointsOf(stdout, 'bridge_exporter_up{target="main",document="module_state"}').map(minuteOf);
    expect(Math.min(...minutes)).toBeGreaterThanOrEqual(90);
    expect(Math.max(...minutes)).toBeLessThanOrEqual(105);
    expect(pointsOf(stdout, 'bridge_block_time_seconds').at(0)?.value).toBeCloseTo(60 / 90, 6);
    expect((await replay('--target', 'other')).stdout).toBe('# EOF\n');
  });

  it('names unreadable files and prints the rest; files of others are ignored', async () => {
    const copy = join(createTempFolder().path, 'recording');
    cpSync(recording, copy, { recursive: true });
    const day = join(copy, 'main/module_state/2026-11-23');
    truncateSync(join(day, '231000.250Z.json.gz'), 1000);
    writeFileSync(join(day, '231500.250Z.json.gz'), 'not gzip');
    writeFileSync(join(day, '232000.250Z.json.gz'), readFileSync(join(day, '232500.250Z.json.gz')));
    const ofContract = join(copy, 'main/external_contract/2026-11-23/232500.250Z.json.gz');
    const header = { target: 'main', document: 'external_contract', time: '2026-11-23T23:25:00.250Z', outcome: 'ok' };
    const older = { version: 1, ...header, calls: [{ id: 1, to: '', data: '', block: '0x1' }], hub: { age_ms: 1 } };
    writeFileSync(ofContract, gzipSync(`${JSON.stringify(older)}\n[]`));
    for (const name of ['notes.txt', '.233000.250Z.json.gz.tmp']) writeFileSync(join(day, name), 'mine');
    for (const name of ['lost+found', '..data', 'main/other', 'main/module_state/today']) mkdirSync(join(copy, name));
    const { code, stdout, stderr } = await runHere(['replay', '--recording', copy]);
    expect(code).toBe(1);
    expect(stderr.trim().split('\n').slice(0, -1)).toEqual([
      `bridge-exporter: ${day}/231000.250Z.json.gz: unexpected end of file`,
      `bridge-exporter: ${day}/231500.250Z.json.gz: incorrect header check`,
      `bridge-exporter: ${day}/232000.250Z.json.gz: the header is that of another target, document or time`,
      `bridge-exporter: ${ofContract}: the header has no call, as before the contract was read by Multicall3`,
    ]);
    expect(stdout).toMatch(/# EOF\n$/);
    expect(pointsOf(stdout, 'bridge_last_observed_nonce').length).toBeGreaterThan(60);
  });

  it.skipIf(!hasTool('promtool'))('prints what promtool makes blocks of', () => {
    const { stdout } = whole;
    const metrics = folder.write('metrics.txt', stdout);
    const blocks = join(folder.path, 'data');
    const { status, output } = runTool('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', metrics, blocks]);
    expect({ status, output }).toMatchObject({ status: 0 });
    // The dump also reads the log of a running Prometheus.
    mkdirSync(join(blocks, 'wal'));
    const dump = runTool('promtool', ['tsdb', 'dump', '--match={__name__="bridge_exporter_up"}', blocks]);
    expect(dump.output.trim().split('\n').length).toBe(pointsOf(stdout, 'bridge_exporter_up{').length);
  });
});
