import { describe, expect, it } from 'vitest';
import { schemaViolations, unknownKeys, type Manifest } from './kubernetes-schemas.js';
import { deployment, service, serviceMonitor, sharded, single, statefulSet } from './manifests.js';

/** The types of the operator lack keep_firing_for. promtool checks the rules. */
const withoutRules = (manifest: Manifest): Manifest =>
  manifest.kind === 'PrometheusRule' ? { ...manifest, spec: { groups: [] } } : manifest;

describe.each([
  ['single', single],
  ['sharded', sharded],
])('the %s manifests', (_name, manifests) => {
  it('are valid by the schemas of Kubernetes and of the operator, without unknown keys', async () => {
    expect((await Promise.all(manifests.map(schemaViolations))).flat()).toEqual([]);
    expect(unknownKeys(manifests.map(withoutRules))).toEqual([]);
  });

  it('all have the name bridge-exporter', () => {
    expect(new Set(manifests.map(({ metadata }) => metadata.name))).toEqual(new Set(['bridge-exporter']));
  });
});

/** The manifest with a part of its JSON replaced. */
function replaceInJson(manifest: unknown, part: string, replacement: string): Manifest {
  const text = JSON.stringify(manifest);
  expect(text).toContain(part);
  return JSON.parse(text.replace(part, replacement)) as Manifest;
}

describe('unknownKeys', () => {
  it.each([
    ['a misspelled key', deployment, '"livenessProbe"', '"livenesProbe"', /'"livenesProbe"' does not exist/],
    ['a key in the wrong place', statefulSet, '"ordinals":', '"replica":5,"ordinals":', /'"replica"' does not exist/],
    ['an unknown key of the operator', serviceMonitor, '"interval"', '"intervall"', /'"intervall"' does not exist/],
    ['an invalid enum value', statefulSet, '"Parallel"', '"Paralel"', /'"Paralel"' is not assignable/],
  ])('reports %s', (_title, manifest, part, replacement, message) => {
    expect(unknownKeys([replaceInJson(manifest, part, replacement)])).toEqual([expect.stringMatching(message)]);
  });
});

describe('schemaViolations', () => {
  it.each([
    ['a string instead of a number', statefulSet, '"replicas":5', '"replicas":"5"', /replicas must be integer/],
    ['a missing selector', deployment, '"selector"', '"selektor"', /must have required property selector/],
    ['an invalid quantity', deployment, '"256Mi"', '"256 Mi"', /must match format "quantity"/],
    ['a list instead of a mapping', service, '"selector":{', '"selector":[],"was":{', /selector must be object/],
  ])('reports %s', async (_title, manifest, part, replacement, message) => {
    expect(await schemaViolations(replaceInJson(manifest, part, replacement))).toEqual([
      expect.stringMatching(message),
    ]);
  });
});
