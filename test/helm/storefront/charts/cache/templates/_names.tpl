{{- define "cache.fullname" -}}
{{- printf "%s-cache" .Release.Name -}}
{{- end }}
