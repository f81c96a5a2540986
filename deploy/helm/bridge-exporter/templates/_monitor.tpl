{{/* The endpoint of the ServiceMonitor and of the PodMonitor. Arguments: context, monitor (the values of the monitor). */}}
{{- define "bridge-exporter.monitorEndpoint" -}}
{{- $replicas := int .context.Values.replicas -}}
port: http
path: {{ .monitor.path }}
interval: {{ .monitor.interval }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- if .context.Values.webConfig.tls }}
scheme: https
{{- end }}
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- /* Pods of a Deployment have no names that survive a restart; those of two replicas need different ones. */}}
{{- $stable := and .monitor.stableLabels (le $replicas 1) }}
{{- if or $stable .monitor.relabelings }}
relabelings:
  {{- if $stable }}
  # Labels that survive a restart, because alerts start over for a new series.
  {{- if include "bridge-exporter.isSharded" .context }}
  - sourceLabels: [__meta_kubernetes_pod_name]
    targetLabel: instance
  {{- else }}
  - replacement: {{ include "bridge-exporter.fullname" .context }}
    targetLabel: instance
  {{- end }}
  - regex: pod
    action: labeldrop
  {{- end }}
  {{- with .monitor.relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Settings of the ServiceMonitor and of the PodMonitor beside their endpoint. */}}
{{- define "bridge-exporter.monitorSettings" -}}
{{- with .jobLabel }}
jobLabel: {{ . }}
{{- end }}
{{- with .targetLabels }}
targetLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .podTargetLabels }}
podTargetLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .sampleLimit }}
sampleLimit: {{ . }}
{{- end }}
{{- end -}}

{{/* Namespaces of the pods, if the monitor is in another one. */}}
{{- define "bridge-exporter.monitorNamespaces" -}}
{{- if and .monitor.namespace (ne .monitor.namespace (include "bridge-exporter.namespace" .context)) }}
namespaceSelector:
  matchNames:
    - {{ include "bridge-exporter.namespace" .context }}
{{- end }}
{{- end -}}
