/** Objects of kinds whose values a server rewrites and completes, as people write them; and an edit of any of them. */
import type { JsonObject } from '@backporch/kyaml/json'
import fc from 'fast-check'

const amount = fc.oneof(
  fc.tuple(
    fc.integer({ min: 0, max: 4096 }),
    fc.constantFrom('', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi'),
  ),
  fc.tuple(
    fc.constantFrom('0.5', '1.5', '0.25', '0.1', '1000.0', '2.50'),
    fc.constantFrom('', 'k', 'M', 'Ki', 'Mi', 'Gi'),
  ),
)

/** As authors write it, and as the server may have to round it. */
export const QUANTITY = amount.map(([number, suffix]) => `${number}${suffix}`)

const bytes = fc
  .tuple(fc.integer({ min: 1, max: 4096 }), fc.constantFrom('Mi', 'Gi', 'M'))
  .map(([number, suffix]) => `${number}${suffix}`)
const cpu = fc.oneof(
  fc.integer({ min: 1, max: 4000 }).map((number) => `${number}m`),
  fc.constantFrom<string | number>('1', '0.5', '1.25', 2, 0.1),
)

const pick = <Value>(value: Value): fc.Arbitrary<Value | undefined> =>
  fc.option(fc.constant(value), { nil: undefined })

/** Without what is undefined. */
function some(object: Record<string, unknown>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as JsonObject
}

const container = fc
  .record({
    requests: fc.record({ cpu, memory: bytes }),
    limits: pick({}),
    field: pick({ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
    empty: pick({ name: 'EMPTY', value: '' }),
    ports: fc.option(
      fc.constantFrom([{ containerPort: 80 }], [{ containerPort: 80, protocol: 'TCP' }]),
      { nil: undefined },
    ),
    securityContext: pick({}),
    livenessProbe: pick({ httpGet: { path: '/', port: 80 } }),
  })
  .map(({ requests, limits, field, empty, ...rest }) => {
    const env = [{ name: 'A', value: 'a' }, field, empty].filter((one) => one !== undefined)
    return some({
      name: 'app',
      image: 'example.com/app:1',
      env,
      resources: some({ requests, limits }),
      ...rest,
    })
  })

const pod = fc
  .record({
    container,
    projected: pick({
      name: 'token',
      projected: { sources: [{ serviceAccountToken: { path: 't' } }] },
    }),
    scratch: bytes.map((sizeLimit) => ({ name: 'scratch', emptyDir: { sizeLimit } })),
    hostNetwork: pick(false),
    creationTimestamp: pick(null),
    tolerations: fc.option(fc.constantFrom<unknown[]>([], [{ key: 'a', operator: 'Exists' }]), {
      nil: undefined,
    }),
  })
  .map(({ container: one, projected, scratch, creationTimestamp, ...rest }) => ({
    metadata: some({ labels: { app: 'x' }, creationTimestamp }),
    spec: some({
      containers: [one],
      volumes: [scratch, projected].filter((volume) => volume !== undefined),
      ...rest,
    }),
  }))

const deployment = fc
  .record({ template: pod, strategy: pick({}), paused: pick(false) })
  .map(({ template, ...rest }) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: some({ selector: { matchLabels: { app: 'x' } }, template, ...rest }),
  }))

const statefulSet = bytes.map((storage) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  spec: {
    serviceName: 'x',
    selector: { matchLabels: { app: 'x' } },
    template: {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'app', image: 'example.com/app:1' }] },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
      },
    ],
  },
}))

const secret = fc
  .record({
    data: pick({ a: 'YQ==', b: 'Yg==' }),
    stringData: fc.constantFrom({ a: 'over' }, { c: 'Ünï' }, { c: '', d: 'x' }),
  })
  .map((parts) => ({ apiVersion: 'v1', kind: 'Secret', ...some(parts) }))

const networkPolicy = fc
  .constantFrom([{ port: 53 }], [{ port: 53, protocol: 'UDP' }, { port: 'dns' }])
  .map((ports) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    spec: { podSelector: {}, ingress: [{ ports, from: [{ podSelector: {} }] }] },
  }))

const roleBinding = fc
  .constantFrom(
    { kind: 'ClusterRole', name: 'view' },
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  )
  .map((roleRef) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    roleRef,
    subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: 'default' }],
  }))

const gadget = (group: string) =>
  fc
    .record({
      memory: bytes,
      parts: fc.array(
        fc
          .record({
            name: fc.constantFrom('a', 'b'),
            mode: fc.option(fc.constant('Hard'), { nil: undefined }),
          })
          .map(some),
        {
          maxLength: 3,
        },
      ),
      nested: pick({}),
      ports: fc.constantFrom(
        [{ number: 1 }],
        [{ number: 1 }, { number: 1, protocol: 'UDP', weight: 4 }],
      ),
      zones: pick(['a', 'b']),
      open: pick({ any: [{ x: 1 }], none: null, empty: {} }),
    })
    .map((spec) => ({ apiVersion: `${group}/v1`, kind: 'Gadget', spec: some(spec) }))

/** Without name and namespace. */
export function randomObject(gadgetGroup: string): fc.Arbitrary<JsonObject> {
  return fc.oneof(
    { weight: 3, arbitrary: deployment },
    statefulSet,
    secret,
    networkPolicy,
    roleBinding,
    {
      weight: 2,
      arbitrary: gadget(gadgetGroup),
    },
  )
}

/** A merge patch for each kind: what somebody may do by hand. */
export const HAND_PATCH: Readonly<Record<string, readonly JsonObject[]>> = {
  Deployment: [
    { spec: { replicas: 3 } },
    { spec: { paused: true } },
    { spec: { template: { spec: { hostNetwork: true } } } },
    { spec: { template: { spec: { tolerations: null, volumes: null } } } },
    { spec: { template: { spec: { containers: [{ name: 'app', image: 'example.com/app:2' }] } } } },
  ],
  StatefulSet: [
    { spec: { replicas: 2 } },
    { spec: { template: { metadata: { labels: { more: 'x' } } } } },
  ],
  Secret: [{ data: { a: 'Wg==' } }, { data: { c: null } }, { data: { more: 'Wg==' } }],
  NetworkPolicy: [
    { spec: { ingress: [{ ports: [{ port: 53, protocol: 'UDP' }] }] } },
    { spec: { ingress: null } },
    { spec: { egress: [{}] } },
  ],
  RoleBinding: [{ subjects: [] }, { metadata: { labels: { by: 'hand' } } }],
  Gadget: [
    { spec: { parts: [{ name: 'a' }] } },
    { spec: { nested: { depth: 7 } } },
    { spec: { memory: '1Ki' } },
    { spec: { zones: ['b'] } },
    { spec: { ports: null } },
  ],
}
