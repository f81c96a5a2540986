import { parse } from 'yaml';
import { rulesYaml } from '../../packaging/generate/rules.js';

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string | number;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleGroup {
  readonly name: string;
  readonly rules: readonly Rule[];
}

/**
 * The groups of prometheus/alerts.yml. Generated, not read: a run that updates the file checks the new rules.
 */
export const ruleGroups = (parse(rulesYaml()) as { groups: readonly RuleGroup[] }).groups;

export const rules = ruleGroups.flatMap((group) => group.rules);

export const alertRules = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);
