import { mkdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { openDirectory, type RecordingDirectory } from './directory.js';
import type { RecorderReply, RecorderRequest, RecorderWorkerData } from './recorder-thread.js';

/* The thread that compresses and writes recorded polls, one after the other. */

const port = parentPort;
if (port === null) throw new Error('recorder-worker.js runs only as a worker thread');

const { directory: root, maxBytes }: RecorderWorkerData = workerData;
let directory: RecordingDirectory | undefined;

/** The directory is opened again after a failure: another volume may be mounted there. */
function attempt(action: (opened: RecordingDirectory) => void): RecorderReply {
  try {
    directory ??= openDirectory(root, maxBytes);
    action(directory);
    return { bytes: directory.bytes() };
  } catch (error) {
    directory = undefined;
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

try {
  // Only once: when the directory disappears later, it may be a volume that is not mounted.
  mkdirSync(root, { recursive: true });
} catch {
  // Opening it fails with the same reason.
}
port.on('message', ({ header, body }: RecorderRequest) => {
  port.postMessage(attempt((opened) => opened.write(header, body)));
});
port.postMessage(attempt(() => undefined));
