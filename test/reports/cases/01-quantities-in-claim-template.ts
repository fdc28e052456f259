/** argoproj/argo-cd#21135: a server keeps quantities as they were written, in one field, and in its own form in another. */
import { type ReportCase, tell } from '../lab.ts'

export const reported: ReportCase = {
  right:
    'quantities in any notation are quiet, applied server-side or client-side; one edit is one line',
  before: 'right',
  async run(lab) {
    await lab.files({ 'queue.yaml': statefulSet(lab.namespace) })
    await lab.serverSide()
    lab.checkQuiet('server-side', await lab.diff())
    await lab.in('delete', 'statefulset/queue')
    await lab.clientSide()
    lab.checkQuiet('client-side', await lab.diff())
    const memory = '/spec/template/spec/containers/0/resources/requests/memory'
    await lab.patch('statefulset/queue', [{ op: 'replace', path: memory, value: '900M' }], {
      type: 'json',
    })
    const edited = await lab.diff()
    lab.check(
      'one edit',
      edited.code === 1 && edited.lines.length === 1 && /"900M"/.test(edited.lines.join()),
      tell(edited),
    )
  },
}

function statefulSet(namespace: string): string {
  return `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: queue, namespace: ${namespace}}
spec:
  serviceName: queue
  selector: {matchLabels: {app: queue}}
  template:
    metadata: {labels: {app: queue}}
    spec:
      containers:
      - name: queue
        image: registry.example.com/queue:1
        resources:
          requests: {memory: 1000M, cpu: 1000m, ephemeral-storage: 2048Mi}
          limits: {memory: "1e9", cpu: "1.50"}
      volumes:
      - {name: tmp, emptyDir: {sizeLimit: 1024Mi}}
      - name: scratch
        ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10240Mi}}}
`
}
