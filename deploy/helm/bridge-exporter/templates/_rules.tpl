{{/* A file of the mixin without its placeholders. Arguments: text, context. */}}
{{- define "bridge-exporter.filled" -}}
{{- .text | replace "%(selector)s" "" | replace "%(clusterLabel)s" .context.Values.prometheusRule.clusterLabel | replace "%(critical)s" "critical" | replace "%(warning)s" "warning" -}}
{{- end -}}

{{/* The groups of rules, as JSON. */}}
{{- define "bridge-exporter.alerts" -}}
{{- include "bridge-exporter.filled" (dict "text" (.Files.Get "files/alerts.json" | required "the chart contains no files/alerts.json") "context" .) -}}
{{- end -}}

{{/* The names of the alerts, as JSON. */}}
{{- define "bridge-exporter.alertNames" -}}
{{- $alerts := list -}}
{{- range $group := (include "bridge-exporter.alerts" . | fromJson).groups -}}
  {{- range $rule := $group.rules -}}
    {{- $alerts = append $alerts $rule.alert -}}
  {{- end -}}
{{- end -}}
{{- toJson $alerts -}}
{{- end -}}
