import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceId } from '@backporch/kyaml/resource'
import type { TracedResource } from '@backporch/system/trace'
import { computeNeededRights, type Right, type RightsQuestion } from './needed-rights.ts'

const WEB: ResourceId = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' }
const LOGIN: ResourceId = { group: '', kind: 'Secret', namespace: 'shop', name: 'login' }
const ROLE: ResourceId = {
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRole',
  namespace: '',
  name: 'web',
}
const PLURALS: Readonly<Record<string, string>> = {
  Application: 'applications',
  ClusterRole: 'clusterroles',
  Deployment: 'deployments',
  Secret: 'secrets',
}

function list(id: ResourceId, name = ''): TracedResource {
  return { ...id, plural: PLURALS[id.kind] ?? '', verb: 'list', name }
}

/** Without those that every account needs. */
function computeOwn(question: Partial<RightsQuestion>): readonly string[] {
  const { rights } = computeNeededRights({
    requests: [list(WEB), list(LOGIN, 'login'), list(ROLE)],
    objects: [WEB, LOGIN, ROLE],
    level: 'observe',
    events: false,
    isNamespaced: false,
    ...question,
  })
  const fixed = ['apiextensions.k8s.io', 'admissionregistration.k8s.io']
  return rights
    .filter(({ group, resource }) => !fixed.includes(group) && resource !== 'namespaces')
    .map(formatRight)
}

function formatRight({ namespace = '', group, resource, names, verbs }: Right): string {
  const named = names.length === 0 ? '' : ` ${names.join()}`
  return `${namespace}: ${resource}.${group}${named} ${verbs.join()}`
}

test('grants the kinds in the whole cluster, and Secrets by name in their namespace', () => {
  assert.deepEqual(computeOwn({}), [
    ': deployments.apps list,watch',
    ': clusterroles.rbac.authorization.k8s.io list,watch',
    'shop: secrets. login list,watch',
  ])
})

test('grants the kinds in the namespaces of the packages, if that is asked for', () => {
  const application: ResourceId = {
    group: 'argoproj.io',
    kind: 'Application',
    namespace: '',
    name: '',
  }
  const requests = [
    list({ ...WEB, namespace: '' }),
    list(LOGIN, 'login'),
    list(ROLE),
    list(application),
  ]
  assert.deepEqual(computeOwn({ isNamespaced: true, requests }), [
    ': applications.argoproj.io list,watch',
    ': clusterroles.rbac.authorization.k8s.io list,watch',
    'shop: secrets. login list,watch',
    'shop: deployments.apps list,watch',
  ])
})

test('grants patch and create for dry runs, and delete for writes that merged commits authorise', () => {
  assert.deepEqual(
    computeOwn({
      level: 'dryrun',
      objects: [WEB, LOGIN],
      requests: [list(WEB), list(LOGIN, 'login')],
    }),
    [
      ': deployments.apps create,list,patch,watch',
      'shop: secrets. create',
      'shop: secrets. login list,patch,watch',
    ],
  )
  assert.deepEqual(computeOwn({ level: 'settle', objects: [WEB], requests: [list(WEB)] }), [
    ': deployments.apps create,delete,get,list,patch,watch',
  ])
})

test('grants all Secrets of a namespace to read the releases of Helm, and drops the names', () => {
  assert.deepEqual(
    computeOwn({ objects: [LOGIN], requests: [list(LOGIN, 'login'), list(LOGIN)] }),
    ['shop: secrets. list,watch'],
  )
})

test('grants no dry run of objects that are read only', () => {
  assert.deepEqual(computeOwn({ level: 'dryrun', objects: [] }), [
    ': deployments.apps list,watch',
    ': clusterroles.rbac.authorization.k8s.io list,watch',
    'shop: secrets. login list,watch',
  ])
})

test('grants Pods to packages with a StatefulSet, and Events if they are written', () => {
  const queue: ResourceId = { ...WEB, kind: 'StatefulSet', name: 'queue' }
  const requests = [{ ...list(queue), plural: 'statefulsets' }]
  assert.deepEqual(computeOwn({ objects: [queue], requests, events: true }), [
    ': pods. list',
    ': statefulsets.apps list,watch',
    ': events.events.k8s.io create,patch',
  ])
})

test('names the objects of kinds that the server does not serve', () => {
  const widget: ResourceId = {
    group: 'example.com',
    kind: 'Widget',
    namespace: 'shop',
    name: 'one',
  }
  const { unserved } = computeNeededRights({
    requests: [],
    objects: [widget],
    level: 'dryrun',
    events: false,
    isNamespaced: false,
  })
  assert.deepEqual(unserved, [widget])
})

test('equal questions in another order give equal rights', () => {
  const requests = [list(WEB), list(LOGIN, 'login'), list(ROLE)]
  const objects = [WEB, LOGIN, ROLE]
  assert.deepEqual(
    computeOwn({ requests: requests.toReversed(), objects: objects.toReversed() }),
    computeOwn({ requests, objects }),
  )
})
