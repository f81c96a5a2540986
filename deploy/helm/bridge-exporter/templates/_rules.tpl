{{/* A dashboard without the placeholders that the mixin fills as well. Arguments: text, label. */}}
{{- define "bridge-exporter.dashboard" -}}
{{- .text | replace "%(selector)s" "" | replace "%(clusterLabel)s" .label | replace "%(critical)s" "critical" | replace "%(warning)s" "warning" -}}
{{- end -}}

{{/* Renames the label cluster in an expression. Arguments: text, label. */}}
{{- define "bridge-exporter.renamedLabel" -}}
{{- regexReplaceAll `\bcluster\b` .text .label -}}
{{- end -}}

{{/* The name of the problem whose age a rule compares with its limit; empty for the other rules. */}}
{{- define "bridge-exporter.problemOf" -}}
{{- regexFind `\bproblem="\w+"` (toString .expr) | trimPrefix `problem="` | trimSuffix `"` -}}
{{- end -}}

{{/* The names of the problems and of the other alerts, as JSON. */}}
{{- define "bridge-exporter.alertNames" -}}
{{- $problems := list -}}
{{- $alerts := list -}}
{{- range $group := (.Files.Get "files/alerts.yml" | fromYaml).groups -}}
  {{- range $rule := $group.rules -}}
    {{- with include "bridge-exporter.problemOf" $rule -}}
      {{- $problems = append $problems . -}}
    {{- else -}}
      {{- $alerts = append $alerts $rule.alert -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if not $problems -}}
  {{- fail "the chart contains no files/alerts.yml" -}}
{{- end -}}
{{- dict "problems" (uniq $problems) "alerts" (uniq $alerts) | toJson -}}
{{- end -}}

{{/* Whether a text is a duration that the exporter and the rules can have: "true" or empty. */}}
{{- define "bridge-exporter.isDuration" -}}
{{- if and (kindIs "string" .) (regexMatch `^([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$` .) (ne . "") -}}true{{- end -}}
{{- end -}}

{{/* The seconds of a duration. */}}
{{- define "bridge-exporter.seconds" -}}
{{- $units := dict "w" 604800 "d" 86400 "h" 3600 "m" 60 "s" 1 -}}
{{- $seconds := 0 -}}
{{- range $part := regexFindAll `[0-9]+[wdhms]` . -1 -}}
  {{- $unit := regexFind `[wdhms]` $part -}}
  {{- $seconds = add $seconds (mul (trimSuffix $unit $part | atoi) (get $units $unit)) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}
