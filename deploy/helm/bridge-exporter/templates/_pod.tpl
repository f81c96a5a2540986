{{/* The pod of the Deployment and of the StatefulSet. */}}
{{- define "bridge-exporter.podTemplate" -}}
metadata:
  labels:
    {{- merge (include "bridge-exporter.selectorLabels" . | fromYaml) .Values.podLabels .Values.commonLabels | toYaml | nindent 4 }}
  {{- $checksum := dict }}
  {{- if and .Values.restartOnConfigChange (include "bridge-exporter.ownsConfig" .) }}
  {{- $checksum = dict "checksum/config" (include "bridge-exporter.configFiles" . | sha256sum) }}
  {{- end }}
  {{- with merge $checksum .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "bridge-exporter.serviceAccountName" . }}
  automountServiceAccountToken: {{ .Values.serviceAccount.automountServiceAccountToken }}
  enableServiceLinks: false
  {{- $securityContext := .Values.podSecurityContext }}
  {{- if .Values.persistence.enabled }}
  {{- /* The group of the image: a new volume belongs to root. */}}
  {{- $securityContext = merge (dict) $securityContext (dict "fsGroup" 1000) }}
  {{- end }}
  {{- with $securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.terminationGracePeriodSeconds }}
  terminationGracePeriodSeconds: {{ . }}
  {{- end }}
  {{- with .Values.extraInitContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: bridge-exporter
      image: {{ include "bridge-exporter.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args:
        - --config.file=/etc/bridge-exporter/{{ .Values.configFileName }}
        - --config.auto-reload-interval={{ .Values.autoReloadInterval }}
        {{- if .Values.webConfig.existingSecretName }}
        - --web.config.file=/etc/bridge-exporter-web/web.yml
        {{- end }}
        - --state.file=/var/lib/bridge-exporter/state.json
        - --log.level={{ .Values.log.level }}
        - --log.format={{ .Values.log.format }}
        {{- with .Values.extraArgs }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if or (include "bridge-exporter.isSharded" .) .Values.extraEnv }}
      env:
        {{- if include "bridge-exporter.isSharded" . }}
        - name: POD_INDEX
          valueFrom:
            fieldRef:
              fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
        - name: TARGETS_SHARD
          value: $(POD_INDEX)/{{ .Values.shards }}
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - name: http
          containerPort: 10917
      livenessProbe:
        {{- include "bridge-exporter.probe" (dict "context" . "probe" .Values.livenessProbe "path" "/-/healthy") | trim | nindent 8 }}
      readinessProbe:
        {{- include "bridge-exporter.probe" (dict "context" . "probe" .Values.readinessProbe "path" "/-/ready") | trim | nindent 8 }}
      {{- with .Values.startupProbe }}
      startupProbe:
        {{- include "bridge-exporter.probe" (dict "context" $ "probe" . "path" "/-/healthy") | trim | nindent 8 }}
      {{- end }}
      {{- with .Values.lifecycle }}
      lifecycle:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.securityContext }}
      securityContext:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      # Folders instead of single files (subPath), which Kubernetes would not update.
      volumeMounts:
        - name: config
          mountPath: /etc/bridge-exporter
          readOnly: true
        - name: state
          mountPath: /var/lib/bridge-exporter
        {{- if .Values.webConfig.existingSecretName }}
        - name: web-config
          mountPath: /etc/bridge-exporter-web
          readOnly: true
        {{- end }}
        {{- range $index, $name := .Values.secrets }}
        - name: secret-{{ $index }}
          mountPath: /run/secrets/{{ $name }}
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    - name: config
      {{- if or .Values.configExistingSecretName (and .Values.secretConfig (include "bridge-exporter.ownsConfig" .)) }}
      secret:
        secretName: {{ default (include "bridge-exporter.fullname" .) .Values.configExistingSecretName }}
      {{- else }}
      configMap:
        name: {{ default (include "bridge-exporter.fullname" .) .Values.configExistingConfigMapName }}
      {{- end }}
    {{- if not .Values.persistence.enabled }}
    - name: state
      emptyDir: {}
    {{- else if not (include "bridge-exporter.isSharded" .) }}
    - name: state
      persistentVolumeClaim:
        claimName: {{ default (include "bridge-exporter.fullname" .) .Values.persistence.existingClaimName }}
    {{- end }}
    {{- with .Values.webConfig.existingSecretName }}
    - name: web-config
      secret:
        secretName: {{ . }}
    {{- end }}
    {{- range $index, $name := .Values.secrets }}
    - name: secret-{{ $index }}
      secret:
        secretName: {{ $name }}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.hostAliases }}
  hostAliases:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- with .Values.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
