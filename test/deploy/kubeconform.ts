import { projectFileExists, projectPath } from '../support/project-files.js';
import { hasTool, runTool } from '../support/tools.js';

/** The schemas of Kubernetes and of prometheus-operator that .ci/install-tools generates. */
const SCHEMAS = '.ci/bin/kubernetes-schemas';

export const hasKubeconform = (): boolean => hasTool('kubeconform', ['-v']);

/** The violations of the schemas in files with manifests, including unknown keys. */
export function schemaViolations(files: readonly string[]): string[] {
  if (!projectFileExists(SCHEMAS)) throw new Error(`${SCHEMAS} does not exist: run .ci/install-tools`);
  const location = `-schema-location=${projectPath(SCHEMAS)}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  const { status, output } = runTool('kubeconform', ['-strict', location, ...files]);
  const lines = output.split('\n').filter((line) => line !== '');
  if (status !== 0 && lines.length === 0) throw new Error('kubeconform failed without output');
  return lines;
}
