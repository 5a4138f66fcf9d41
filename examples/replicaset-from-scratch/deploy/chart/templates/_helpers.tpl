{{- define "replicaset-from-scratch.fullname" -}}
{{- $name := $.Values.fullnameOverride -}}
{{- if not $name -}}
{{- $own := contains "replicaset-from-scratch" $.Release.Name -}}
{{- $name = ternary $.Release.Name (printf "%s-%s" $.Release.Name "replicaset-from-scratch") $own -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "replicaset-from-scratch.account" -}}
{{- $.Values.serviceAccount.name | default (include "replicaset-from-scratch.fullname" $) -}}
{{- end -}}

{{- define "replicaset-from-scratch.lease" -}}
{{- $name := include "replicaset-from-scratch.fullname" $ -}}
{{- ternary "podset.scratch.example.com" (printf "%s.%s" $name "podset.scratch.example.com") (eq $name "replicaset-from-scratch") -}}
{{- end -}}

{{- define "replicaset-from-scratch.image" -}}
{{- with $.Values.image -}}
{{- .repository -}}
{{- with .tag }}:{{ . }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}
