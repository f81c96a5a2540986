import { getHeapStatistics } from 'node:v8';
import { MEBIBYTE, formatSize } from '../units.js';
import type { Config } from './config.js';

/** Used by the process before its first poll. */
const BASE_BYTES = 96 * MEBIBYTE;

/** Resident bytes per byte of the largest body: body, decoded document, concurrent bodies. */
const MEMORY_PER_BODY_BYTE = 10;

/** The copy of a body that waits to be recorded, and its compressed form. */
const RECORDED_MEMORY_PER_BODY_BYTE = 2;

const MIN_BODY_BYTES = MEBIBYTE;

/**
 * Lowers `poll.max_body_size` to what fits into memory, with a warning. A body that does not fit ends the
 * process.
 */
export function clampToMemory(config: Config, bytes: number): { config: Config; warnings: readonly string[] } {
  const { poll, recorder } = config;
  const perBodyByte = MEMORY_PER_BODY_BYTE + (recorder.directory === undefined ? 0 : RECORDED_MEMORY_PER_BODY_BYTE);
  const availableBytes = Math.floor((bytes - BASE_BYTES) / perBodyByte / MEBIBYTE) * MEBIBYTE;
  const maxBodyBytes = Math.max(MIN_BODY_BYTES, availableBytes);
  if (poll.max_body_size <= maxBodyBytes) return { config, warnings: [] };
  const warning =
    `poll.max_body_size (${formatSize(poll.max_body_size)}) does not fit into ${formatSize(bytes)} of memory ` +
    `and is lowered to ${formatSize(maxBodyBytes)}`;
  return { config: { ...config, poll: { ...poll, max_body_size: maxBodyBytes } }, warnings: [warning] };
}

/** Heap per JSON value until its document is derived. Half of the heap is left for everything else. */
const HEAP_BYTES_PER_VALUE = 200;

/** The most JSON values of a body that the heap can hold. */
export function maxHeapValues(heapBytes: number = getHeapStatistics().heap_size_limit): number {
  return heapBytes / 2 / HEAP_BYTES_PER_VALUE;
}
