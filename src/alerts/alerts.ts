import type { Alert } from './alert.js';
import { crosschainAlerts } from './crosschain-alerts.js';
import { endpointAlerts } from './endpoint-alerts.js';
import { exporterAlerts, watchdogAlerts } from './exporter-alerts.js';
import { oracleAlerts } from './oracle-alerts.js';
import { paramsAlerts } from './params-alerts.js';
import { transferAlerts } from './transfer-alerts.js';
import { validatorAlerts } from './validator-alerts.js';

/** All alerts, in the order of the rules file and of verdicts with the same severity: causes before their consequences. */
export const alerts: readonly Alert[] = [
  ...exporterAlerts,
  ...endpointAlerts,
  ...oracleAlerts,
  ...transferAlerts,
  ...validatorAlerts,
  ...paramsAlerts,
  ...crosschainAlerts,
  ...watchdogAlerts,
];
