/**
 * Records an incident and writes docs/dashboard-*.png: `npm start -- 35`, where 35 is the number of minutes. Alerts wait for minutes before
 * they fire, so a short incident shows none.
 */
import { fileURLToPath } from 'node:url';
import { startIncident } from './incident.mjs';
import { renderDashboards } from './render.mjs';

const MAX_HEIGHT = 1900;

const minutes = Number(process.argv[2] ?? 35);
const incident = await startIncident(minutes);
console.log(`recording an incident of ${minutes} minutes`);
await incident.finished;
const empty = await renderDashboards({
  prometheusUrl: incident.url,
  scrapeInterval: incident.scrapeInterval,
  from: incident.startedAt,
  to: Date.now(),
  maxHeight: MAX_HEIGHT,
  fileOf: (name) => fileURLToPath(new URL(`../../../docs/dashboard-${name}.png`, import.meta.url)),
});
for (const { name, title, error } of empty)
  console.log(`${name}: ${title} is empty${error === undefined ? '' : `: ${error}`}`);
await incident.close();
