{{- define "app-controller.fullname" -}}
{{- $name := $.Values.fullnameOverride -}}
{{- if not $name -}}
{{- $own := contains "app-controller" $.Release.Name -}}
{{- $name = ternary $.Release.Name (printf "%s-%s" $.Release.Name "app-controller") $own -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "app-controller.account" -}}
{{- $.Values.serviceAccount.name | default (include "app-controller.fullname" $) -}}
{{- end -}}

{{- define "app-controller.lease" -}}
{{- $name := include "app-controller.fullname" $ -}}
{{- ternary "appservice.appcontroller.k8s.io" (printf "%s.%s" $name "appservice.appcontroller.k8s.io") (eq $name "app-controller") -}}
{{- end -}}

{{- define "app-controller.image" -}}
{{- with $.Values.image -}}
{{- .repository -}}
{{- with .tag }}:{{ . }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}
