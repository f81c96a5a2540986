{{- define "bridge-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of the release, unless it lacks the name of the chart. 52 characters leave room for the suffixes of pods and dashboards. */}}
{{- define "bridge-exporter.fullname" -}}
{{- $name := include "bridge-exporter.name" . -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "bridge-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "bridge-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "bridge-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "bridge-exporter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "bridge-exporter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ include "bridge-exporter.name" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of a resource. Arguments: context, and optionally name, namespace, labels, annotations. */}}
{{- define "bridge-exporter.metadata" -}}
name: {{ .name | default (include "bridge-exporter.fullname" .context) }}
namespace: {{ .namespace | default (include "bridge-exporter.namespace" .context) }}
labels:
  {{- merge (include "bridge-exporter.labels" .context | fromYaml) (.labels | default dict) | toYaml | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "bridge-exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "bridge-exporter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "bridge-exporter.image" -}}
{{- $image := .Values.image -}}
{{- $registry := (.Values.global).imageRegistry | default $image.registry -}}
{{- $repository := list $registry $image.repository | compact | join "/" -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Whether the chart creates the ConfigMap or Secret with the configuration: "true" or empty. */}}
{{- define "bridge-exporter.ownsConfig" -}}
{{- if not (or .Values.configExistingConfigMapName .Values.configExistingSecretName) -}}true{{- end -}}
{{- end -}}

{{/* The content of the configuration file. A text keeps its comments and large numbers. */}}
{{- define "bridge-exporter.config" -}}
{{- kindIs "string" .Values.config | ternary .Values.config (toYaml .Values.config) -}}
{{- end -}}

{{/* The configuration files by name. The indentation is explicit, because the first line of a file can be indented. */}}
{{- define "bridge-exporter.configFiles" -}}
{{- range $name, $content := merge (dict .Values.configFileName (include "bridge-exporter.config" .)) .Values.extraConfigFiles }}
{{ $name }}: |2
  {{- if kindIs "string" $content }}
  {{- $content | nindent 2 }}
  {{- else }}
  {{- toYaml $content | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The Service: that of the pod, or a headless one that names the shards. */}}
{{- define "bridge-exporter.serviceName" -}}
{{- include "bridge-exporter.fullname" . }}{{ if include "bridge-exporter.isSharded" . }}-shards{{ end -}}
{{- end -}}

{{/* A probe with the path, unless it has a request of its own. Arguments: context, probe, path. */}}
{{- define "bridge-exporter.probe" -}}
{{- if not (or .probe.exec .probe.grpc .probe.httpGet .probe.tcpSocket) }}
httpGet:
  path: {{ .path }}
  port: http
  scheme: {{ include "bridge-exporter.scheme" .context }}
{{- end }}
{{- if .probe }}
{{ toYaml .probe }}
{{- end }}
{{- end -}}

{{- define "bridge-exporter.scheme" -}}
{{- ternary "HTTPS" "HTTP" .Values.webConfig.tls -}}
{{- end -}}

{{/* Whether a StatefulSet runs the pods: "true" or empty. */}}
{{- define "bridge-exporter.isSharded" -}}
{{- if gt (int .Values.shards) 1 -}}true{{- end -}}
{{- end -}}

{{- define "bridge-exporter.claimSpec" -}}
accessModes: [ReadWriteOnce]
{{- with .Values.persistence.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.persistence.size }}
{{- end -}}

{{/* Errors in the values that the schema cannot express, one per line. */}}
{{- define "bridge-exporter.errors" -}}
{{- $config := .Values.config -}}
{{- if include "bridge-exporter.ownsConfig" . -}}
  {{- if not $config }}
config is empty: set config.targets, --set-file config=bridge.yaml, configExistingConfigMapName or configExistingSecretName
  {{- else if and (kindIs "map" $config) (not $config.targets) }}
config has no targets
  {{- end }}
{{- else if $config }}
config is set together with {{ ternary "configExistingSecretName" "configExistingConfigMapName" (ne .Values.configExistingSecretName "") }}: remove one of them
{{- end -}}
{{- if and .Values.configExistingConfigMapName .Values.configExistingSecretName }}
configExistingConfigMapName and configExistingSecretName are both set: remove one of them
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (gt (int .Values.shards) 1) }}
replicas and shards are both above 1: install a second release instead of replicas
{{- end -}}
{{- if and .Values.persistence.enabled (gt (int .Values.replicas) 1) }}
persistence.enabled requires replicas: 1, because pods with the same file overwrite what the other one remembers: install a second release instead
{{- end -}}
{{- if and .Values.persistence.existingClaimName (or (not .Values.persistence.enabled) (gt (int .Values.shards) 1)) }}
persistence.existingClaimName requires persistence.enabled, and shards: 1
{{- end -}}
{{- if and (gt (int .Values.shards) 1) (semverCompare "<1.28.0-0" .Capabilities.KubeVersion.Version) }}
shards above 1 require Kubernetes 1.28, which labels pods with their index; this is {{ .Capabilities.KubeVersion.Version }}
{{- end -}}
{{- if and (gt (int .Values.shards) 1) .Values.ingress.enabled }}
ingress.enabled requires shards: 1, because each shard has the status page of its own targets
{{- end -}}
{{- if and (gt (int .Values.shards) 1) .Values.route.enabled }}
route.enabled requires shards: 1, because each shard has the status page of its own targets
{{- end -}}
{{- if and .Values.route.enabled (not .Values.route.parentRefs) }}
route.parentRefs is empty: set the name of a Gateway in route.parentRefs[0].name
{{- end -}}
{{- if and .Values.podDisruptionBudget.enabled (kindIs "invalid" .Values.podDisruptionBudget.minAvailable) (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable) }}
podDisruptionBudget requires minAvailable or maxUnavailable
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
ingress.hosts is empty: set ingress.hosts[0].host
{{- end -}}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
serviceMonitor.enabled and podMonitor.enabled are both set, so that every pod would be scraped twice: disable one of them
{{- end -}}
{{- if and .Values.webConfig.tls (not .Values.webConfig.existingSecretName) }}
webConfig.tls requires webConfig.existingSecretName
{{- end -}}
{{- $names := include "bridge-exporter.alertNames" . | fromJsonArray -}}
{{- range $name, $own := .Values.prometheusRule.alerts }}
  {{- if not (has $name $names) }}
prometheusRule.alerts.{{ $name }}: no such alert; the alerts are {{ join ", " $names }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Fails with all errors at once. */}}
{{- define "bridge-exporter.validate" -}}
{{- $errors := include "bridge-exporter.errors" . | splitList "\n" | compact -}}
{{- if $errors -}}
{{- printf "\n- %s" (join "\n- " $errors) | fail -}}
{{- end -}}
{{- end -}}
