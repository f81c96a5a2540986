import { readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { projectPath, readProjectFile, readProjectYaml } from '../support/project-files.js';
import type { Manifest } from './kubernetes-schemas.js';

export const FOLDER = 'deploy/kubernetes';

/** The supported subset of kustomize. */
interface Kustomization {
  readonly apiVersion: string;
  readonly kind: 'Kustomization' | 'Component';
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly replacements?: readonly Replacement[];
}

const supportedKeys = new Set(['apiVersion', 'kind', 'resources', 'components', 'configMapGenerator', 'replacements']);

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

/**
 * The manifests that `kubectl apply --kustomize` applies, without the hash suffix of generated names. `edit` changes
 * each source manifest.
 */
export function renderKustomization(folder: string, edit = (manifest: Manifest): Manifest => manifest): Manifest[] {
  const kustomization = readProjectYaml(join(folder, 'kustomization.yaml')) as Kustomization;
  const unsupported = Object.keys(kustomization).filter((key) => !supportedKeys.has(key));
  if (unsupported.length > 0) throw new Error(`${folder}: unsupported keys ${unsupported.join(', ')}`);
  const { resources = [], components = [], configMapGenerator = [], replacements = [] } = kustomization;
  const manifests = [
    ...[...resources, ...components].flatMap((entry) => {
      const path = normalize(join(folder, entry));
      return entry.endsWith('.yaml') ? [edit(readProjectYaml(path) as Manifest)] : renderKustomization(path, edit);
    }),
    ...configMapGenerator.map(({ name, files }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: Object.fromEntries(files.map((file) => [file, readProjectFile(join(folder, file))])),
    })),
  ];
  return replacements.reduce(replace, manifests);
}

/** The files that a kustomization and the ones it includes refer to. */
export function namedFiles(folder: string): string[] {
  const file = join(folder, 'kustomization.yaml');
  const { resources = [], components = [], configMapGenerator = [] } = readProjectYaml(file) as Kustomization;
  const entries = [...resources, ...components, ...configMapGenerator.flatMap(({ files }) => files)];
  return [
    file,
    ...entries.flatMap((entry) => {
      const path = normalize(join(folder, entry));
      return entry.endsWith('.yaml') ? [path] : namedFiles(path);
    }),
  ];
}

export function allFiles(): string[] {
  return readdirSync(projectPath(FOLDER), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml') && dirname(name) !== '.')
    .map((name) => join(FOLDER, name));
}

function replace(manifests: readonly Manifest[], { source, targets }: Replacement): Manifest[] {
  const value = fieldAt(findOnly(manifests, source), source.fieldPath).get();
  const changed = structuredClone([...manifests]);
  for (const { select, fieldPaths, options } of targets) {
    for (const path of fieldPaths) {
      const field = fieldAt(findOnly(changed, select), path);
      const parts = String(field.get()).split(options.delimiter);
      parts[options.index] = String(value);
      field.set(parts.join(options.delimiter));
    }
  }
  return changed;
}

function findOnly(manifests: readonly Manifest[], { kind, name }: Named): Manifest {
  const found = manifests.filter((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  const [manifest] = found;
  if (manifest === undefined || found.length > 1)
    throw new Error(`expected one ${kind} ${name}, found ${found.length}`);
  return manifest;
}

/** A field by its path. `[name=x]` selects the list entry with this name. */
function fieldAt(manifest: Manifest, path: string) {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  const parent = steps.reduce<unknown>((value, step) => childOf(value, step, path), manifest) as Record<
    string,
    unknown
  >;
  if (!(last in parent)) throw new Error(`${path} does not exist`);
  return {
    get: () => parent[last],
    set: (value: string) => {
      parent[last] = value;
    },
  };
}

function childOf(value: unknown, step: string, path: string): unknown {
  const [, name] = /^\[name=(.+)\]$/.exec(step) ?? [];
  const child =
    name === undefined
      ? (value as Record<string, unknown>)[step]
      : (value as readonly { readonly name: string }[]).find((entry) => entry.name === name);
  if (child === undefined) throw new Error(`${path} does not exist`);
  return child;
}
