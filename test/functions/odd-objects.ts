/** Objects as nobody means them: the right names over the wrong things. For tests that a function takes whatever it is given. */
import type { Json } from '@backporch/kyaml/json'
import { convertJsonToYaml, type YamlMap } from '@backporch/kyaml/yaml'
import fc from 'fast-check'

const NAMES =
  'metadata name namespace labels annotations spec selector matchLabels template jobTemplate volumeClaimTemplates subjects kind rules resourceNames roleRef apiGroup conversion strategy webhook clientConfig service ingress egress from to podSelector topologySpreadConstraints labelSelector volumes configMap data a 1 __proto__'.split(
    ' ',
  )
const TEXTS = [
  '',
  'a',
  'b',
  'prod-a',
  'default',
  '~C',
  'ServiceAccount',
  'Webhook',
  '|Service|~C|a',
  'x|y',
  '/namespaces/default/Service/a',
  '/Service/a',
]

const { value } = fc.letrec<{ value: Json; map: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, 0, 7, true, '', 'a', 'b'),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('map'),
  ),
  map: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 4 }),
}))

const ANNOTATIONS = [
  'config.kubernetes.io/depends-on',
  'config.kubernetes.io/local-config',
  'internal.kpt.dev/upstream-identifier',
  'a',
]
const text = fc.constantFrom(...TEXTS)
const annotations = fc.dictionary(fc.constantFrom(...ANNOTATIONS), fc.oneof(text, value), {
  maxKeys: 3,
})
const metadata = fc.oneof(
  { weight: 1, arbitrary: value },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        name: fc.oneof(text, value),
        namespace: fc.oneof(text, value),
        annotations: fc.oneof(annotations, value),
        labels: value,
      },
      { requiredKeys: ['name'] },
    ),
  },
)
const KINDS = [
  'v1 Service',
  'v1 ServiceAccount',
  'v1 ConfigMap',
  'v1 Namespace',
  'v1 Pod',
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'batch/v1 Job',
  'batch/v1 CronJob',
  'networking.k8s.io/v1 NetworkPolicy',
  'networking.k8s.io/v1 Ingress',
  'apiextensions.k8s.io/v1 CustomResourceDefinition',
  'apiregistration.k8s.io/v1 APIService',
  'rbac.authorization.k8s.io/v1 ClusterRoleBinding',
  'rbac.authorization.k8s.io/v1 RoleBinding',
  'rbac.authorization.k8s.io/v1 ClusterRole',
  'a/b/c Odd',
]
const object = fc
  .tuple(fc.constantFrom(...KINDS), metadata, value, value, fc.boolean())
  .map(([type, meta, spec, subjects, isOdd]): Json => {
    const [apiVersion = '', kind = ''] = type.split(' ')
    return {
      apiVersion: isOdd && kind === 'Odd' ? 1 : apiVersion,
      kind: isOdd && kind === 'Odd' ? null : kind,
      metadata: meta,
      spec,
      subjects,
      rules: subjects,
      roleRef: spec,
    }
  })

/** Up to four of them. */
export const oddItems: fc.Arbitrary<readonly YamlMap[]> = fc
  .array(fc.oneof({ weight: 6, arbitrary: object }, { weight: 1, arbitrary: value }), {
    maxLength: 4,
  })
  .map((objects) => objects.map(convertJsonToYaml).filter((node) => node.kind === 'map'))

/** Something in the place of a config. */
export const oddConfig: fc.Arbitrary<YamlMap | undefined> = fc
  .tuple(
    fc.constantFrom(
      'v1 ConfigMap',
      'fn.kpt.dev/v1alpha1 SetNamespace',
      'fn.kpt.dev/v1alpha1 SetLabels',
      'fn.kpt.dev/v1alpha1 SetAnnotations',
      'fn.kpt.dev/v1alpha1 EnsureNameSubstring',
      'v1 List',
      'v1 Service',
    ),
    metadata,
    value,
    value,
  )
  .map(([type, meta, first, second]) => {
    const [apiVersion = '', kind = ''] = type.split(' ')
    const node = convertJsonToYaml({
      apiVersion,
      kind,
      metadata: meta,
      data: first,
      labels: second,
      annotations: second,
      namespace: first,
      substring: first,
      items: second,
      fieldSpecs: first,
      additionalAnnotationFields: second,
    })
    return node.kind === 'map' ? node : undefined
  })
