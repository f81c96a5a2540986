import { describe, expect, it } from 'vitest';
import { problemsOf, unknownKeys, type Manifest } from './kubernetes-schemas.js';
import { deployment, service, serviceMonitor, sharded, single, statefulSet } from './manifests.js';

/** The rules are held by promtool, and the operator's types are older than keep_firing_for. */
const withoutRules = (manifest: Manifest): Manifest =>
  manifest.kind === 'PrometheusRule' ? { ...manifest, spec: { groups: [] } } : manifest;

describe.each([
  ['single', single],
  ['sharded', sharded],
])('the manifests of %s', (_name, manifests) => {
  it('are what the schemas of Kubernetes and of the operator ask for, without an unknown key', async () => {
    expect((await Promise.all(manifests.map(problemsOf))).flat()).toEqual([]);
    expect(unknownKeys(manifests.map(withoutRules))).toEqual([]);
  });

  it('have one name and say whose they are', () => {
    expect(new Set(manifests.map(({ metadata }) => metadata.name))).toEqual(new Set(['bridge-exporter']));
  });
});

describe('the check against the schemas', () => {
  /** The manifest with a part of its JSON replaced. */
  function changed(manifest: unknown, part: string, by: string): Manifest {
    const text = JSON.stringify(manifest);
    expect(text).toContain(part);
    return JSON.parse(text.replace(part, by)) as Manifest;
  }

  it.each([
    ['a key that is misspelt', deployment, '"livenessProbe"', '"livenesProbe"', /'"livenesProbe"' does not exist/],
    ['a key in the wrong place', statefulSet, '"ordinals":', '"replica":5,"ordinals":', /'"replica"' does not exist/],
    ['an unknown key of the operator', serviceMonitor, '"interval"', '"intervall"', /'"intervall"' does not exist/],
    ['a word that is none of a few', statefulSet, '"Parallel"', '"Paralel"', /'"Paralel"' is not assignable/],
  ])('finds %s', (_what, manifest, part, by, message) => {
    expect(unknownKeys([changed(manifest, part, by)])).toEqual([expect.stringMatching(message)]);
  });

  it.each([
    ['a text for a number', statefulSet, '"replicas":5', '"replicas":"5"', /replicas must be integer/],
    ['a missing selector', deployment, '"selector"', '"selektor"', /must have required property selector/],
    ['an amount that is none', deployment, '"256Mi"', '"256 Mi"', /must match format "quantity"/],
    ['a list for a mapping', service, '"selector":{', '"selector":[],"was":{', /selector must be object/],
  ])('finds %s', async (_what, manifest, part, by, message) => {
    expect(await problemsOf(changed(manifest, part, by))).toEqual([expect.stringMatching(message)]);
  });
});
