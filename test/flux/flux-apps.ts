/** The applications of the repository: a shop with an overlay, and the release of a chart. */
import { FLUX_NAMESPACE } from './flux-controllers.ts'

export const APPS = {
  'apps/base/web/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
resources:
- namespace.yaml
- deployment.yaml
- service.yaml
- config.yaml
- secret.yaml
`,
  'apps/base/web/namespace.yaml': `apiVersion: v1
kind: Namespace
metadata:
  name: shop
`,
  'apps/base/web/deployment.yaml': `# The shop's front end.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      containers:
      - name: app
        image: example.com/shop/web
        env:
        - name: LOG_LEVEL
          value: \${log_level}
        resources:
          requests: {cpu: 100m, memory: 64Mi}
`,
  'apps/base/web/service.yaml': `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - name: http
    port: 80
    targetPort: 8080
`,
  'apps/base/web/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: web
data:
  url: https://shop.\${domain}
  theme: 'light' # as the designers want it
`,
  'apps/base/web/secret.yaml': `apiVersion: v1
kind: Secret
metadata:
  name: web
stringData:
  token: \${api_token}
`,
  'apps/base/front/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- release.yaml
`,
  // The chart is in this repository: no other one is reached in tests.
  'apps/base/front/release.yaml': `# The proxy before the shop.
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: front
  namespace: ${FLUX_NAMESPACE}
spec:
  interval: 1h
  targetNamespace: shop
  releaseName: front
  chart:
    spec:
      chart: ./charts/front
      sourceRef:
        kind: GitRepository
        name: flux-system
  install:
    disableWait: true
  upgrade:
    disableWait: true
  postRenderers:
  - kustomize:
      images:
      - name: example.com/front
        newName: mirror.example.com/front
      patches:
      - patch: |
          apiVersion: apps/v1
          kind: Deployment
          metadata:
            name: front
          spec:
            template:
              spec:
                terminationGracePeriodSeconds: 60 # long requests
  values:
    replicas: 1
    image:
      tag: "2.0" # as tested
    host: front.\${domain}
`,
  'charts/front/Chart.yaml': 'apiVersion: v2\nname: front\nversion: 1.0.0\n',
  'charts/front/values.yaml':
    'replicas: 1\nimage:\n  repository: example.com/front\n  tag: "1.0"\nhost: ""\nresources: {}\n',
  'charts/front/templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      containers:
      - name: proxy
        image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
        env:
        - name: HOST
          value: {{ .Values.host | quote }}
        resources:
          {{- toYaml .Values.resources | nindent 10 }}
`,
  'apps/production/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../base/web
- ../base/front
patches:
- path: web-replicas.yaml
- path: front-values.yaml
`,
  'apps/production/front-values.yaml': `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: front
  namespace: ${FLUX_NAMESPACE}
spec:
  values:
    replicas: 2 # one in each zone
`,
  'apps/production/web-replicas.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 3 # two zones and a spare
`,
  'apps/staging/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../base/web
`,
}
