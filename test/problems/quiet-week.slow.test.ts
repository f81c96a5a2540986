import { describe } from 'vitest';
import { testDaysWithoutAlerts } from './quiet-days.js';

describe('the alerts in a week of the scenario quiet', () => {
  testDaysWithoutAlerts('quiet');
});
