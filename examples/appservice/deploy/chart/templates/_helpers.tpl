{{- define "opdemo.fullname" -}}
{{- $name := $.Values.fullnameOverride -}}
{{- if not $name -}}
{{- $own := contains "opdemo" $.Release.Name -}}
{{- $name = ternary $.Release.Name (printf "%s-%s" $.Release.Name "opdemo") $own -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "opdemo.account" -}}
{{- $.Values.serviceAccount.name | default (include "opdemo.fullname" $) -}}
{{- end -}}

{{- define "opdemo.lease" -}}
{{- $name := include "opdemo.fullname" $ -}}
{{- ternary "appservice.app.example.com" (printf "%s.%s" $name "appservice.app.example.com") (eq $name "opdemo") -}}
{{- end -}}

{{- define "opdemo.image" -}}
{{- with $.Values.image -}}
{{- .repository -}}
{{- with .tag }}:{{ . }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}
