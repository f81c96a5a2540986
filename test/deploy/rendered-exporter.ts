import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTempFolder } from '../support/temp-folder.js';
import type { Manifest } from './helm.js';
import { containerOf, podOf } from './manifests.js';

/** Contents of ConfigMaps and Secrets by name, for those that the chart does not create. */
export type Existing = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * The arguments and variables of the container, with its mounts in a temporary folder. `index` is the ordinal of the pod in a
 * StatefulSet.
 */
export function exporterOf(manifests: readonly Manifest[], existing: Existing = {}, index = 1) {
  const container = containerOf(manifests);
  const volumes = podOf(manifests).spec?.volumes ?? [];
  const root = createTempFolder().path;
  const contents = new Map(Object.entries(existing));
  for (const { kind, metadata, data, stringData } of manifests) {
    if (kind === 'ConfigMap' || kind === 'Secret') contents.set(metadata.name, { ...data, ...stringData });
  }
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const volume = volumes.find((candidate) => candidate.name === name);
    const source = volume?.configMap?.name ?? volume?.secret?.secretName ?? '';
    const files = volume?.emptyDir === undefined ? contents.get(source) : {};
    if (files === undefined) throw new Error(`${mountPath}: there is no ConfigMap or Secret ${source}`);
    mkdirSync(join(root, mountPath), { recursive: true });
    for (const [file, content] of Object.entries(files)) writeFileSync(join(root, mountPath, file), inFolder(content));
  }
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value }) => [name, (value ?? '').replace('$(POD_INDEX)', String(index))]),
  );
  return {
    args: (container.args ?? []).map(inFolder),
    env,
  };

  /** The text with the paths of all mounts in the temporary folder. */
  function inFolder(text: string): string {
    return (container.volumeMounts ?? []).reduce(
      (changed, { mountPath }) => changed.replaceAll(`${mountPath}/`, `${join(root, mountPath)}/`),
      text,
    );
  }
}
