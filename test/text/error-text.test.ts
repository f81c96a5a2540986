import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorText } from '../../src/text/error-text.js';
import { fuzzRuns } from '../support/fuzz.js';

describe('the text of an error body', () => {
  it.each<[string, string]>([
    ['{"code": 3, "message": "window must be positive", "details": []}', 'window must be positive'],
    ['{"error": "tx not found", "code": 5, "message": "tx not found"}', 'tx not found'],
    ['{"error": "Your plan has no access"}', 'Your plan has no access'],
    ['{"error": {"message": "quota exceeded", "status": "RESOURCE_EXHAUSTED"}}', 'quota exceeded'],
    ['{"error": {"code": "forbidden", "info": "no access"}}', 'forbidden'],
    ['{"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": "limit exceeded"}}', 'limit exceeded'],
    ['[{"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": "limit exceeded"}}]', 'limit exceeded'],
    ['{"message": "no Route matched with those values"}', 'no Route matched with those values'],
    ['{"Message": "User is not authorized"}', 'User is not authorized'],
    ['{"statusCode": 403, "error": "Forbidden", "message": "API key missing"}', 'API key missing'],
    ['{"error": "Forbidden", "message": "Forbidden: API key missing"}', 'Forbidden: API key missing'],
    ['{"detail": "Not authenticated"}', 'Not authenticated'],
    ['{"detail": [{"loc": ["query", "window"], "msg": "field required"}]}', 'field required'],
    ['{"errors": ["too many requests", "try later"]}', 'too many requests'],
    ['{"errors": [{"title": "Invalid", "detail": "window"}]}', 'window'],
    ['{"errors": {"window": ["must be positive"]}}', 'must be positive'],
    [
      '{"type": "about:blank", "title": "Out of credit", "status": 403, "detail": "The balance is 30."}',
      'The balance is 30.',
    ],
    ['{"type": "about:blank", "title": "Out of credit", "status": 403}', 'Out of credit'],
    ['{"error": "invalid_token", "error_description": "It expired"}', 'It expired'],
    ['"forbidden"', 'forbidden'],
    [' slow down\r\nplease', 'slow down'],
    ['\uFEFF{"message": "with a byte order mark"}', 'with a byte order mark'],
  ])('is found in %s', (body, text) => {
    expect(errorText(body)?.trim()).toBe(text);
  });

  it.each([
    [''],
    [' \n '],
    ['{}'],
    ['[]'],
    ['{"code": 8, "messa'],
    ['{"message": null, "error": 403, "detail": ""}'],
    ['{"unknown": "field"}'],
    ['<!DOCTYPE html>\n<html><head><title>Just a moment...</title></head></html>'],
    ['<Error><Code>AccessDenied</Code></Error>'],
    ['\u001F\uFFFD\b\0binary'],
  ])('is not found in %j', (body) => {
    expect(errorText(body)).toBeUndefined();
  });

  it('is found within a moment, whatever the body is', () => {
    const hostile = [
      '['.repeat(60_000),
      `${'{"error":'.repeat(5000)}"x"${'}'.repeat(5000)}`,
      JSON.stringify({ errors: Array.from({ length: 5000 }, () => 'x'.repeat(10)) }),
      '&'.repeat(60_000),
    ];
    const started = performance.now();
    for (const body of hostile) errorText(body);
    expect(performance.now() - started).toBeLessThan(1000);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (body) => {
        const text = errorText(body);
        return text === undefined || text !== '';
      }),
      { numRuns: fuzzRuns(250) },
    );
  });
});
