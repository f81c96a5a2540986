// Alerts and dashboards of bridge-exporter as a mixin for jsonnet. config.libsonnet has the settings.
(import 'config.libsonnet') + {
  local config = $._config,

  // The JSON has placeholders in texts.
  local fill(json) =
    local escape(text) = local quoted = std.escapeStringJson(text); quoted[1:std.length(quoted) - 1];
    local values = {
      '%(selector)s': if config.selector == '' then '' else config.selector + ',',
      '%(clusterLabel)s': config.clusterLabel,
      '%(critical)s': config.severities.critical,
      '%(warning)s': config.severities.warning,
    };
    std.parseJson(std.foldl(function(text, name) std.strReplace(text, name, escape(values[name])), std.objectFields(values), json)),

  // Severities are labels of rules, or of the series of a problem.
  local severityOf(rule) =
    local own = std.get(std.get(rule, 'labels', {}), 'severity', null);
    local names = std.objectFields(config.severities);
    local renamed = std.filter(function(name) config.severities[name] != name, names);
    if renamed == [] then {}
    else if own == null then {
      labels+: {
        severity: std.foldr(
          function(name, rest) '{{ if eq $labels.severity "%s" }}%s{{ else }}%s{{ end }}' % [name, config.severities[name], rest],
          renamed,
          '{{ $labels.severity }}'
        ),
      },
    }
    else {
      // Or a text that a template chooses.
      local rename(text, name) = std.strReplace(text, '}}%s{{' % name, '}}%s{{' % config.severities[name]),
      labels+: { severity: std.get(config.severities, own, std.foldl(rename, renamed, own)) },
    },

  local configured(rule) = rule + severityOf(rule) + {
    annotations+: {
      runbook_url: config.runbookURLPattern % std.asciiLower(rule.alert),
      [if std.objectHas(rule.annotations, 'dashboard_url') then 'dashboard_url']: config.grafanaUrl + rule.annotations.dashboard_url,
    },
  },

  local isEnabled(rule) = !std.member(config.disabledAlerts, rule.alert),

  prometheusAlerts+:: {
    groups+: std.filter(
      function(group) group.rules != [],
      [
        group { rules: [configured(rule) for rule in group.rules if isEnabled(rule)] }
        for group in fill(importstr 'alerts.json').groups
      ]
    ),
  },

  grafanaDashboards+:: {
    'bridge-overview.json': fill(importstr 'dashboards/bridge-overview.json'),
    'cross-chain.json': fill(importstr 'dashboards/cross-chain.json'),
    'exporter.json': fill(importstr 'dashboards/exporter.json'),
    'validator.json': fill(importstr 'dashboards/validator.json'),
  },
}
