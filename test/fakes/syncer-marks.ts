/** Objects as syncers leave them, after the formats that their sources and documentation give (docs/facts/applier-marks.md). */
import type { JsonObject } from '@backporch/kyaml/json'
import { appliedBy, withMetadata } from './live-object.ts'

export type MarkedBy = keyof typeof MARKS

interface Marks {
  readonly manager: string
  readonly labels?: JsonObject
  readonly annotations?: JsonObject
}

/** Of a Deployment `shop/web`. */
const MARKS = {
  // fluxcd/pkg ssa/manager.go SetOwnerLabels; field manager: kustomize-controller main.go, controllerName
  kustomization: {
    manager: 'kustomize-controller',
    labels: {
      'kustomize.toolkit.fluxcd.io/name': 'web',
      'kustomize.toolkit.fluxcd.io/namespace': 'apps',
    },
  },
  // helm-controller internal/postrender/origin_labels.go; Helm marks its releases as well (helm pkg/action/validate.go)
  helmrelease: {
    manager: 'helm-controller',
    labels: {
      'helm.toolkit.fluxcd.io/name': 'web',
      'helm.toolkit.fluxcd.io/namespace': 'apps',
      'app.kubernetes.io/managed-by': 'Helm',
    },
    annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'shop' },
  },
  // argo-cd util/argo/resource_tracking.go, tracking method "annotation"; manager: common/common.go ArgoCDSSAManager
  argo: {
    manager: 'argocd-controller',
    annotations: { 'argocd.argoproj.io/tracking-id': 'web:apps/Deployment:shop/web' },
  },
  // argo-cd docs/operator-manual/app-any-namespace.md and Application.InstanceName
  argoElsewhere: {
    manager: 'argocd-controller',
    annotations: { 'argocd.argoproj.io/tracking-id': 'team_web:apps/Deployment:shop/web' },
  },
  // tracking method "label"
  argoLabel: { manager: 'argocd-controller', labels: { 'app.kubernetes.io/instance': 'web' } },
  // kpt-config-sync pkg/metadata/annotations.go, pkg/declared/resource_manager.go; manager: pkg/api/configsync FieldManager
  rootSync: { manager: 'configsync.gke.io', annotations: configSync(':root') },
  rootSyncNamed: { manager: 'configsync.gke.io', annotations: configSync(':root_fleet') },
  repoSync: { manager: 'configsync.gke.io', annotations: configSync('shop') },
  repoSyncNamed: { manager: 'configsync.gke.io', annotations: configSync('shop_front') },
  // cli-utils pkg/inventory; manager: pkg/common DefaultFieldManager
  kptLive: { manager: 'kubectl', annotations: { 'config.k8s.io/owning-inventory': '4f2b9c-web' } },
  // libsveltos lib/deployer/utils.go
  sveltos: {
    manager: 'application/apply-patch',
    annotations: {
      'projectsveltos.io/owner-kind': 'ClusterProfile',
      'projectsveltos.io/owner-name': 'web',
      'projectsveltos.io/owner-tier': '100',
    },
  },
  // fleet internal/helmdeployer/postrender.go
  fleet: {
    manager: 'fleetagent',
    labels: { 'objectset.rio.cattle.io/hash': 'd3adb33f', 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: {
      'objectset.rio.cattle.io/id': 'default-web',
      'meta.helm.sh/release-name': 'web',
      'meta.helm.sh/release-namespace': 'shop',
    },
  },
  // carvel kapp, docs "diff" and "apply"
  kapp: {
    manager: 'kapp-server-side-apply',
    labels: { 'kapp.k14s.io/app': '1605806842', 'kapp.k14s.io/association': 'v1.1eef7be4' },
    annotations: { 'kapp.k14s.io/identity': 'v1;shop/apps/Deployment/web;apps/v1' },
  },
  helm: {
    manager: 'helm',
    labels: { 'app.kubernetes.io/managed-by': 'Helm' },
    annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': 'shop' },
  },
  // kluctl pkg/deployment/deployment_item.go; manager: pkg/k8s/k8s_cluster.go
  kluctl: {
    manager: 'kluctl',
    labels: { 'kluctl.io/discriminator': 'shop-prod', 'kluctl.io/tag-0': 'web' },
    annotations: { 'kluctl.io/deployment-item-dir': 'web' },
  },
  ci: { manager: 'ci' },
} as const satisfies { readonly [name: string]: Marks }

function configSync(manager: string): JsonObject {
  return {
    'configmanagement.gke.io/managed': 'enabled',
    'configmanagement.gke.io/source-path': 'apps/web/deployment.yaml',
    'configmanagement.gke.io/token': '1ddb6395a183f5190c63fc94cfab9e7bd4ee478f',
    'configsync.gke.io/manager': manager,
    'configsync.gke.io/resource-id': 'apps_deployment_shop_web',
    'config.k8s.io/owning-inventory': 'config-management-system_root-sync',
  }
}

/** A Deployment that several may claim; the first one's field manager applied it. */
export function deploymentOf(
  by: readonly MarkedBy[],
  more: Omit<Marks, 'manager'> = {},
  name = 'web',
): JsonObject {
  const marks: readonly Marks[] = by.map((one) => MARKS[one])
  const labels = Object.assign(
    { app: 'web' },
    ...marks.map((one) => one.labels),
    more.labels,
  ) as JsonObject
  const annotations = Object.assign(
    {},
    ...marks.map((one) => one.annotations),
    more.annotations,
  ) as JsonObject
  const manifest = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'shop', labels },
    spec: {
      replicas: 3,
      template: { spec: { containers: [{ name: 'side' }, { name: 'app', image: 'nginx:1.27' }] } },
    },
  }
  return withMetadata(appliedBy(marks[0]?.manager ?? 'ci', manifest), { annotations })
}
