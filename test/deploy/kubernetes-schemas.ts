import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../support/tools.js';
import { pathOf } from './files.js';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** Where the schema of a kind is. */
const models: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'kubernetes-models/apps/v1/Deployment',
  'apps/v1 StatefulSet': 'kubernetes-models/apps/v1/StatefulSet',
  'v1 ConfigMap': 'kubernetes-models/v1/ConfigMap',
  'v1 Service': 'kubernetes-models/v1/Service',
  'networking.k8s.io/v1 NetworkPolicy': 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  'policy/v1 PodDisruptionBudget': 'kubernetes-models/policy/v1/PodDisruptionBudget',
  'monitoring.coreos.com/v1 ServiceMonitor':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
  'monitoring.coreos.com/v1 PrometheusRule':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule',
};

function modelOf({ apiVersion, kind }: Manifest): string {
  const model = models[`${apiVersion} ${kind}`];
  if (model === undefined) throw new Error(`no schema of ${apiVersion} ${kind}`);
  return model;
}

type Models = Readonly<Record<string, new (manifest: Manifest) => { validate: () => void }>>;

/** What is wrong or missing, by the schemas Kubernetes publishes; they let unknown keys pass. */
export async function problemsOf(manifest: Manifest): Promise<string[]> {
  const module = (await import(modelOf(manifest))) as Models;
  const Model = module[manifest.kind];
  if (Model === undefined) throw new Error(`${modelOf(manifest)} has no ${manifest.kind}`);
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Keys no schema has: the manifests as literals of their types, in which the compiler knows every key. */
export function unknownKeys(manifests: readonly Manifest[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  try {
    const files = manifests.map((manifest, index) => {
      const file = join(folder, `${index}.ts`);
      const type = `I${manifest.kind}`;
      const from = pathOf(`node_modules/${modelOf(manifest)}`);
      writeFileSync(
        file,
        `import type { ${type} } from '${from}';\nexport const manifest: ${type} = ${JSON.stringify(manifest)};\n`,
      );
      return file;
    });
    const flags = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2023',
    ];
    const { status, output } = check(pathOf('node_modules/.bin/tsc'), [...flags, ...files], '');
    const errors = output.split('\n').filter((line) => line.includes('error TS'));
    if (status !== 0 && errors.length === 0) throw new Error(`the compiler does not run: ${output}`);
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
