import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

/** The example configuration of Prometheus with the names of the services in compose.yaml. */
export function composePrometheus(): string {
  const { services } = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly ports?: readonly string[] }>>;
  };
  const serviceAt = (port: string): string => {
    const [name] =
      Object.entries(services).find(([, { ports = [] }]) => ports.some((text) => text.endsWith(`:${port}`))) ?? [];
    if (name === undefined) throw new Error(`compose.yaml: no service publishes ${port}`);
    return name;
  };
  const example = readFileSync('prometheus/prometheus.yml', 'utf8');
  const settings = example
    .slice(example.indexOf('global:'))
    .replaceAll(/localhost:(\d+)/g, (_match, port: string) => `${serviceAt(port)}:${port}`);
  return `# prometheus.yml of compose.yaml. Generated from prometheus/prometheus.yml by \`npm run generate\`.\n\n${settings}`;
}
