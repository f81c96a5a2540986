import { bridgeOverview } from './bridge-overview.js';
import { crossChain } from './cross-chain.js';
import { exporter } from './exporter.js';
import { dashboardJson } from './grafana.js';
import { signers } from './signers.js';

/** File name of each dashboard to its content. */
export const dashboards = {
  'bridge-overview.json': dashboardJson(bridgeOverview),
  'signers.json': dashboardJson(signers),
  'cross-chain.json': dashboardJson(crossChain),
  'exporter.json': dashboardJson(exporter),
};
