/** kubernetes/kubernetes#44527: `generateName` in git has no name to compare by. */
import { type ReportCase, tell } from '../lab.ts'
import { configMap } from '../manifests.ts'

export const reported: ReportCase = {
  right: 'a Job with generateName is said not to be compared, and the rest is compared',
  before: 'right',
  async run(lab) {
    const job = `apiVersion: batch/v1
kind: Job
metadata: {generateName: migrate-, namespace: ${lab.namespace}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: registry.example.com/m:1}]}}}
`
    await lab.files({ 'job.yaml': job, 'c.yaml': configMap(lab.namespace, 'a: "1"') })
    await lab.kubectl('create', '-f', lab.path('job.yaml'))
    await lab.serverSide({ file: 'c.yaml' })
    const said = await lab.told()
    lab.check('said', /generateName/.test(said), said)
    await lab.patch('configmap/c', { data: { a: '2' } })
    const diff = await lab.diff()
    lab.check('the rest', diff.lines.length === 1 && /data\.a/.test(diff.lines.join()), tell(diff))
  },
}
