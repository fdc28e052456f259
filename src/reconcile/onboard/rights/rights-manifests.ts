/** Roles, bindings and an admission policy for the rights of one account. */
import type { JsonObject } from '@backporch/kyaml/json'
import { compareText, omitUndefined } from '@backporch/kyaml/text'
import type { Right, RightsLevel } from './needed-rights.ts'

export interface RightsAccount {
  readonly namespace: string
  readonly name: string
}

interface Writing {
  readonly level: RightsLevel
  readonly events: boolean
}

const RBAC = 'rbac.authorization.k8s.io'
const ADMISSION = 'admissionregistration.k8s.io'
/** The field is absent for a whole object. */
const NO_SUBRESOURCE = `(!has(request.subResource) || request.subResource == '')`
/** Other rights than these are no writes. */
const WRITES = ['create', 'patch', 'delete']

/** In the order in which they are applied. */
export function createRightsManifests(
  account: RightsAccount,
  rights: readonly Right[],
  writing: Writing,
): readonly JsonObject[] {
  const byNamespace = Map.groupBy(rights, ({ namespace }) => namespace)
  const namespaces = [...byNamespace.keys()].sort((left = '', right = '') =>
    compareText(left, right),
  )
  return [
    ...namespaces.flatMap((namespace) =>
      createRole(account, namespace, byNamespace.get(namespace) ?? []),
    ),
    ...createAdmissionPolicy(account, rights, writing),
  ]
}

/** @param namespace undefined: a ClusterRole */
function createRole(
  account: RightsAccount,
  namespace: string | undefined,
  rights: readonly Right[],
): readonly JsonObject[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name: account.name, ...omitUndefined({ namespace }) }
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules: createRules(rights) },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: account.name },
      subjects: [{ kind: 'ServiceAccount', name: account.name, namespace: account.namespace }],
    },
  ]
}

/** Kinds of one group with equal verbs and names are one rule. */
function createRules(rights: readonly Right[]): JsonObject[] {
  const same = Map.groupBy(rights, ({ group, verbs, names, resource }) =>
    JSON.stringify([group, verbs, names, names.length > 0 ? resource : '']),
  )
  return [...same.values()].map((rules) => {
    const { group = '', verbs = [], names = [] } = rules[0] ?? {}
    return {
      apiGroups: [group],
      resources: rules.map(({ resource }) => resource),
      ...(names.length === 0 ? {} : { resourceNames: [...names] }),
      verbs: [...verbs],
    }
  })
}

/**
 * What no role can say: a dry run needs the right to write (Kubernetes, api-concepts, "Dry-run
 * authorization"). A token request stores nothing and ignores `dryRun`, so subresources are denied.
 * The kubelet is asked without admission: the roles name no `nodes/proxy`.
 */
function createAdmissionPolicy(
  { namespace, name }: RightsAccount,
  rights: readonly Right[],
  { level, events }: Writing,
): readonly JsonObject[] {
  const policy = `${name}-dry-runs-only`
  const real = [
    ...(events ? [allowWrites('events.k8s.io', ['events'], ['CREATE', 'UPDATE'])] : []),
    ...(level === 'settle' ? listSettled(rights) : []),
  ]
  const dryRun = `(${NO_SUBRESOURCE} && request.operation in ['CREATE', 'UPDATE'] && has(request.dryRun) && request.dryRun)`
  const expression = [dryRun, ...real].join(' || ')
  return [
    {
      apiVersion: `${ADMISSION}/v1`,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: policy },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] },
          ],
        },
        matchConditions: [
          {
            name: 'is-backporch',
            expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:${name}'`,
          },
        ],
        validations: [
          {
            expression,
            message: `${namespace}/${name} may only make dry runs${real.length === 0 ? '' : ', and the writes that backporch rbac was asked to allow'}`,
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion: `${ADMISSION}/v1`,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: policy },
      spec: { policyName: policy, validationActions: ['Deny'] },
    },
  ]
}

function listSettled(rights: readonly Right[]): readonly string[] {
  const written = rights.filter(
    ({ group, verbs }) => group !== 'events.k8s.io' && verbs.some((verb) => WRITES.includes(verb)),
  )
  const byGroup = Map.groupBy(written, ({ group }) => group)
  return [...byGroup].map(([group, own]) =>
    allowWrites(group, [...new Set(own.map(({ resource }) => resource))].sort(), [
      'CREATE',
      'UPDATE',
      'DELETE',
    ]),
  )
}

function allowWrites(
  group: string,
  resources: readonly string[],
  operations: readonly string[],
): string {
  const parts = [
    NO_SUBRESOURCE,
    `request.resource.group == '${group}'`,
    `request.resource.resource in [${formatList(resources)}]`,
    `request.operation in [${formatList(operations)}]`,
  ]
  return `(${parts.join(' && ')})`
}

function formatList(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(', ')
}
