import { readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { pathOf, read, readYaml } from './files.js';
import type { Manifest } from './kubernetes-schemas.js';

export const FOLDER = 'deploy/kubernetes';

/** All of kustomize that we use; another key is not understood here. */
interface Kustomization {
  readonly apiVersion: string;
  readonly kind: 'Kustomization' | 'Component';
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly replacements?: readonly Replacement[];
}

const keys = new Set(['apiVersion', 'kind', 'resources', 'components', 'configMapGenerator', 'replacements']);

interface Replacement {
  readonly source: Named & { readonly fieldPath: string };
  readonly targets: readonly {
    readonly select: Named;
    readonly fieldPaths: readonly string[];
    readonly options: { readonly delimiter: string; readonly index: number };
  }[];
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

/** What `kubectl apply --kustomize` sends, without the hash behind generated names; `edit` changes what is read. */
export function rendered(folder: string, edit = (manifest: Manifest): Manifest => manifest): Manifest[] {
  const kustomization = readYaml(join(folder, 'kustomization.yaml')) as Kustomization;
  const unknown = Object.keys(kustomization).filter((key) => !keys.has(key));
  if (unknown.length > 0) throw new Error(`${folder}: ${unknown.join(', ')} is not understood`);
  const { resources = [], components = [], configMapGenerator = [], replacements = [] } = kustomization;
  const manifests = [
    ...[...resources, ...components].flatMap((entry) => {
      const path = normalize(join(folder, entry));
      return entry.endsWith('.yaml') ? [edit(readYaml(path) as Manifest)] : rendered(path, edit);
    }),
    ...configMapGenerator.map(({ name, files }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: Object.fromEntries(files.map((file) => [file, read(join(folder, file))])),
    })),
  ];
  return replacements.reduce(replace, manifests);
}

/** The files a kustomization names, and those of the ones it includes. */
export function namedFiles(folder: string): string[] {
  const file = join(folder, 'kustomization.yaml');
  const { resources = [], components = [], configMapGenerator = [] } = readYaml(file) as Kustomization;
  const own = [...resources, ...components, ...configMapGenerator.flatMap(({ files }) => files)];
  return [
    file,
    ...own.flatMap((entry) => {
      const path = normalize(join(folder, entry));
      return entry.endsWith('.yaml') ? [path] : namedFiles(path);
    }),
  ];
}

export function allFiles(): string[] {
  return readdirSync(pathOf(FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml') && dirname(name) !== '.')
    .map((name) => join(FOLDER, name));
}

function replace(manifests: readonly Manifest[], { source, targets }: Replacement): Manifest[] {
  const value = fieldAt(only(manifests, source), source.fieldPath).get();
  const changed = structuredClone([...manifests]);
  for (const { select, fieldPaths, options } of targets) {
    for (const path of fieldPaths) {
      const field = fieldAt(only(changed, select), path);
      const parts = String(field.get()).split(options.delimiter);
      parts[options.index] = String(value);
      field.set(parts.join(options.delimiter));
    }
  }
  return changed;
}

function only(manifests: readonly Manifest[], { kind, name }: Named): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  const [manifest] = found;
  if (manifest === undefined || found.length > 1) throw new Error(`${found.length} of ${kind} ${name}`);
  return manifest;
}

/** A field by its path, in which `[name=x]` is the entry of a list with that name. */
function fieldAt(manifest: Manifest, path: string) {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  const parent = steps.reduce<unknown>((at, step) => childOf(at, step, path), manifest) as Record<string, unknown>;
  if (!(last in parent)) throw new Error(`${path} is not there`);
  return {
    get: () => parent[last],
    set: (value: string) => {
      parent[last] = value;
    },
  };
}

function childOf(at: unknown, step: string, path: string): unknown {
  const [, name] = /^\[name=(.+)\]$/.exec(step) ?? [];
  const child =
    name === undefined
      ? (at as Record<string, unknown>)[step]
      : (at as readonly { readonly name: string }[]).find((entry) => entry.name === name);
  if (child === undefined) throw new Error(`${path} is not there`);
  return child;
}
