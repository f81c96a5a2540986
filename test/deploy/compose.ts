import { readYaml } from './files.js';

export interface Service {
  readonly build?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
}

interface Composed {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

/** compose.yaml as Docker Compose reads it in an environment. */
export function composed(env: Readonly<Record<string, string>> = {}): Composed {
  return interpolated(readYaml('compose.yaml'), env) as Composed;
}

function interpolated(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_all, name: string, otherwise: string) => env[name] || otherwise);
  }
  if (Array.isArray(value)) return value.map((item) => interpolated(item, env));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, interpolated(inner, env)]));
}

export interface Mount {
  /** In the project. */
  readonly source: string;
  /** In the container. */
  readonly target: string;
  readonly mode: string | undefined;
}

/** What a service has of the project's files. */
export function mountsOf({ volumes = [] }: Service): Mount[] {
  return volumes
    .filter((volume) => volume.startsWith('./'))
    .map((volume) => {
      const [source = '', target = '', mode] = volume.slice('./'.length).split(':');
      return { source, target, mode };
    });
}
