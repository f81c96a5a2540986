import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IStatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../support/processes.js';
import { FOLDER, rendered } from './kustomize.js';
import { read } from './files.js';
import { containerOf, deployment, find, service, statefulSet } from './manifests.js';

const folder = mkdtempSync(join(tmpdir(), 'shards-'));

afterAll(() => rmSync(folder, { recursive: true }));

describe('the shards', () => {
  it('are run by the same pods as a single exporter', () => {
    const { env, ...others } = containerOf(statefulSet);
    expect(others).toEqual(containerOf(deployment));
    expect(env?.map(({ name }) => name)).toEqual(['POD_INDEX', 'TARGETS_SHARD']);
    expect({ ...statefulSet.spec?.template.spec, containers: [] }).toEqual({
      ...deployment.spec?.template.spec,
      containers: [],
    });
  });

  it('are governed by the Service', () => {
    expect(statefulSet.spec?.serviceName).toBe(service.metadata?.name);
    expect(service.spec?.clusterIP).toBe('None');
  });

  /** TARGETS_SHARD of each pod, as Kubernetes fills in the label. */
  function shardsOf(workload: IStatefulSet): string[] {
    const { spec } = workload;
    const [index, shard] = containerOf(workload).env ?? [];
    expect(index?.valueFrom?.fieldRef?.fieldPath).toBe("metadata.labels['apps.kubernetes.io/pod-index']");
    const first = spec?.ordinals?.start ?? 0;
    return Array.from({ length: spec?.replicas ?? 1 }, (_, ordinal) => {
      return (shard?.value ?? '').replace('$(POD_INDEX)', String(first + ordinal));
    });
  }

  it('poll every target once, all pods together', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `chain-${index}`);
    const targets = names.map((name) => `  - {name: ${name}, bridge: {url: "https://${name}.example.org"}}`);
    const file = join(folder, 'targets.yaml');
    writeFileSync(file, `targets:\n${targets.join('\n')}\n`);
    const shards = shardsOf(statefulSet);
    expect(shards).toHaveLength(5);
    const polled = await Promise.all(
      shards.map(async (shard) => {
        const { stdout } = await run(['--config.check'], { CONFIG_FILE: file, TARGETS_SHARD: shard });
        return (parse(stdout) as { targets: { name: string }[] }).targets.map(({ name }) => name);
      }),
    );
    expect(polled.flat().toSorted()).toEqual(names.toSorted());
  });

  it('have their count written once: at replicas, whatever stands behind the slash', () => {
    expect(read(`${FOLDER}/sharded/statefulset.yaml`)).toContain('value: $(POD_INDEX)/5');
    const asWritten = rendered(`${FOLDER}/sharded`, (manifest) =>
      manifest.kind === 'StatefulSet' ? { ...manifest, spec: { ...(manifest.spec as object), replicas: 6 } } : manifest,
    );
    const changed = find(asWritten, 'StatefulSet');
    expect(shardsOf(changed)).toEqual(['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']);
  });
});
