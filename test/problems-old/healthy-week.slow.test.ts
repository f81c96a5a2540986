import { describe } from 'vitest';
import { testDaysWithoutAlerts } from './alert-tests.js';

describe('the alerts in a week of the scenario healthy', () => {
  testDaysWithoutAlerts('healthy');
});
