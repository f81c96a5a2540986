import { projectPath } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';

/** The schemas of Kubernetes and of prometheus-operator that .ci/install-tools generates. */
const SCHEMAS = '.ci/bin/kubernetes-schemas';

/** The newest schema: an installation without it is older than the chart. */
const NEWEST_SCHEMA = `${SCHEMAS}/httproute-gateway-v1.json`;

export const hasKubeconform = (): boolean =>
  hasTool('kubeconform', ['-v']) && hasTool('test', ['-f', projectPath(NEWEST_SCHEMA)]);

/** The violations of the schemas in files with manifests, including unknown keys. The schema of grafana-operator is no Go module. */
export function schemaViolations(files: readonly string[]): string[] {
  const location = `-schema-location=${projectPath(SCHEMAS)}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const { status, output } = runTool('kubeconform', ['-strict', '-skip=GrafanaDashboard', location, ...files]);
  const lines = output.split('\n').filter((line) => line !== '');
  if (status !== 0 && lines.length === 0) throw new Error('kubeconform failed without output');
  return lines;
}
