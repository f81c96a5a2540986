import type { Config, TargetConfig } from './config.js';
import { resolveHttpConfig } from './resolved-http-config.js';
import type { PositionLabel } from './kit/problems.js';

/**
 * What is wrong, at this moment, with the files that passwords, certificates and the like are in. A poll reads them again:
 * a file that is missing now may be there by then, and concerns one endpoint only.
 */
export async function fileProblems({ targets }: Config, label: PositionLabel): Promise<string[]> {
  const found = await Promise.all(targets.map(async (target, index) => ofTarget(target, index, label)));
  return found.flat();
}

async function ofTarget(target: TargetConfig, index: number, label: PositionLabel): Promise<string[]> {
  const endpoints = ['bridge', 'crosschain'] as const;
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const reach = target[endpoint]?.httpClient;
      const result = reach && (await resolveHttpConfig(reach));
      if (!result || result.ok) return [];
      return result.problems.map(({ path, message }) => `${label(['targets', index, endpoint, ...path])}: ${message}`);
    }),
  );
  return found.flat();
}
