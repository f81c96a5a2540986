import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/*
 * Who may import whom. The rows are the places of src, first match first; what a place does not list it may not import.
 */
const places: readonly [place: string, pattern: RegExp, mayImport: readonly string[]][] = [
  ['sim', /^sim\//, ['sim', 'exporter', 'config', 'collect']],
  ['chain', /^chain\//, ['chain', 'config']],
  ['metrics', /^metrics\//, ['metrics', 'chain', 'config']],
  ['pending', /^pending\//, ['pending', 'metrics', 'chain', 'config']],
  ['documents', /^documents\.ts$/, ['documents', 'pending', 'metrics', 'chain', 'config']],
  ['collect', /^collect\//, ['collect', 'documents', 'pending', 'metrics', 'chain', 'config', 'version']],
  ['config', /^(config\/|config\.ts|cli\.ts|shard\.ts)/, ['config']],
  ['web', /^web\//, ['web', 'state', 'documents', 'pending', 'metrics', 'config', 'version']],
  ['version', /^version\.ts$/, []],
  ['main', /^main\.ts$/, ['config', 'collect', 'exporter', 'state', 'web', 'version', 'sim']],
  [
    'exporter',
    /^exporter\.ts$/,
    ['exporter', 'state', 'web', 'collect', 'documents', 'metrics', 'chain', 'config', 'version'],
  ],
  // The main thread between poll and scrape: jobs, poller, states, exposition, the exporter's own metrics.
  ['state', /^[a-z-]+\.ts$/, ['state', 'collect', 'documents', 'metrics', 'chain', 'config', 'version']],
];

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function placeOf(file: string): string {
  const found = places.find(([, pattern]) => pattern.test(file));
  if (found === undefined) throw new Error(`${file} has no place`);
  return found[0];
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

describe('the structure', () => {
  it('every import goes where the table allows it', () => {
    const found = files.flatMap((file) => {
      const allowed = places.find(([place]) => place === placeOf(file))?.[2] ?? [];
      return importsOf(file)
        .filter(({ target }) => !allowed.includes(placeOf(target)))
        .map(({ line }) => line);
    });
    expect(found).toEqual([]);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(100);
  });

  it('only main loads the simulator, and only when it is asked for', () => {
    const outside = files.filter((file) => placeOf(file) !== 'sim').flatMap(importsOf);
    const ofSim = outside.filter(({ target }) => placeOf(target) === 'sim');
    expect(ofSim.every(({ isLazy }) => isLazy)).toBe(true);
    expect(ofSim.length).toBeGreaterThan(0);
  });

  it('the simulator reads the spec for itself: it knows no schema, dialect or family of the exporter', () => {
    const known = files.filter((file) => placeOf(file) === 'sim').flatMap(importsOf);
    expect(known.filter(({ target }) => ['chain', 'metrics', 'documents'].includes(placeOf(target)))).toEqual([]);
  });

  it('only main touches the process', () => {
    const touching = files.filter((file) => /\bprocess\.(?!hrtime)/.test(code(file)));
    expect(touching).toEqual(['main.ts']);
  });

  it('what is derived sees no clock, chance, environment, log or network', () => {
    const pure = files.filter((file) => ['metrics', 'pending'].includes(placeOf(file)) || file === 'documents.ts');
    const impure = pure.filter((file) =>
      /Date\.now|Math\.random|performance|node:(?!crypto)|undici|pino/.test(code(file)),
    );
    expect(impure).toEqual([]);
  });

  it('no file is longer than 250 lines', () => {
    const long = files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 251);
    expect(long).toEqual([]);
  });
});

function code(file: string): string {
  return readFileSync(join(src, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}
