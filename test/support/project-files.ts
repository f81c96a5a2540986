import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/*
 * Files of the project, by their path from its root: `docs/metrics.md`.
 */

const ROOT = new URL('../../', import.meta.url);

/** The URL of a file of the project. */
export const projectUrl = (file: string): string => new URL(file, ROOT).href;

export const projectPath = (file: string): string => fileURLToPath(new URL(file, ROOT));

export const projectFileExists = (file: string): boolean => existsSync(projectPath(file));

export const readProjectFile = (file: string): string => readFileSync(projectPath(file), 'utf8');

/** Supports the merge keys (`<<`) of compose.yaml. */
export const readProjectYaml = (file: string): unknown => parse(readProjectFile(file), { merge: true });

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly prettier: { readonly printWidth: number };
}

interface Names {
  /** Owner and name of the repository on GitHub. */
  readonly repository: string;
  readonly image: string;
  /** The repository of charts. */
  readonly charts: string;
  readonly npmPackage: string;
}

export const projectNames = JSON.parse(readProjectFile('names.json')) as Names;

/** The commit in the built program. The file is empty in a build outside git. */
export const builtRevision = (): string => readProjectFile('dist/revision').trim() || 'unknown';

export const packageJson = JSON.parse(readProjectFile('package.json')) as PackageJson;

/**
 * Recorded responses of real chains, which are not part of the project. The environment variable FIXTURES names their
 * folder; tests that need them are skipped without it.
 */
export const fixturesFolder = process.env['FIXTURES'] ?? fileURLToPath(new URL('../shared/fixtures', ROOT));
