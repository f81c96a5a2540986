import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** What does not know the others, and may be imported by all but the simulator. */
const leaves = new Set(['clock.ts', 'files.ts', 'tasks.ts', 'text', 'units.ts']);

/** Which folders of `src` the files of a folder may import, besides their own and the leaves. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['commands'],
  commands: [
    'problems',
    'config',
    'document-types.ts',
    'documents.ts',
    'exposition',
    'facts',
    'http',
    'engine',
    'pages',
    'recorder',
    'server',
    'simulator',
    'sources',
  ],
  'documents.ts': ['chain', 'config', 'document-types.ts', 'facts', 'flow', 'items', 'metrics'],
  'document-types.ts': ['chain', 'config', 'facts', 'flow'],
  config: ['chain'],
  engine: [
    'problems',
    'chain',
    'config',
    'document-types.ts',
    'documents.ts',
    'facts',
    'items',
    'flow',
    'http',
    'metrics',
    'queries',
  ],
  queries: ['chain', 'config', 'document-types.ts', 'facts', 'flow', 'http', 'metrics'],
  http: ['chain', 'config'],
  chain: [],
  facts: ['chain', 'config'],
  items: ['chain', 'facts', 'problems'],
  metrics: ['chain', 'config', 'facts'],
  flow: ['chain', 'facts', 'metrics'],
  exposition: ['config', 'document-types.ts', 'documents.ts', 'metrics', 'engine', 'problems', 'queries', 'recorder'],
  problems: ['chain', 'config', 'document-types.ts', 'facts', 'flow', 'http', 'metrics', 'queries'],
  server: ['metrics', 'pages', 'config'],
  pages: [
    'chain',
    'config',
    'document-types.ts',
    'documents.ts',
    'facts',
    'items',
    'http',
    'engine',
    'problems',
    'queries',
  ],
  recorder: ['config', 'document-types.ts', 'engine', 'http'],
  simulator: [],
  sources: [
    'chain',
    'config',
    'document-types.ts',
    'documents.ts',
    'engine',
    'facts',
    'http',
    'queries',
    'recorder',
    'simulator',
  ],
};

const places = [...leaves, ...Object.keys(allowedImports)].toSorted();

const src = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** The first part of the path below `src`: a folder, or a file directly in `src`. */
function folderOf(file: string): string {
  return file.split('/')[0] ?? file;
}

interface Import {
  readonly line: string;
  readonly target: string;
  /** Not loaded with the file. */
  readonly isLazy: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(src, file), 'utf8');
  const pattern =
    /(?:^|\n)(?:import|export)(?<type> type\b)?[^;]*?from '(?<from>\.[^']+)'|import\('(?<lazy>\.[^']+)'\)/g;
  return [...text.matchAll(pattern)].map((match) => {
    const path = match.groups?.['from'] ?? match.groups?.['lazy'] ?? '';
    const target = relative(src, join(dirname(join(src, file)), path)).replace(/\.js$/, '.ts');
    return {
      line: `${file}: ${path}`,
      target,
      isLazy: match.groups?.['lazy'] !== undefined || match.groups?.['type'] !== undefined,
    };
  });
}

/** What is loaded with a file. */
function loadedWith(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) return loaded;
  loaded.add(file);
  for (const { target, isLazy } of importsOf(file)) if (!isLazy) loadedWith(target, loaded);
  return loaded;
}

