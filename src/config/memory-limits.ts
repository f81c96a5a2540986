import type { Config } from './config.js';
import { formatSize, MEBIBYTE } from '../settings/units.js';

/** Memory limits of this process. */
export interface MemoryLimits {
  /** Limit of the container or machine; `Infinity` without one. */
  readonly bytes: number;
  /** Heap limit of V8. */
  readonly heapBytes: number;
}

/** Used by the process before its first poll. */
const BASE_BYTES = 96 * MEBIBYTE;

/** Resident bytes per byte of the largest body: the body, the decoded document, and concurrent bodies of other endpoints. */
const MEMORY_PER_BODY_BYTE = 10;

/** The copy of a body that waits to be recorded, and its compressed form. */
const RECORDED_MEMORY_PER_BODY_BYTE = 2;

const MIN_BODY_BYTES = MEBIBYTE;

/**
 * Lowers `poll.max_body_size` to what fits into memory, with a warning. Bodies are outside the heap: a body that does not fit ends
 * the process, whereas a document that exhausts the heap of the worker thread only fails its poll.
 */
export function clampToMemory(
  config: Config,
  { bytes }: MemoryLimits,
): { config: Config; warnings: readonly string[] } {
  const { poll, recorder } = config;
  const perBodyByte = MEMORY_PER_BODY_BYTE + (recorder.directory === undefined ? 0 : RECORDED_MEMORY_PER_BODY_BYTE);
  const availableBytes = Math.floor((bytes - BASE_BYTES) / perBodyByte / MEBIBYTE) * MEBIBYTE;
  const maxBodyBytes = Math.max(MIN_BODY_BYTES, availableBytes);
  if (poll.maxBodyBytes <= maxBodyBytes) return { config, warnings: [] };
  const warning =
    `poll.max_body_size (${formatSize(poll.maxBodyBytes)}) does not fit into ${formatSize(bytes)} of memory ` +
    `and is lowered to ${formatSize(maxBodyBytes)}`;
  return { config: { ...config, poll: { ...poll, maxBodyBytes } }, warnings: [warning] };
}

/** Heap bytes per byte of a body. The decoded document may use a third of them, the families derived from it the rest. */
const HEAP_PER_BODY_BYTE = 6;
export const DOCUMENT_HEAP_SHARE = 1 / 3;
const MIN_HEAP_MB = 48;

/** Heap limit of the worker thread: what the largest body may need, and at most half of the available memory. */
export function workerHeapMb({ poll }: Config, { bytes, heapBytes }: MemoryLimits): number {
  const neededMb = (HEAP_PER_BODY_BYTE * poll.maxBodyBytes) / MEBIBYTE;
  const availableMb = Math.min(bytes, heapBytes) / 2 / MEBIBYTE;
  return Math.floor(Math.max(MIN_HEAP_MB, Math.min(neededMb, availableMb)));
}
