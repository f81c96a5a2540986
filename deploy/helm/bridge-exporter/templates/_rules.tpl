{{/* Renames the label cluster in an expression. Arguments: text, label. */}}
{{- define "bridge-exporter.renamedLabel" -}}
{{- regexReplaceAll `\bcluster\b` .text .label -}}
{{- end -}}

{{/* The same in the template actions of an annotation, and not in its prose. */}}
{{- define "bridge-exporter.renamedLabelInActions" -}}
{{- $label := .label -}}
{{- range $index, $part := splitList "{{" .text -}}
  {{- if eq $index 0 -}}
    {{- $part -}}
  {{- else -}}
    {{- $action := splitList "}}" $part | first -}}
    {{- include "bridge-exporter.renamedLabel" (dict "text" $action "label" $label) | printf "{{%s" -}}
    {{- trimPrefix $action $part -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* A value for all severities of an alert, or that of one severity. Arguments: value, severity. */}}
{{- define "bridge-exporter.ofSeverity" -}}
{{- if kindIs "map" .value -}}
{{- get .value .severity -}}
{{- else -}}
{{- .value | default "" -}}
{{- end -}}
{{- end -}}
