/** What recording costs, and how fast and in how much memory a recording is replayed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { encodeRecording, formatPath } from '../../dist/recorder/recording-file.js';
import { documents } from './bodies.mjs';
import { MAIN, usageOf } from './daemon.mjs';
import { measureUsage, startExporter } from './pace.mjs';
import { NODE_FLAGS } from './processes.mjs';
import { median } from './statistics.mjs';

const INTERVAL_SECONDS = 10;

/** With the default settings, a poll every 30 s and a recording every 5 minutes. */
const POLLS_PER_RECORDING = 10;

export async function recordingCost({ node, ...times }) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-recorder-'));
  try {
    const programs = await Promise.all([
      startExporter(node, {
        intervalSeconds: INTERVAL_SECONDS,
        settings: { recorder: { directory, interval: '0s' } },
      }),
      startExporter(node, { intervalSeconds: INTERVAL_SECONDS }),
    ]);
    const [recording, without] = await measureUsage(programs, times);
    const perRecording = median(recording.map(({ cpuMs }, run) => cpuMs - without[run].cpuMs));
    const perPoll = median(without.map(({ cpuMs }) => cpuMs));
    return [
      {
        figure: `recording every ${POLLS_PER_RECORDING}th poll of 1 MB: CPU time per poll ÷ without a recorder`,
        own: `${perRecording.toFixed(1)} ms per recorded poll`,
        baseline: `${perPoll.toFixed(1)} ms`,
        ratio: 1 + perRecording / POLLS_PER_RECORDING / perPoll,
        limit: 1.05,
      },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const START_MS = Date.parse('2026-10-01T00:00:00Z');
const RECORDER_INTERVAL_MS = 300_000;

/** How often CPU time and memory of the replay are read, the last time shortly before its end. */
const SAMPLE_MS = 200;

export async function replayMemory({ few, many }) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-recording-'));
  try {
    record(directory, many);
    const first = await replay(directory, few);
    const whole = await replay(directory, many);
    return [
      {
        figure: `replay: peak resident memory of ${many.toLocaleString('en')} polls ÷ of ${few.toLocaleString('en')}`,
        own: `${whole.peakMiB.toFixed(0)} MiB`,
        baseline: `${first.peakMiB.toFixed(0)} MiB`,
        ratio: whole.peakMiB / first.peakMiB,
        limit: 1.2,
      },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** One poll every 5 minutes. A file is compressed in two parts, so that the bodies are compressed once. */
function record(directory, polls) {
  const bodies = [1, 2, 3].map((copies) => gzipSync(documents.module_state.body(1e6 + copies * 1e4), { level: 1 }));
  for (let poll = 0; poll < polls; poll += 1) {
    const header = {
      version: 1,
      target: 'bench',
      document: 'module_state',
      time: timeOf(poll),
      outcome: 'ok',
      height: String(8_214_000 + poll * 150),
    };
    const file = join(directory, formatPath(header));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.concat([gzipSync(encodeRecording(header)), bodies[poll % bodies.length]]));
  }
}

const timeOf = (poll) => new Date(START_MS + poll * RECORDER_INTERVAL_MS).toISOString();

async function replay(directory, polls) {
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, MAIN, 'replay', '--recording', directory, `--to=${timeOf(polls - 1)}`],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  let usage = { peakMiB: 0, cpuSeconds: 0 };
  const sampling = setInterval(() => {
    const now = usageOf(child.pid);
    // A process that has just ended has no memory.
    if (Number.isFinite(now.peakMiB)) usage = now;
  }, SAMPLE_MS);
  const [code] = await once(child, 'exit');
  clearInterval(sampling);
  if (code !== 0) throw new Error(`the replay has ended with ${code}`);
  return { ...usage, seconds: (performance.now() - started) / 1000 };
}
