/** The injected ledger: 25 edits as people make them, each with the line of the diff that it has to become. */
import type { Change } from '../../src/record/documents/change.ts'
import { type CustomKind, INVENTORY_ID } from './shop-package.ts'
import type { World } from './world.ts'

/** One injected edit: what was done, and the line of the diff that it has to become. */
export interface InjectedEdit {
  readonly how: string
  readonly edit: (world: World, namespace: string, widget: CustomKind) => Promise<unknown>
  readonly object: string
  readonly change: Change['change']
  readonly path?: string
  readonly git?: unknown
  readonly live?: unknown
  readonly manager: string
  /** `none` for the manager `unknown`, `field-manager` otherwise. */
  readonly confidence?: Change['actor']['confidence']
}

const APP = 'spec.template.spec.containers[name=app]'

/** The value of a Secret stands for itself nowhere: both sides are keyed hashes. */
export const HIDDEN = Symbol('a keyed hash')

export const INJECTED: readonly InjectedEdit[] = [
  {
    how: 'kubectl scale',
    edit: (world, ns) => world.kubectl('scale', 'deployment/web', '--replicas=5', '-n', ns),
    object: 'Deployment/web',
    change: 'modified',
    path: 'spec.replicas',
    git: 3,
    live: 5,
    manager: 'kubectl',
  },
  {
    how: 'kubectl set image',
    edit: (world, ns) =>
      world.kubectl(
        'set',
        'image',
        'deployment/web',
        'app=example.com/shop/web:1.4.3-hotfix',
        '-n',
        ns,
      ),
    object: 'Deployment/web',
    change: 'modified',
    path: `${APP}.image`,
    git: 'example.com/shop/web:1.4.2',
    live: 'example.com/shop/web:1.4.3-hotfix',
    manager: 'kubectl-set',
  },
  {
    how: 'kubectl set env, a changed value',
    edit: (world, ns) =>
      world.kubectl('set', 'env', 'deployment/web', '-c', 'app', 'LOG_LEVEL=debug', '-n', ns),
    object: 'Deployment/web',
    change: 'modified',
    path: `${APP}.env[name=LOG_LEVEL].value`,
    git: 'info',
    live: 'debug',
    manager: 'kubectl-set',
  },
  {
    how: 'kubectl set env, a new variable',
    edit: (world, ns) =>
      world.kubectl('set', 'env', 'deployment/web', '-c', 'app', 'TRACE=1', '-n', ns),
    object: 'Deployment/web',
    change: 'added',
    path: `${APP}.env[name=TRACE]`,
    live: { name: 'TRACE', value: '1' },
    manager: 'kubectl-set',
  },
  {
    how: 'kubectl set env, a variable taken away',
    edit: (world, ns) =>
      world.kubectl('set', 'env', 'deployment/web', '-c', 'app', 'FEATURE_BASKET-', '-n', ns),
    object: 'Deployment/web',
    change: 'removed',
    path: `${APP}.env[name=FEATURE_BASKET]`,
    git: { name: 'FEATURE_BASKET', value: 'on' },
    // Three managers wrote the object since, and none of them owns what is gone.
    manager: 'unknown',
  },
  {
    how: 'kubectl label, a new label',
    edit: (world, ns) => world.kubectl('label', 'deployment/web', 'tier=gold', '-n', ns),
    object: 'Deployment/web',
    change: 'added',
    path: 'metadata.labels.tier',
    live: 'gold',
    manager: 'kubectl-label',
  },
  {
    how: 'kubectl annotate, a changed value under a key with dots and a slash',
    edit: (world, ns) =>
      world.kubectl(
        'annotate',
        'deployment/web',
        '--overwrite',
        'example.com/contact=nobody',
        '-n',
        ns,
      ),
    object: 'Deployment/web',
    change: 'modified',
    path: 'metadata.annotations["example.com/contact"]',
    git: 'shop@example.com',
    live: 'nobody',
    manager: 'kubectl-annotate',
  },
  {
    how: 'kubectl set resources',
    edit: (world, ns) =>
      world.kubectl('set', 'resources', 'deployment/api', '--limits=memory=512Mi', '-n', ns),
    object: 'Deployment/api',
    change: 'modified',
    path: 'spec.template.spec.containers[name=api].resources.limits.memory',
    git: '256Mi',
    live: '512Mi',
    manager: 'kubectl-set',
  },
  {
    how: 'kubectl patch: an annotation of the pods',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'deployment/api',
        '-n',
        ns,
        '-p',
        '{"spec":{"template":{"metadata":{"annotations":{"example.com/reload":"7"}}}}}',
      ),
    object: 'Deployment/api',
    change: 'added',
    path: 'spec.template.metadata.annotations["example.com/reload"]',
    live: '7',
    manager: 'kubectl-patch',
  },
  {
    how: 'kubectl patch of a Service: one more port',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'service/web',
        '-n',
        ns,
        '-p',
        '{"spec":{"ports":[{"name":"debug","port":6060,"targetPort":6060}]}}',
      ),
    object: 'Service/web',
    change: 'added',
    path: 'spec.ports[port=6060,protocol=TCP]',
    live: { name: 'debug', port: 6060, protocol: 'TCP', targetPort: 6060 },
    manager: 'kubectl-patch',
  },
  {
    how: 'kubectl edit of one line in a text',
    edit: (world, ns) => world.edit('theme=light', 'theme=dark', 'configmap/settings', '-n', ns),
    object: 'ConfigMap/settings',
    change: 'modified',
    path: 'data["app.properties"]',
    git: 'theme=light\nbasket=on\n',
    live: 'theme=dark\nbasket=on\n',
    manager: 'kubectl-edit',
  },
  {
    how: 'kubectl patch under a manager of its own: a new key',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'configmap/settings',
        '-n',
        ns,
        '--field-manager=night-shift',
        '-p',
        '{"data":{"verbose":"yes"}}',
      ),
    object: 'ConfigMap/settings',
    change: 'added',
    path: 'data.verbose',
    live: 'yes',
    manager: 'night-shift',
  },
  {
    how: 'kubectl patch that only removes a key, of an object that nobody else wrote',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'configmap/limits',
        '-n',
        ns,
        '--type=merge',
        '-p',
        '{"data":{"burst":null}}',
      ),
    object: 'ConfigMap/limits',
    change: 'removed',
    path: 'data.burst',
    git: '100',
    manager: 'unknown',
  },
  {
    how: 'kubectl delete',
    edit: (world, ns) => world.kubectl('delete', 'configmap/doomed', '-n', ns),
    object: 'ConfigMap/doomed',
    change: 'missing',
    manager: 'unknown',
  },
  {
    how: 'an object of the inventory that git does not declare',
    edit: async (world, ns) => {
      await world.kubectl('create', 'configmap', 'leftover', '--from-literal=a=b', '-n', ns)
      await world.pipe(inventory(ns), 'create', '--filename=-')
    },
    object: 'ConfigMap/leftover',
    change: 'unexpected',
    manager: 'kubectl-create',
  },
  {
    how: 'a Secret: a changed value',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'secret/database',
        '-n',
        ns,
        '-p',
        '{"stringData":{"password":"live-side-of-the-secret"}}',
      ),
    object: 'Secret/database',
    change: 'modified',
    path: 'data.password',
    git: HIDDEN,
    live: HIDDEN,
    manager: 'kubectl-patch',
  },
  {
    how: 'a Secret: a new key',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'secret/database',
        '-n',
        ns,
        '-p',
        '{"stringData":{"backdoor":"a-new-secret-value"}}',
      ),
    object: 'Secret/database',
    change: 'added',
    path: 'data.backdoor',
    live: HIDDEN,
    manager: 'kubectl-patch',
  },
  {
    how: 'kubectl patch of an atomic list',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'role/reader',
        '-n',
        ns,
        '--type=json',
        '-p',
        '[{"op":"add","path":"/rules/0/verbs/-","value":"delete"}]',
      ),
    object: 'Role/reader',
    change: 'modified',
    path: 'rules',
    git: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
    live: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'delete'] }],
    manager: 'kubectl-patch',
  },
  {
    how: 'kubectl apply --server-side by somebody else, with force',
    edit: (world, ns) =>
      world.pipe(
        databaseHotfix(ns),
        'apply',
        '--server-side',
        '--force-conflicts',
        '--field-manager=dba',
        '--filename=-',
      ),
    object: 'StatefulSet/database',
    change: 'modified',
    path: 'spec.template.spec.containers[name=db].image',
    git: 'example.com/postgres:17',
    live: 'example.com/postgres:16',
    manager: 'dba',
  },
  {
    how: 'a Secret: a key taken away, after one other writer changed the object',
    edit: (world, ns) =>
      world.kubectl(
        'patch',
        'secret/database',
        '-n',
        ns,
        '--type=merge',
        '-p',
        '{"data":{"username":null}}',
      ),
    object: 'Secret/database',
    change: 'removed',
    path: 'data.username',
    git: HIDDEN,
    manager: 'kubectl-patch',
    confidence: 'last-writer',
  },
  {
    how: 'a field that git leaves to its default',
    edit: (world, ns) =>
      world.kubectl('patch', 'cronjob/cleanup', '-n', ns, '-p', '{"spec":{"suspend":true}}'),
    object: 'CronJob/cleanup',
    change: 'added',
    path: 'spec.suspend',
    live: true,
    manager: 'kubectl-patch',
  },
  {
    how: 'a number that may be a percentage',
    edit: (world, ns) =>
      world.kubectl('patch', 'pdb/api', '-n', ns, '-p', '{"spec":{"minAvailable":"0%"}}'),
    object: 'PodDisruptionBudget/api',
    change: 'modified',
    path: 'spec.minAvailable',
    git: 1,
    live: '0%',
    manager: 'kubectl-patch',
  },
  {
    how: 'a custom resource: a value in an item of a list with two keys, one of them a default',
    edit: (world, ns, widget) =>
      world.kubectl(
        'patch',
        `widgets.${widget.group}`,
        'gear',
        '-n',
        ns,
        '--type=json',
        '-p',
        '[{"op":"replace","path":"/spec/endpoints/0/port","value":8444}]',
      ),
    object: 'Widget/gear',
    change: 'modified',
    path: 'spec.endpoints[name=main,protocol=TCP].port',
    git: 8443,
    live: 8444,
    manager: 'kubectl-patch',
  },
  {
    how: 'a custom resource: a default of its schema overridden',
    edit: (world, ns, widget) =>
      world.kubectl(
        'patch',
        `widgets.${widget.group}`,
        'gear',
        '-n',
        ns,
        '--type=merge',
        '-p',
        '{"spec":{"policy":"Hard"}}',
      ),
    object: 'Widget/gear',
    change: 'added',
    path: 'spec.policy',
    live: 'Hard',
    manager: 'kubectl-patch',
  },
  {
    how: 'a custom resource: one more member of a set',
    edit: (world, ns, widget) =>
      world.kubectl(
        'patch',
        `widgets.${widget.group}`,
        'gear',
        '-n',
        ns,
        '--type=json',
        '-p',
        '[{"op":"add","path":"/spec/zones/-","value":"c"}]',
      ),
    object: 'Widget/gear',
    change: 'added',
    path: 'spec.zones[=c]',
    live: 'c',
    manager: 'kubectl-patch',
  },
]

function databaseHotfix(namespace: string): string {
  return `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: database, namespace: ${namespace}}
spec:
  template:
    spec:
      containers:
      - {name: db, image: "example.com/postgres:16"}
`
}

/** As `kpt live` writes it: what it applied, by kind and name. */
function inventory(namespace: string): string {
  return `apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata:
  name: shop
  namespace: ${namespace}
  labels: {cli-utils.sigs.k8s.io/inventory-id: ${INVENTORY_ID}}
spec:
  resources:
  - {group: apps, kind: Deployment, namespace: ${namespace}, name: web}
  - {group: "", kind: ConfigMap, namespace: ${namespace}, name: settings}
  - {group: "", kind: ConfigMap, namespace: ${namespace}, name: leftover}
`
}
