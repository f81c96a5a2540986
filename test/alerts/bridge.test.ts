import { describe } from 'vitest';
import { bridgeIncidents } from './incidents.js';
import { prove } from './prove.js';

describe('incidents of the bridge', () => {
  prove(bridgeIncidents);
});
