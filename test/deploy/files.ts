import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = new URL('../../', import.meta.url);

/** Where a file of the project is. */
export const pathOf = (file: string): string => fileURLToPath(new URL(file, ROOT));

export const isThere = (file: string): boolean => existsSync(pathOf(file));

export const read = (file: string): string => readFileSync(pathOf(file), 'utf8');

/** With the merge keys of Compose. */
export const readYaml = (file: string): unknown => parse(read(file), { merge: true });

export interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export const packageJson = JSON.parse(read('package.json')) as PackageJson;
