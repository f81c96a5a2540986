/**
 * Runs the incident and prints the address of Prometheus, which runs until the process is stopped: `npm run record -- 40`, where 40 is the
 * number of minutes.
 */
import { once } from 'node:events';
import { startIncident } from './incident.mjs';

const minutes = Number(process.argv[2] ?? 40);
const incident = await startIncident(minutes);
console.log(`${incident.url} records an incident of ${minutes} minutes`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await incident.close();
process.exit();
