import { readProjectYaml } from '../support/project-files.js';

export interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly pull_policy?: string;
  readonly command?: readonly string[];
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

/** compose.yaml with the variables of this environment, as Docker Compose reads it. */
export function interpolatedCompose(env: Readonly<Record<string, string>> = {}): ComposeFile {
  return interpolate(readProjectYaml('compose.yaml'), env) as ComposeFile;
}

function interpolate(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    return interpolateText(value, env);
  }
  if (Array.isArray(value)) return value.map((item) => interpolate(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, interpolate(inner, env)]));
}

/** Replaces the innermost `${NAME:-default}` and `${NAME:+text}` first. */
function interpolateText(text: string, env: Readonly<Record<string, string>>): string {
  const replaced = text.replaceAll(
    /\$\{(\w+):([-+])([^${}]*)\}/g,
    (_match, name: string, sign: string, other: string) => {
      const value = env[name] || undefined;
      return sign === '-' ? (value ?? other) : value === undefined ? '' : other;
    },
  );
  return replaced === text ? text : interpolateText(replaced, env);
}

export interface Mount {
  /** Path in the project. */
  readonly source: string;
  /** Path in the container. */
  readonly target: string;
  readonly mode: string | undefined;
}

/** The files of the project that are mounted in a service. */
export function mountsOf({ volumes = [] }: Service): Mount[] {
  return volumes
    .filter((volume) => volume.startsWith('./'))
    .map((volume) => {
      const [source = '', target = '', mode] = volume.slice('./'.length).split(':');
      return { source, target, mode };
    });
}
