/** aws-ia/terraform-aws-eks-blueprints#1340, capsule#266, argo-cd#21434: git declares it empty, and a controller fills it. */
import { type Lab, type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right:
    'an empty Secret or ConfigMap that a controller fills is a preset, a low line or a Release, never a Restore; a person is told',
  before: 'a high line for each key, plan Restore',
  async run(lab) {
    await lab.files({ 'empty.yaml': EMPTY(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('not filled', await lab.diff())
    await fill(lab, 'scaler-webhook')
    const filled = await lab.diff()
    const risks = (filled.list?.items ?? []).flatMap(({ spec }) =>
      spec.changes.map(({ risk }) => JSON.stringify(risk)),
    )
    const isLow = risks.every((risk) => /low/.test(risk))
    const plan =
      filled.lines.length === 0 ? '' : (await lab.backporch('explain', 'pkg', '1')).stdout
    const isRight = !/plan +Restore/.test(plan) && (isLow || /plan +Release/.test(plan))
    lab.check(
      'filled by a controller',
      isRight,
      filled.lines.length === 0
        ? 'quiet'
        : `${tell(filled)} · ${/plan +\w+/.exec(plan)?.[0] ?? plan}`,
    )
    await lab.patch('secret/scaler-cert', { stringData: { mine: 'yes' } })
    const edited = await lab.diff()
    lab.check(
      'filled by a person',
      edited.code === 1 && edited.lines.some((line) => line.includes('data.mine')),
      tell(edited),
    )
  },
}

async function fill(lab: Lab, manager: string): Promise<void> {
  const certificates = { 'ca.pem': 'Q0E=', 'server.pem': 'Q1JU', 'server-key.pem': 'S0VZ' }
  await lab.patch('secret/scaler-cert', { data: certificates }, { type: 'merge', manager })
  await lab.patch('secret/dash-csrf', { data: { csrf: 'c2VjcmV0' } }, { type: 'merge', manager })
  await lab.patch('configmap/election', { data: { leader: 'pod-1' } }, { type: 'merge', manager })
}

const EMPTY = (namespace: string): string => `apiVersion: v1
kind: Secret
metadata: {name: scaler-cert, namespace: ${namespace}, labels: {app: scaler}}
---
apiVersion: v1
kind: Secret
metadata: {name: dash-csrf, namespace: ${namespace}}
type: Opaque
data: {csrf: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: election, namespace: ${namespace}}
`
