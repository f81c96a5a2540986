import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/*
 * Files that are installed with the program. A single executable has them as assets, by their name without the folder, and starts worker
 * threads from text.
 */

export function readProgramFile(url: URL): string {
  return isSea() ? getAsset(basename(url.pathname), 'utf8') : readFileSync(url, 'utf8');
}

export function startWorker(url: URL, options: WorkerOptions = {}): Worker {
  return isSea() ? new Worker(readProgramFile(url), { ...options, eval: true }) : new Worker(url, options);
}
