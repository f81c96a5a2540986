// Writes the JSON schemas for `kubeconform -strict`: node .ci/schemas/generate.mjs FOLDER. Their sources are the Go modules in go.mod
// beside this file: the OpenAPI document of Kubernetes and the custom resource definitions of prometheus-operator and of the Gateway API. Requires `npm ci`.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const KUBERNETES = 'k8s.io/kubernetes';
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator';
const GATEWAY = 'sigs.k8s.io/gateway-api';

/** The kinds of the chart, by their names in the OpenAPI document. */
const kinds = [
  'io.k8s.api.apps.v1.Deployment',
  'io.k8s.api.apps.v1.StatefulSet',
  'io.k8s.api.batch.v1.Job',
  'io.k8s.api.core.v1.ConfigMap',
  'io.k8s.api.core.v1.Pod',
  'io.k8s.api.core.v1.Secret',
  'io.k8s.api.core.v1.Service',
  'io.k8s.api.core.v1.ServiceAccount',
  'io.k8s.api.networking.v1.Ingress',
  'io.k8s.api.networking.v1.NetworkPolicy',
  'io.k8s.api.policy.v1.PodDisruptionBudget',
];
const customResources = ['podmonitors', 'prometheusrules', 'servicemonitors'];

const folder = process.argv.at(2);
if (folder === undefined) throw new Error('usage: node .ci/schemas/generate.mjs FOLDER');
const sources = downloadModules();
mkdirSync(folder, { recursive: true });

const { definitions } = readJson(join(sources[KUBERNETES], 'api/openapi-spec/swagger.json'));
// These two are strings in the document, but the API server also accepts numbers.
definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'] = { type: ['integer', 'string'] };
definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'] = { type: ['number', 'string'] };
for (const name of kinds) {
  const [{ group, kind, version }] = definitions[name]['x-kubernetes-group-version-kind'];
  const reachable = Object.fromEntries(
    [...reachableFrom(name)].map((definition) => [definition, forbidUnknownKeys(definitions[definition])]),
  );
  write(kind, group, version, { $ref: `#/definitions/${name}`, definitions: reachable });
}
const routes = join(sources[GATEWAY], 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml');
const definitionsOfResources = [
  ...customResources.map((name) => readJson(join(sources[OPERATOR], `jsonnet/prometheus-operator/${name}-crd.json`))),
  parse(readFileSync(routes, 'utf8')),
];
for (const { spec } of definitionsOfResources) {
  for (const { name: version, schema } of spec.versions) {
    write(spec.names.kind, spec.group, version, forbidUnknownKeys(schema.openAPIV3Schema));
  }
}

/** The folders of the modules. go.sum verifies their content. */
function downloadModules() {
  const args = ['mod', 'download', '-json', KUBERNETES, OPERATOR, GATEWAY];
  const env = { ...process.env, GOFLAGS: '-mod=readonly' };
  const output = execFileSync('go', args, { cwd: import.meta.dirname, env, encoding: 'utf8' });
  const modules = JSON.parse(`[${output.trim().replaceAll(/\}\s*\{/g, '},{')}]`);
  return Object.fromEntries(modules.map(({ Path, Dir }) => [Path, Dir]));
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The names of a definition and of those it refers to. */
function reachableFrom(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, reference] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) {
    reachableFrom(reference, found);
  }
  return found;
}

function forbidUnknownKeys(schema) {
  if (Array.isArray(schema)) return schema.map(forbidUnknownKeys);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, forbidUnknownKeys(value)]);
  const closed = schema.type === 'object' && 'properties' in schema && !('additionalProperties' in schema);
  return Object.fromEntries([
    ...entries,
    ...(closed && !schema['x-kubernetes-preserve-unknown-fields'] ? [['additionalProperties', false]] : []),
  ]);
}

/** kubeconform looks for `{{.ResourceKind}}{{.KindSuffix}}.json`. */
function write(kind, group, version, schema) {
  const [firstPart] = group.split('.');
  const name = [kind, ...(firstPart === '' ? [] : [firstPart]), version].join('-').toLowerCase();
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(schema));
}
