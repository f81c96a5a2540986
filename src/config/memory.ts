import type { Config } from './config.js';
import { formatSize } from './kit/units.js';

/** What the machine or the container and Node.js let this process have. */
export interface MemoryLimits {
  /** Of the whole process; `Infinity` without a limit. */
  readonly bytes: number;
  /** Of a heap. */
  readonly heapBytes: number;
}

const MEBIBYTE = 2 ** 20;

/** Taken by the process before it has polled anything. */
const BASE_BYTES = 96 * MEBIBYTE;

/** Of the rest: a body is held while what is read of it is made, and those of other endpoints come in meanwhile. */
const REST_PER_BODY = 10;

const LEAST_BODY_BYTES = MEBIBYTE;

/**
 * The configuration with a body no larger than the memory can bear: one that is would not fail its poll but end the process. Says
 * so when that is less than what was asked for.
 */
export function clampToMemory(
  config: Config,
  { bytes }: MemoryLimits,
): { config: Config; warnings: readonly string[] } {
  const { poll } = config;
  const bearable = Math.max(LEAST_BODY_BYTES, Math.floor((bytes - BASE_BYTES) / REST_PER_BODY / MEBIBYTE) * MEBIBYTE);
  if (poll.maxBodyBytes <= bearable) return { config, warnings: [] };
  const warning =
    `poll.max_body_size (${formatSize(poll.maxBodyBytes)}) is more than fits into ${formatSize(bytes)} of memory: ` +
    `documents over ${formatSize(bearable)} are refused`;
  return { config: { ...config, poll: { ...poll, maxBodyBytes: bearable } }, warnings: [warning] };
}

/** A third of it is for the document, which takes up to twice the size of its body; the rest is for what is derived from it. */
export const HEAP_PER_BODY = 6;
const LEAST_HEAP_MB = 48;

/** Memory of the collect thread: what the largest body may need, and at most half of what there is. */
export function workerHeapMb({ poll }: Config, { bytes, heapBytes }: MemoryLimits): number {
  const wanted = (HEAP_PER_BODY * poll.maxBodyBytes) / MEBIBYTE;
  const allowed = Math.min(bytes, heapBytes) / 2 / MEBIBYTE;
  return Math.floor(Math.max(LEAST_HEAP_MB, Math.min(wanted, allowed)));
}
