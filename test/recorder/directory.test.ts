import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeRecording, openDirectory, type RecordingHeader } from '../../src/recorder/directory.js';
import type { DocumentName } from '../../src/document-types.js';
import { createTempFolder, filesBelow } from '../support/temp-folder.js';

const START = Date.parse('2026-11-23T23:50:00.000Z');
const MINUTE = 60_000;
const KIBIBYTE = 1024;

const header = (minute: number, target = 'mainnet', document: DocumentName = 'module_state'): RecordingHeader => ({
  version: 1,
  target,
  document,
  time: new Date(START + minute * MINUTE).toISOString(),
  outcome: 'ok',
});

const filesIn = (path: string): string[] => filesBelow(path).map((file) => relative(path, file));

const sizeOf = (path: string): number => filesBelow(path).reduce((sum, file) => sum + readFileSync(file).length, 0);

describe('the directory of recordings', () => {
  it('has one file for each poll, below the target, the document and the day', async () => {
    const { path } = createTempFolder();
    const directory = await openDirectory(path);
    await directory.write(header(0), Buffer.from('{"state":{}}'), Infinity);
    await directory.write(header(10), new Uint8Array(), Infinity);
    await directory.write(header(11, '..', 'rate_limiter_input'), Buffer.from('{}'), Infinity);
    expect(filesIn(path)).toEqual([
      '%2E%2E/rate_limiter_input/2026-11-24/000100.000Z.json.gz',
      'mainnet/module_state/2026-11-23/235000.000Z.json.gz',
      'mainnet/module_state/2026-11-24/000000.000Z.json.gz',
    ]);
    const content = gunzipSync(readFileSync(join(path, 'mainnet/module_state/2026-11-23/235000.000Z.json.gz')));
    expect(decodeRecording(content)).toEqual({ header: header(0), body: Buffer.from('{"state":{}}') });
    expect(directory.bytes()).toBe(sizeOf(path));
    expect((await openDirectory(path)).bytes()).toBe(sizeOf(path));
  });

  it('never exceeds its limit: the oldest hours of all endpoints are deleted first, that of now included, and empty days with them', async () => {
    const { path } = createTempFolder();
    const maxBytes = 40 * KIBIBYTE;
    const directory = await openDirectory(path);
    const kept: string[] = [];
    for (let minute = 0; minute < 30; minute += 1) {
      const [target, document] =
        minute % 2 === 0 ? (['a', 'module_state'] as const) : (['b', 'rate_limiter_input'] as const);
      await directory.write(header(minute, target, document), randomBytes(4 * KIBIBYTE), maxBytes);
      expect(sizeOf(path)).toBeLessThanOrEqual(maxBytes);
      expect(directory.bytes()).toBe(sizeOf(path));
      kept.push(`${filesIn(path).length}`);
    }
    // Nine fit: the hour of 23:50 goes twice, the second time with one poll, and then the present one.
    expect(kept.join(' ')).toBe('1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 9 1 2 3 4 5 6 7 8 9 1 2');
    expect(readdirSync(join(path, 'a/module_state'))).toEqual(['2026-11-24']);
  });

  it('continues with what an earlier process has left, also half written', async () => {
    const { path } = createTempFolder();
    const maxBytes = 20 * KIBIBYTE;
    const first = await openDirectory(path);
    for (const minute of [0, 1, 70]) await first.write(header(minute), randomBytes(4 * KIBIBYTE), maxBytes);
    const day = join(path, 'mainnet/module_state/2026-11-23');
    writeFileSync(join(day, '.235200.000Z.json.gz.tmp'), randomBytes(4 * KIBIBYTE));
    const second = await openDirectory(path);
    await second.write(header(71), randomBytes(4 * KIBIBYTE), maxBytes);
    expect(filesIn(path).map((file) => file.slice(-19, -15))).toEqual(['0100', '0101']);
    expect(existsSync(day)).toBe(false);
  });

  it('leaves files of others alone, and does not follow symbolic links', async () => {
    const { path } = createTempFolder();
    const elsewhere = createTempFolder();
    const foreign = ['README.md', 'mainnet/notes.txt', 'mainnet/module_state/2026-11-22/notes.txt', '.git/config'];
    for (const file of foreign) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), randomBytes(64 * KIBIBYTE));
    }
    const day = join(elsewhere.path, 'module_state/2026-11-20');
    mkdirSync(day, { recursive: true });
    writeFileSync(join(day, '000000.000Z.json.gz'), randomBytes(64 * KIBIBYTE));
    symlinkSync(elsewhere.path, join(path, 'linked'));
    const directory = await openDirectory(path);
    expect(directory.bytes()).toBe(0);
    for (let minute = 0; minute < 6; minute += 1)
      await directory.write(header(minute), randomBytes(4 * KIBIBYTE), 10 * KIBIBYTE);
    for (const file of foreign) expect(existsSync(join(path, file)), file).toBe(true);
    expect(readdirSync(day)).toEqual(['000000.000Z.json.gz']);
    expect(directory.bytes()).toBeLessThanOrEqual(10 * KIBIBYTE);
  });

  it('replaces a poll of the same millisecond, and takes polls of a clock that was set back', async () => {
    const { path } = createTempFolder();
    const directory = await openDirectory(path);
    await directory.write(header(60), Buffer.from('first'), Infinity);
    await directory.write(header(0), Buffer.from('an hour earlier'), Infinity);
    await directory.write(header(60), Buffer.from('second'), Infinity);
    expect(filesIn(path)).toHaveLength(2);
    const file = join(path, 'mainnet/module_state/2026-11-24/005000.000Z.json.gz');
    expect(decodeRecording(gunzipSync(readFileSync(file))).body.toString()).toBe('second');
  });

  it.each([
    ['the directory was removed', (path: string) => rmSync(path, { recursive: true }), 'ENOENT'],
    [
      'the directory was replaced by a file',
      (path: string) => {
        rmSync(path, { recursive: true });
        writeFileSync(path, '');
      },
      'ENOTDIR',
    ],
    ['a target is a file', (path: string) => writeFileSync(join(path, 'mainnet'), ''), /ENOTDIR|EEXIST/],
  ])('reports that %s', async (_case, breakIt, problem) => {
    const { path } = createTempFolder();
    const directory = await openDirectory(path);
    breakIt(path);
    await expect(directory.write(header(0), Buffer.from('{}'), Infinity)).rejects.toThrow(problem);
  });

  it('reports a poll that is larger than the limit, and deletes nothing for it', async () => {
    const { path } = createTempFolder();
    const directory = await openDirectory(path);
    await directory.write(header(0), Buffer.from('{}'), Infinity);
    await expect(directory.write(header(1), randomBytes(20 * KIBIBYTE), 10 * KIBIBYTE)).rejects.toThrow(
      /is larger than 10KiB \(recorder.max_size\)/,
    );
    expect(filesIn(path)).toHaveLength(1);
  });
});
