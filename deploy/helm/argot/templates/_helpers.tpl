{{- define "argot.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "argot.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "argot.labels" -}}
{{ include "argot.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "argot.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}

{{- define "argot.claim" -}}
{{ .Values.persistence.existingClaim | default (include "argot.name" .) }}
{{- end }}

{{/* Of both containers. */}}
{{- define "argot.confinement" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - {name: knowledge-base, mountPath: /srv/argot}
  - {name: temporary, mountPath: /tmp}
  {{- if .Values.secret }}
  - {name: secrets, mountPath: /run/secrets, readOnly: true}
  {{- end }}
{{- end }}
