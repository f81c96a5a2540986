import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runExporter } from '../support/processes.js';
import { readProjectFile } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { FOLDER, renderKustomization } from './kustomize.js';
import { containerOf, deployment, findManifest, service, statefulSet } from './manifests.js';

const folder = createTempFolder();

describe('the StatefulSet of shards', () => {
  it('has the same pods as the Deployment of a single exporter', () => {
    const { env, ...others } = containerOf(statefulSet);
    expect(others).toEqual(containerOf(deployment));
    expect(env?.map(({ name }) => name)).toEqual(['POD_INDEX', 'TARGETS_SHARD']);
    expect({ ...statefulSet.spec?.template.spec, containers: [] }).toEqual({
      ...deployment.spec?.template.spec,
      containers: [],
    });
  });

  it('uses the headless Service', () => {
    expect(statefulSet.spec?.serviceName).toBe(service.metadata?.name);
    expect(service.spec?.clusterIP).toBe('None');
  });

  /** The value of TARGETS_SHARD in each pod. */
  function shardsOf(workload: IStatefulSet): string[] {
    const { spec } = workload;
    const [index, shard] = containerOf(workload).env ?? [];
    expect(index?.valueFrom?.fieldRef?.fieldPath).toBe("metadata.labels['apps.kubernetes.io/pod-index']");
    const first = spec?.ordinals?.start ?? 0;
    return Array.from({ length: spec?.replicas ?? 1 }, (_, ordinal) => {
      return (shard?.value ?? '').replace('$(POD_INDEX)', String(first + ordinal));
    });
  }

  it('polls every target in exactly one pod', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `chain-${index}`);
    const targets = names.map((name) => `  - {name: ${name}, bridge: {url: "https://${name}.example.org"}}`);
    const file = folder.write('targets.yaml', `targets:\n${targets.join('\n')}\n`);
    const shards = shardsOf(statefulSet);
    expect(shards).toHaveLength(5);
    const polled = await Promise.all(
      shards.map(async (shard) => {
        const { stdout } = await runExporter(['--config.check'], { CONFIG_FILE: file, TARGETS_SHARD: shard });
        return (parse(stdout) as { targets: { name: string }[] }).targets.map(({ name }) => name);
      }),
    );
    expect(polled.flat().toSorted()).toEqual(names.toSorted());
  });

  it('takes the number of shards from replicas', () => {
    expect(readProjectFile(`${FOLDER}/sharded/statefulset.yaml`)).toContain('value: $(POD_INDEX)/5');
    const manifests = renderKustomization(`${FOLDER}/sharded`, (manifest) =>
      manifest.kind === 'StatefulSet' ? { ...manifest, spec: { ...(manifest.spec as object), replicas: 6 } } : manifest,
    );
    const changed = findManifest(manifests, 'StatefulSet');
    expect(shardsOf(changed)).toEqual(['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']);
  });
});
