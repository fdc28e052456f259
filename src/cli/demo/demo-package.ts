/** Recorded and real clusters run exactly these. */

export const NAMESPACE = 'shop'

const KPTFILE_WEB = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: web
info:
  description: The shop's front end.
`

const INVENTORY_WEB = `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata:
  name: web
  namespace: shop
  labels:
    cli-utils.sigs.k8s.io/inventory-id: shop-web
`

const DEPLOYMENT_WEB = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web}
spec:
  # Three is what one zone less still carries.
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: shop/web:1.8.2 # moved by the release pipeline only
        env:
        - name: LOG
          value: "info"
        ports:
        - containerPort: 8080
`

const CONFIG_WEB = `apiVersion: v1
kind: ConfigMap
metadata:
  name: web-config
  namespace: shop
data:
  timeout: "30s"
  banner: "summer sale"
`

const SECRET_WEB = `# Its content is put there by hand and never was in git.
apiVersion: v1
kind: Secret
metadata:
  name: web-session
  namespace: shop
type: Opaque
`

const BUDGET_WEB = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web
  namespace: shop
spec:
  minAvailable: 2
  selector:
    matchLabels: {app: web}
`

const KPTFILE_ORDERS = `apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: orders
info:
  description: Takes the orders.
pipeline:
  mutators:
  # The requests of the team, for every container that states none.
  - exec: set-default-requests
    configMap:
      cpu: "50m"
      memory: "64Mi"
`

const DEPLOYMENT_ORDERS = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: orders
  namespace: shop
spec:
  replicas: 1
  selector:
    matchLabels: {app: orders}
  template:
    metadata:
      labels: {app: orders}
    spec:
      serviceAccountName: orders
      containers:
      - name: orders
        image: shop/orders:2.1.0
`

const ORDERS = `apiVersion: v1
kind: ConfigMap
metadata:
  name: orders-config
  namespace: shop
data:
  queue: "orders"
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: orders
  namespace: shop
`

export const DEMO_FILES: Readonly<Record<string, string>> = {
  'apps/orders/Kptfile': KPTFILE_ORDERS,
  'apps/orders/deployment.yaml': DEPLOYMENT_ORDERS,
  'apps/orders/orders.yaml': ORDERS,
  'apps/web/Kptfile': KPTFILE_WEB,
  'apps/web/budget.yaml': BUDGET_WEB,
  'apps/web/config.yaml': CONFIG_WEB,
  'apps/web/deployment.yaml': DEPLOYMENT_WEB,
  'apps/web/resourcegroup.yaml': INVENTORY_WEB,
  'apps/web/secret.yaml': SECRET_WEB,
}
