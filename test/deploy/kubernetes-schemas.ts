import { projectPath } from '../support/project-files.js';
import { createTempFolder } from '../support/temp-folder.js';
import { runTool } from '../support/tools.js';

const folder = createTempFolder();

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

/** The modules with the schema of each kind. */
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

function modulePathOf({ apiVersion, kind }: Manifest): string {
  const path = models[`${apiVersion} ${kind}`];
  if (path === undefined) throw new Error(`no schema of ${apiVersion} ${kind}`);
  return path;
}

type Models = Readonly<Record<string, new (manifest: Manifest) => { validate: () => void }>>;

/** The violations of the schemas that Kubernetes publishes. These schemas allow unknown keys. */
export async function schemaViolations(manifest: Manifest): Promise<string[]> {
  const module = (await import(modulePathOf(manifest))) as Models;
  const Model = module[manifest.kind];
  if (Model === undefined) throw new Error(`${modulePathOf(manifest)} has no ${manifest.kind}`);
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The keys that no schema defines: compiler errors of the manifests as literals of their TypeScript types. */
export function unknownKeys(manifests: readonly Manifest[]): string[] {
  const files = manifests.map((manifest, index) => {
    const type = `I${manifest.kind}`;
    const from = projectPath(`node_modules/${modulePathOf(manifest)}`);
    return folder.write(
      `${index}.ts`,
      `import type { ${type} } from '${from}';\nexport const manifest: ${type} = ${JSON.stringify(manifest)};\n`,
    );
  });
  const flags = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2023'.split(' ');
  const { status, output } = runTool(projectPath('node_modules/.bin/tsc'), [...flags, ...files]);
  const errors = output.split('\n').filter((line) => line.includes('error TS'));
  if (status !== 0 && errors.length === 0) throw new Error(`the compiler failed: ${output}`);
  return errors;
}
