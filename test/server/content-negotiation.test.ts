import { describe, expect, it } from 'vitest';
import { negotiateFormat } from '../../src/server/content-negotiation.js';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('the format of /metrics', () => {
  it.each([
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text'],
    ['text/plain', 'text'],
    ['text/plain;version=0.0.4', 'text'],
    [PROMETHEUS_2, 'openmetrics'],
    [PROMETHEUS_3, 'openmetrics'],
    ['application/openmetrics-text', 'openmetrics'],
    ['application/openmetrics-text; version="1.0.0"', 'openmetrics'],
    ['APPLICATION/OPENMETRICS-TEXT; VERSION=1.0.0', 'openmetrics'],
    ['application/openmetrics-text;version=0.0.1', 'text'],
    ['application/openmetrics-text;version=1.0.0;q=0.1,text/plain;version=0.0.4;q=0.9', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=nonsense', 'text'],
    ['application/vnd.google.protobuf', 'text'],
  ])('for Accept %s is %s', (accept, format) => {
    expect(negotiateFormat(accept)).toBe(format);
  });
});
