upstream {{ include "storefront.fullname" . }}
timeout {{ .Values.gracePeriod }}s
retries 3
