import { describe } from 'vitest';
import { silentWeek } from './week.js';

describe('a week of the scenario quiet', () => {
  silentWeek('quiet');
});
