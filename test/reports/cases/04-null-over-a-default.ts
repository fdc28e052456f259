/** rancher/fleet#5020: git leaves a field to its default, by null or by silence, and a person sets it by hand. */
import { type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right:
    'a field that git has as null is quiet at its default, and told when a person sets it: three lines, server-side and client-side',
  before: 'right',
  async run(lab) {
    await lab.files({ 'web.yaml': WEB(lab.namespace) })
    for (const how of ['serverSide', 'clientSide'] as const) {
      await lab.in('delete', 'deployment/web', '--ignore-not-found')
      await lab[how]()
      lab.checkQuiet(`${how}, untouched`, await lab.diff())
      const pod = {
        terminationGracePeriodSeconds: 5,
        containers: [{ name: 'web', imagePullPolicy: 'Always' }],
      }
      await lab.patch('deployment/web', {
        spec: { strategy: { rollingUpdate: { maxSurge: '50%' } }, template: { spec: pod } },
      })
      const diff = await lab.diff()
      const isTold = ['maxSurge', 'terminationGracePeriodSeconds', 'imagePullPolicy'].every(
        (field) => diff.lines.join().includes(field),
      )
      lab.check(
        `${how}, three edits`,
        diff.code === 1 && isTold && diff.lines.length === 3,
        tell(diff),
      )
    }
  },
}

const WEB = (namespace: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: null}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: null
      containers:
      - {name: web, image: registry.example.com/web:1, imagePullPolicy: null}
`
