import { describe } from 'vitest';
import { otherIncidents } from './incidents.js';
import { prove } from './prove.js';

describe('incidents of cross-chain transactions, nodes and exporter', () => {
  prove(otherIncidents);
});
