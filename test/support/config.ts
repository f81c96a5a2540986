import { dirname } from 'node:path';
import { createFileSchema, type Config, type ConfigResult } from '../../src/config/config.js';
import { validateConfig } from '../../src/config/loader.js';
import { nodeUrl, type EndpointUrl } from '../../src/config/urls.js';
import { parseYaml } from '../../src/config/yaml.js';
import { problemLimits } from '../../src/problems/problems.js';

/** Parses a configuration file. `path` is its name in messages. */
export function parseConfig(text: string, path: string, metricLabels: ReadonlySet<string> = new Set()): ConfigResult {
  const yaml = parseYaml(text, path);
  if (!yaml.ok) return yaml;
  const schema = createFileSchema(metricLabels, problemLimits);
  return validateConfig(yaml.data, yaml.label, dirname(path), schema);
}

/** Parses a valid configuration. Throws for an invalid one. */
export function parseValidConfig(yaml: string, file = 'test.yaml'): Config {
  const result = parseConfig(yaml, file);
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.config;
}

/** The URL of a node in the configuration. */
export const endpointUrl = (text: string): EndpointUrl => nodeUrl.parse(text);
