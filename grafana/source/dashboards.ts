import { crossChain } from './cross-chain.js';
import { exporter } from './exporter.js';
import type { Dashboard } from './grafana.js';
import { overview } from './overview.js';
import { validator } from './validator.js';

/** The dashboards by file name, in the order of the documentation. */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  'bridge-overview.json': overview,
  'validator.json': validator,
  'cross-chain.json': crossChain,
  'exporter.json': exporter,
};
