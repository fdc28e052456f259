/** bitnami/sealed-secrets#954: a tool writes `data: null` and `creationTimestamp: null` into a custom resource. */
import type { ReportCase } from '../lab.ts'
import { createKind } from '../manifests.ts'

const SCHEMA = {
  encryptedData: { type: 'object', additionalProperties: { type: 'string' } },
  template: {
    type: 'object',
    nullable: true,
    properties: {
      data: { type: 'object', nullable: true, additionalProperties: { type: 'string' } },
      metadata: { type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
}

export const reported: ReportCase = {
  right:
    'nulls in a custom resource are quiet, applied server-side or client-side, as kubectl diff is',
  before: 'exit 1, two lines null -> absent, and Adopt edits the file',
  async run(lab) {
    const group = `${lab.namespace}.example.com`
    await createKind(lab, group, 'Sealed', SCHEMA)
    await lab.files({ 'sealed.yaml': SEALED(group, lab.namespace) })
    for (const how of ['serverSide', 'clientSide'] as const) {
      await lab.pipe(SEALED(group, lab.namespace), 'delete', '--ignore-not-found', '-f', '-')
      await lab[how]()
      lab.checkQuiet(how, await lab.diff())
    }
    await lab.kubectl('delete', 'crd', `sealeds.${group}`)
  },
}

const SEALED = (group: string, namespace: string): string => `apiVersion: ${group}/v1
kind: Sealed
metadata:
  creationTimestamp: null
  name: db
  namespace: ${namespace}
spec:
  encryptedData:
    password: AgBy3i4OJSWK
  template:
    data: null
    metadata:
      creationTimestamp: null
      labels: {app: db}
      name: db
      namespace: ${namespace}
`
