import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServerError } from '../../src/text/error-text.js';
import { fuzzRuns } from '../support/fuzz.js';

describe('the text of an error body', () => {
  it.each<[string, string, number?]>([
    ['{"code": 3, "message": "window must be positive", "details": []}', 'window must be positive', 3],
    ['{"error": "tx not found", "code": 5, "message": "not found"}', 'not found', 5],
    ['{"error": "Your plan has no access"}', 'Your plan has no access'],
    ['{"jsonrpc": "2.0", "id": 1, "error": {"code": -32005, "message": "limit exceeded"}}', 'limit exceeded'],
    [' slow down\r\nplease', 'slow down\r\nplease'],
    ['\uFEFF{"message": "with a byte order mark"}', 'with a byte order mark'],
  ])('is found in %s', (body, text, code) => {
    expect(readServerError(body)).toEqual({ text, code });
  });

  it.each([
    [''],
    [' \n '],
    ['[]'],
    ['"forbidden"'],
    ['{"code": 8, "messa'],
    ['{"message": null, "error": 403, "detail": ""}'],
    ['{"key": "a\\u0026b"}'],
    ['<!DOCTYPE html>\n<html><head><title>a&amp;b</title></head></html>'],
  ])('is empty for %j', (body) => {
    expect(readServerError(body)).toEqual({ text: '', code: undefined });
  });

  it('is found in any body', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: 'binary' })), (body) => {
        const { text } = readServerError(body);
        return text === text.trim();
      }),
      { numRuns: fuzzRuns(250) },
    );
  });
});
