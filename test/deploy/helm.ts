import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { projectPath } from '../support/project-files.js';
import { hasTool } from '../support/tools.js';

export const CHART = 'deploy/helm/bridge-exporter';

/** Values files of typical installations, which are also examples for users. */
export const valuesFiles: readonly string[] = readdirSync(projectPath(`${CHART}/ci`)).map((name) => `ci/${name}`);

/** The least that the chart needs. */
export const TARGETS = { config: { targets: [{ name: 'injective', bridge: { url: 'https://node.example.org' } }] } };

export const hasHelm = (): boolean => hasTool('helm', ['version']);

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
}

export interface Installation {
  /** Values files of the chart, such as `ci/one-target-values.yaml`. */
  readonly files?: readonly string[];
  /** Values that override those of the files. */
  readonly values?: unknown;
  readonly flags?: readonly string[];
}

interface Output {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of Helm for the chart, with the values on its standard input. */
export function helm(
  command: readonly string[],
  { files = [], values, flags = [] }: Installation = {},
  program: 'helm' | 'helm3' = 'helm',
): Output {
  const args = [...files.flatMap((file) => ['--values', projectPath(`${CHART}/${file}`)]), '--values', '-', ...flags];
  const options = { input: JSON.stringify(values ?? {}), maxBuffer: 64 * 1024 * 1024 };
  const { status, stdout, stderr } = spawnSync(program, [...command, projectPath(CHART), ...args], {
    ...options,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** The text that `helm install` applies, for a release bridge-exporter in the namespace monitoring. */
export function renderText(installation: Installation): string {
  const { status, stdout, stderr } = helm(['template', 'bridge-exporter', '--namespace=monitoring'], installation);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

export const render = (installation: Installation): Manifest[] => parseManifests(renderText(installation));

const texts = new Map<string, string>();

/** What is applied with a values file. */
export function textOf(valuesFile: string): string {
  const text = texts.get(valuesFile) ?? renderText({ files: [valuesFile] });
  texts.set(valuesFile, text);
  return text;
}

/** The manifests of a values file, by its name without the folder and `-values.yaml`. */
export const rendered = (name: string): Manifest[] => parseManifests(textOf(`ci/${name}-values.yaml`));

/** The problems for which `helm template` fails. */
export function problemsOf(installation: Installation): string {
  const { status, stderr } = helm(['template', 'bridge-exporter'], installation);
  if (status === 0) throw new Error('the chart was rendered');
  return stderr;
}

/** The manifests of a values file by kind and name, which Helm 3 and Helm 4 order differently. */
export function sortedManifests(file: string, program: 'helm' | 'helm3'): Manifest[] {
  const flags = ['--kube-version=1.34.0'];
  const { status, stdout, stderr } = helm(['template', 'bridge-exporter'], { files: [file], flags }, program);
  if (status !== 0) throw new Error(stderr);
  return byName(parseManifests(stdout));
}

export function byName(manifests: readonly Manifest[]): Manifest[] {
  const key = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
  return manifests.toSorted((a, b) => key(a).localeCompare(key(b)));
}
