import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** Which folders of `src` the files of a folder may import, besides their own. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['cli', 'config', 'exporter.ts', 'exposition', 'one-shot.ts', 'poll', 'server', 'simulator'],
  'exporter.ts': ['config', 'exposition', 'metrics', 'pages', 'poll', 'server', 'verdicts'],
  'one-shot.ts': ['cli', 'config', 'exposition', 'http', 'json', 'poll'],
  'documents.ts': ['chain', 'config', 'json', 'metrics', 'pending'],
  cli: ['config'],
  config: ['chain'],
  poll: ['chain', 'config', 'documents.ts', 'http', 'json', 'metrics', 'pending'],
  http: ['config', 'json'],
  json: [],
  chain: ['json'],
  metrics: ['chain', 'config', 'json'],
  exposition: ['config', 'documents.ts', 'metrics', 'poll'],
  pending: ['chain', 'config', 'json', 'metrics'],
  verdicts: ['documents.ts', 'http', 'metrics', 'pending', 'poll'],
  server: ['config', 'exposition', 'metrics', 'pages'],
  pages: ['chain', 'config', 'documents.ts', 'http', 'json', 'pending', 'poll', 'verdicts'],
  simulator: ['cli', 'config', 'exporter.ts', 'poll'],
};

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** The first part of the path below `src`: a folder, or a file directly in `src`. */
function folderOf(file: string): string {
  return file.split('/')[0] ?? file;
}

interface Import {
  readonly line: string;
  readonly target: string;
  readonly isLazy: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), 'utf8');
  const pattern = /(?:^|\n)(?:import|export)[^;]*?from '(?<from>\.[^']+)'|import\('(?<lazy>\.[^']+)'\)/g;
  return [...text.matchAll(pattern)].map((match) => {
    const path = match.groups?.['from'] ?? match.groups?.['lazy'] ?? '';
    const target = relative(src, join(dirname(join(src, file)), path)).replace(/\.js$/, '.ts');
    return { line: `${file}: ${path}`, target, isLazy: match.groups?.['lazy'] !== undefined };
  });
}

describe('the structure of src', () => {
  it('has a row in the table of allowed imports for every folder', () => {
    expect([...new Set(files.map(folderOf))].toSorted()).toEqual(Object.keys(allowedImports).toSorted());
  });

  it('contains no import that the table does not allow', () => {
    const forbidden = files.flatMap((file) => {
      const own = folderOf(file);
      const allowed = new Set([own, ...(allowedImports[own] ?? [])]);
      return importsOf(file)
        .filter(({ target }) => !allowed.has(folderOf(target)))
        .map(({ line }) => line);
    });
    expect(forbidden).toEqual([]);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(100);
  });

  it('loads the simulator only from main.ts, and lazily', () => {
    const outside = files.filter((file) => folderOf(file) !== 'simulator').flatMap(importsOf);
    const ofSimulator = outside.filter(({ target }) => folderOf(target) === 'simulator');
    expect(ofSimulator.every(({ isLazy }) => isLazy)).toBe(true);
    expect(ofSimulator.length).toBeGreaterThan(0);
  });

  it('accesses the global process object only in main.ts', () => {
    const accessing = files.filter((file) => /\bprocess\.(?!hrtime)/.test(code(file)));
    expect(accessing).toEqual(['main.ts']);
  });

  it('keeps clock, randomness, environment, log and network out of documents, families and pending items', () => {
    const pure = files.filter((file) =>
      ['chain', 'json', 'metrics', 'pending', 'documents.ts'].includes(folderOf(file)),
    );
    const impure = pure.filter((file) =>
      /Date\.now|Math\.random|performance|node:(?!crypto|buffer)|undici|pino/.test(code(file)),
    );
    expect(impure).toEqual([]);
  });
});

/** The text of a file without its comments. */
function code(file: string): string {
  return readFileSync(join(src, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}
