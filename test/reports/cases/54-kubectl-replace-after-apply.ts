/** argoproj/argo-cd#24704: `kubectl apply`, then `kubectl replace` of the only object of a package, which rewrites last-applied too. */
import { type ReportCase, tell } from '../lab.ts'
import { deployment } from '../manifests.ts'

export const reported: ReportCase = {
  right: 'an edit by kubectl replace of the only object is told: Deployment, StatefulSet, CronJob',
  before: 'outside, "nothing live shows that the syncer applied it", exit 3',
  async run(lab) {
    const web = deployment(lab.namespace)
    const objects = {
      deployment: web,
      statefulset: web
        .replace('kind: Deployment', 'kind: StatefulSet')
        .replace('  replicas: 0', '  replicas: 0\n  serviceName: web'),
      cronjob: CRON_JOB(lab.namespace),
    }
    for (const [kind, text] of Object.entries(objects)) {
      await lab.in('delete', 'deployment,statefulset,cronjob', '--all')
      await lab.files({ 'web.yaml': text })
      await lab.clientSide()
      lab.checkQuiet(`${kind}, before`, await lab.diff())
      const live = await lab.in('get', `${kind}/web`, '-o', 'yaml')
      await lab.pipe(live.replaceAll('web:1', 'web:hot'), 'replace', '-f', '-')
      const diff = await lab.diff()
      lab.check(
        kind,
        diff.code === 1 && diff.lines.length === 1 && /web:hot/.test(diff.lines.join()),
        tell(diff),
      )
    }
  },
}

const CRON_JOB = (namespace: string): string => `apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: ${namespace}}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "registry.example.com/web:1"}]}}}}
`