/** The files of a circle of imports, in the order in which they import each other; `undefined` without a circle. */
function findCircle(isFollowed: (each: Import) => boolean): readonly string[] | undefined {
  const finished = new Set<string>();
  function follow(file: string, path: readonly string[]): readonly string[] | undefined {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return undefined;
    for (const { target } of importsOf(file).filter(isFollowed)) {
      const circle = follow(target, [...path, file]);
      if (circle !== undefined) return circle;
    }
    finished.add(file);
    return undefined;
  }
  for (const file of files.filter((each) => folderOf(each) !== 'simulator')) {
    const circle = follow(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('the structure of src', () => {
  it('has a row in the table of allowed imports for every folder', () => {
    expect([...new Set(files.map(folderOf))].toSorted()).toEqual(places);
  });

  it('has a row in the layout table of CONTRIBUTING.md for every folder and every file beside the folders', () => {
    const layout = readFileSync(join(src, '../CONTRIBUTING.md'), 'utf8');
    const rowOf = (name: string): string => `| \`src/${name}${name.endsWith('.ts') ? '' : '/'}\``;
    expect(places.filter((name) => !layout.includes(rowOf(name)))).toEqual([]);
  });

  it('contains no import that the table does not allow', () => {
    const forbidden = files.flatMap((file) => {
      const own = folderOf(file);
      const allowed = new Set([own, ...(own === 'simulator' ? [] : leaves), ...(allowedImports[own] ?? [])]);
      return importsOf(file)
        .filter(({ target }) => !allowed.has(folderOf(target)))
        .map(({ line }) => line);
    });
    expect(forbidden).toEqual([]);
    expect(files.flatMap(importsOf).length).toBeGreaterThan(100);
  });

  it('allows no two folders that import each other', () => {
    const mutual = Object.entries(allowedImports).flatMap(([own, allowed]) =>
      allowed.filter((other) => own < other && allowedImports[other]?.includes(own)).map((other) => [own, other]),
    );
    expect(mutual).toEqual([]);
  });

  it('has no circles of imports outside the simulator, neither of values nor with types', () => {
    expect(findCircle(({ isLazy }) => !isLazy)).toBeUndefined();
    expect(findCircle(({ target }) => folderOf(target) !== 'simulator')).toBeUndefined();
  });

  it('allows no import that no file has', () => {
    const found = new Set(
      files.flatMap((file) => importsOf(file).map(({ target }) => `${folderOf(file)}: ${folderOf(target)}`)),
    );
    const all = Object.entries(allowedImports).flatMap(([own, allowed]) =>
      allowed.map((folder) => `${own}: ${folder}`),
    );
    expect(all.filter((row) => !found.has(row))).toEqual([]);
  });

  it('loads commands lazily, so that a command loads only the modules it uses', () => {
    const eager = ['main.ts', 'commands/command-line.ts'].flatMap(importsOf).filter(({ isLazy }) => !isLazy);
    expect(new Set(eager.map(({ target }) => target))).toEqual(
      new Set(['commands/command-line.ts', 'commands/flags.ts', 'simulator/scenarios.ts', 'text/error-text.ts']),
    );
  });

  it('loads the simulator only for demo and simulate, but for the names of scenarios', () => {
    const SCENARIOS = 'simulator/scenarios.ts';
    const loads = (command: string): boolean =>
      [...loadedWith(`commands/${command}.ts`)].some((file) => folderOf(file) === 'simulator' && file !== SCENARIOS);
    const commands = ['command-line', 'daemon', 'demo', 'healthcheck', 'once', 'replay', 'simulate'];
    expect(commands.filter(loads)).toEqual(['demo', 'simulate']);
  });

  it('loads nothing of the daemon for the health check, which runs every 30 s', () => {
    expect(Array.from(loadedWith('commands/healthcheck.ts'), folderOf)).not.toContain('config');
    expect(Array.from(loadedWith('commands/healthcheck.ts')).length).toBeLessThan(10);
  });

  it('imports zod so that the bundle has only the parts of it that are used', () => {
    const imports = files.flatMap((file) => code(file).match(/^import .*from 'zod.*/gm) ?? []);
    expect(new Set(imports)).toEqual(
      new Set(["import * as z from 'zod';", "import { toDotPath } from 'zod/v4/core';"]),
    );
    // All of `core` has the messages of all languages.
    expect(files.filter((file) => /\bz\.(?:core\.[^$C]|locales)/.test(code(file)))).toEqual([]);
  });

  it('accesses the global process object only in main.ts', () => {
    const accessing = files.filter((file) => /\bprocess\.(?!hrtime)/.test(code(file)));
    expect(accessing).toEqual(['main.ts']);
  });

  it('has the sequence of a poll once: a single module imports the step', () => {
    const importing = files.filter((file) => /import \{[^}]*\bstep\b[^}]*\} from '[^']*\/step\.js'/.test(code(file)));
    expect(importing).toEqual(['engine/engine.ts']);
  });

  it('lists in CONTRIBUTING.md the files of a poll, at most 24, which exist', () => {
    const text = readFileSync(join(src, '../CONTRIBUTING.md'), 'utf8');
    const ofPoll = text.slice(text.indexOf('path of a response body to a scrape'), text.indexOf('`once` is a round'));
    // A name without a folder is in the folder before it.
    let folder = '';
    const listed = Array.from(ofPoll.matchAll(/`((?:src\/)?[\w/-]+(?:\.ts|\/))`/g), ([, name = '']) => {
      const path = name.startsWith('src/') ? name.slice(4) : join(folder, name);
      folder = path.endsWith('/') ? path : dirname(path);
      return path;
    });
    expect(listed.filter((path) => !files.some((file) => file === path || file.startsWith(path)))).toEqual([]);
    expect(listed.length).toBeGreaterThan(10);
    expect(listed.length).toBeLessThanOrEqual(24);
  });

  it('imports the rows of pages only where pages and documents are made', () => {
    const readers = new Set(['items', 'pages', 'engine']);
    const others = files.filter((file) => !readers.has(folderOf(file)) && file !== 'documents.ts');
    expect(others.filter((file) => code(file).includes('/items/'))).toEqual([]);
  });

  it('runs without the result of the build', () => {
    expect(files.filter((file) => /\bdist\//.test(code(file)))).toEqual([]);
  });

  it('derives from the rows of a document only in facts, flow and items', () => {
    const rowTypes = new Set(['chain/module-state.ts', 'chain/rate-limiter-input.ts']);
    const reading = new Set(['document-types.ts', 'documents.ts', 'queries/crosschain-queries.ts']);
    const others = files.filter(
      (file) => !['chain', 'facts', 'flow', 'items'].includes(folderOf(file)) && !reading.has(file),
    );
    // A problem names the types of the rows that it passes from a fact to a sentence.
    const deriving = others.flatMap((file) =>
      importsOf(file).filter(
        ({ target, isLazy }) => rowTypes.has(target) && !(isLazy && folderOf(file) === 'problems'),
      ),
    );
    expect(deriving.map(({ line }) => line)).toEqual([]);
    expect(
      files
        .filter((file) => folderOf(file) === 'facts')
        .flatMap(importsOf)
        .some(({ target }) => rowTypes.has(target)),
    ).toBe(true);
  });

  it('keeps clock, randomness, environment, log and network out of documents, facts and families', () => {
    const pure = files.filter((file) =>
      ['chain', 'facts', 'flow', 'metrics', 'document-types.ts', 'documents.ts', 'engine/step.ts'].some(
        (place) => folderOf(file) === place || file === place,
      ),
    );
    const impure = pure.filter((file) =>
      /Date\.now|Math\.random|performance|node:(?!crypto|buffer|zlib)|undici|pino/.test(code(file)),
    );
    expect(impure).toEqual([]);
  });
});

/** The text of a file without its comments. */
function code(file: string): string {
  return readFileSync(join(src, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
}
