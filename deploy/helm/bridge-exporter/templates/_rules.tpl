{{/* A dashboard without the placeholders that the mixin fills as well. Arguments: text, label. */}}
{{- define "bridge-exporter.dashboard" -}}
{{- .text | replace "%(selector)s" "" | replace "%(clusterLabel)s" .label | replace "%(critical)s" "critical" | replace "%(warning)s" "warning" -}}
{{- end -}}

{{/* Renames the label cluster in an expression. Arguments: text, label. */}}
{{- define "bridge-exporter.renamedLabel" -}}
{{- regexReplaceAll `\bcluster\b` .text .label -}}
{{- end -}}

{{/* The names of the alerts, as JSON. */}}
{{- define "bridge-exporter.alertNames" -}}
{{- $alerts := list -}}
{{- range $group := (.Files.Get "files/alerts.yml" | fromYaml).groups -}}
  {{- range $rule := $group.rules -}}
    {{- $alerts = append $alerts $rule.alert -}}
  {{- end -}}
{{- end -}}
{{- if not $alerts -}}
  {{- fail "the chart contains no files/alerts.yml" -}}
{{- end -}}
{{- toJson $alerts -}}
{{- end -}}
