import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument, type Pair } from 'yaml';

const CHART = 'deploy/helm/bridge-exporter';

export interface Schema {
  readonly description?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The comments of values.yaml by the path of their value: those that begin with `# --`. */
export function descriptions(): Map<string, string> {
  const found = new Map<string, string>();
  const { contents } = parseDocument(readFileSync(`${CHART}/values.yaml`, 'utf8'));
  const visit = (node: unknown, path: readonly string[]): void => {
    if (!isMap(node)) return;
    // The comment of the first key belongs to the mapping.
    node.items.forEach(({ key, value }: Pair, index) => {
      if (!isScalar(key)) return;
      const comment = (index === 0 ? (key.commentBefore ?? node.commentBefore) : key.commentBefore) ?? '';
      const [, text] = /(?:^|\n) -- ([^]*?)(?:\n @default.*)?$/.exec(comment) ?? [];
      const inner = [...path, String(key.value)];
      if (text !== undefined) found.set(inner.join('.'), text.replaceAll(/\n */g, ' '));
      visit(value, inner);
    });
  };
  visit(contents, []);
  return found;
}

/** Sets the descriptions of all properties. */
function describeProperties(schema: Schema, texts: ReadonlyMap<string, string>, path: readonly string[] = []): Schema {
  const { description: _previous, properties, ...others } = schema;
  const description = texts.get(path.join('.'));
  return {
    ...(description !== undefined && { description }),
    ...others,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, inner]) => [key, describeProperties(inner, texts, [...path, key])]),
      ),
    }),
  };
}

/** values.schema.json, in which only the descriptions are generated. */
export function valuesSchema(): string {
  const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as Schema;
  return `${JSON.stringify(describeProperties(schema, descriptions()), null, 2)}\n`;
}

/** The README of the chart with the table of its values; `undefined` if helm-docs is not installed. */
export function chartReadme(): string | undefined {
  const flags = ['--dry-run', '--sort-values-order=file', '--log-level=error'];
  const { error, status, stdout, stderr } = spawnSync('helm-docs', ['--chart-search-root=deploy/helm', ...flags], {
    encoding: 'utf8',
  });
  if (error) return undefined;
  if (status !== 0 || !stdout.includes('\n| Key | Type | Default |')) throw new Error(`helm-docs: ${stdout}${stderr}`);
  return stdout;
}
