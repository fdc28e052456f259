/** argoproj/argo-cd#622: a transformer writes `metadata.namespace` also where an object has none. */
import { type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right: 'metadata.namespace on a ClusterRole and a Namespace is quiet; an edit is one line',
  before: 'right',
  async run(lab) {
    const { namespace } = lab
    const objects = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ${namespace}, namespace: ${namespace}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: Namespace
metadata: {name: ${namespace}, namespace: ${namespace}, labels: {team: a}}
`
    await lab.files({ 'objects.yaml': objects })
    await lab.serverSide()
    lab.checkQuiet('untouched', await lab.diff())
    await lab.patch(
      `clusterrole/${namespace}`,
      [{ op: 'add', path: '/rules/0/verbs/-', value: 'delete' }],
      { type: 'json' },
    )
    const diff = await lab.diff()
    lab.check(
      'one edit',
      diff.lines.length === 1 && /ClusterRole/.test(diff.lines.join()),
      tell(diff),
    )
    await lab.kubectl('delete', 'clusterrole', namespace)
  },
}
