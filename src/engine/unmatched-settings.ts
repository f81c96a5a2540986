import type { Instant } from '../clock.js';
import type { Config } from '../config/config.js';
import { DEFAULT_AGE_LIMIT } from '../config/endpoint-config.js';
import { settingEntry } from '../facts/matched-settings.js';
import { DAY_SECONDS } from '../units.js';
import { exportedSuccess, type EndpointState, type MatchedSettings } from './endpoint-state.js';

/*
 * Entries of the configuration that match nothing. Targets share them, and tokens and transactions come and go, so an
 * entry is unmatched only after all targets have been polled for a day without it. A restart begins the day again.
 */

/** `before`: what is remembered of the polls up to this one; `undefined` after a gap in them. */
export function withMatched(
  before: MatchedSettings | undefined,
  entries: readonly string[],
  at: Instant,
): MatchedSettings {
  const recent = Array.from(before?.lastMatched ?? []).filter(([, matchedAt]) => at - matchedAt <= DAY_SECONDS);
  return {
    since: before?.since ?? at,
    lastMatched: new Map([...recent, ...entries.map((entry) => [entry, at] as const)]),
  };
}

export function configuredEntries({ tokens, chains, validators, targets }: Config): readonly string[] {
  const crosschain = targets.flatMap((target) => target.crosschain ?? []);
  const ageLimits = crosschain.flatMap(({ age_limits: limits }) => Object.keys(limits));
  return [
    ...tokens.map(({ contract }) => settingEntry('tokens', contract)),
    ...Object.keys(chains).map((id) => settingEntry('chains', id)),
    ...validators.map(({ address }) => settingEntry('validators', address)),
    ...ageLimits.filter((id) => id !== DEFAULT_AGE_LIMIT).map((id) => settingEntry('age_limits', id)),
    ...crosschain.flatMap(({ ignore }) => ignore.indexes.map((index) => settingEntry('ignore.indexes', index))),
  ];
}

/**
 * The entries of a configuration that no document of the last day has matched; none before all targets have been polled
 * with it for a day.
 */
export function unmatchedEntries(
  entries: readonly string[],
  loadedAt: Instant,
  states: readonly EndpointState[],
  now: Instant,
): readonly string[] {
  const dayAgo = now - DAY_SECONDS;
  const matched = states
    .filter(({ document }) => document !== 'external_contract')
    .map((state) => exportedSuccess(state, now)?.matched);
  if (loadedAt > dayAgo || matched.some((each) => each === undefined || each.since > dayAgo)) return [];
  const isMatched = (entry: string) => matched.some((each) => (each?.lastMatched.get(entry) ?? -Infinity) >= dayAgo);
  return Array.from(new Set(entries)).filter((entry) => !isMatched(entry));
}
